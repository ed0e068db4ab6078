// The measures and dimensions of each report's sums, defined only here (decisions §2).
import { JOB_SUMS } from '../financials/totals.ts';

/**
 * Version of all sums. Raise it by one when a report gains a dimension or measure, or when the rule for one changes, and add that one to
 * `since`. Every day is then summed again (docs/adr/0021).
 */
export const SUMMARIES_VERSION = 1;

/** Represents a missing value in a key; sorts after every id and code. */
export const NONE = '~';

/** What a dimension or measure requires that the first version did not have. */
export interface Since {
  /** The SUMMARIES_VERSION that introduced it. */
  version: number;
  /** Read model → the version its rows must have, if the value is in a column that this version introduced. */
  rows?: Readonly<Record<string, number>>;
}

export interface SummaryDefinition {
  name: 'invoice' | 'collection' | 'job' | 'participation';
  /** Last part of the path of the report made from these sums. */
  report: string;
  /** SELECTs of what counts, one per table: company_id, id, at (when it counts), standing, each dimension (null for none), each measure. */
  facts: readonly string[];
  /** Table of sums by day and by month, overall and by each dimension. */
  sums: string;
  /** Table of sums by day and by month, by all dimensions with few values together. */
  crosses: string;
  /** Columns of counts: at least one is not 0 in each row. */
  counts: readonly string[];
  /** Columns of cents, after the counts. */
  cents: readonly string[];
  /** Dimensions that reports can group and filter by. */
  dimensions: readonly string[];
  /** Dimensions with few values, in the order of the key of `crosses`. */
  few: readonly string[];
  /** Whether there are overall sums. Not for participation: its rows overlap, so their total is meaningless. */
  whole: boolean;
  /** Dimension or measure → what it requires: a report that uses it reads facts until the sums have it, and answers 503 until the rows have it. */
  since?: Readonly<Record<string, Since>>;
}

/** A report of a company, whose days are those of its time zone. */
export interface CompanyReport {
  summary: SummaryDefinition;
  companyId: string;
  timeZone: string;
}

const JOB_COLUMNS = `1 as job_count, ${JOB_SUMS.join(', ')}`;
const JOB_MEASURES = { counts: ['job_count'], cents: JOB_SUMS };

export const INVOICES: SummaryDefinition = {
  name: 'invoice',
  report: 'invoice-activity',
  facts: [
    `select company_id, id, issued_at as at, status as standing, account_id as account, business_unit_id as business_unit, job_type_id as job_type, job_class,
    1 as invoice_count, subtotal_cents, discount_cents, tax_cents from invoices where issued_at is not null`,
  ],
  sums: 'invoice_sums',
  crosses: 'invoice_crosses',
  counts: ['invoice_count'],
  cents: ['subtotal_cents', 'discount_cents', 'tax_cents'],
  dimensions: ['account', 'business_unit', 'job_type', 'job_class'],
  few: ['business_unit', 'job_type', 'job_class'],
  whole: true,
};

/** A refund counts by its own status, whatever its payment's status (decisions §13). */
export const COLLECTIONS: SummaryDefinition = {
  name: 'collection',
  report: 'collections',
  facts: [
    `select company_id, id, occurred_at as at, '' as standing, account_id as account, method as payment_method, collected_by_id as collector,
    1 as payment_count, 0 as refund_count, amount_cents as received_cents, 0::bigint as refunded_cents from payments where status = 'PAID'`,
    `select company_id, id, occurred_at as at, '' as standing, account_id as account, payment_method, collected_by_id as collector,
    0 as payment_count, 1 as refund_count, 0::bigint as received_cents, amount_cents as refunded_cents from refunds where status = 'SUCCEEDED'`,
  ],
  sums: 'collection_sums',
  crosses: 'collection_crosses',
  counts: ['payment_count', 'refund_count'],
  cents: ['received_cents', 'refunded_cents'],
  dimensions: ['account', 'payment_method', 'collector'],
  few: ['payment_method', 'collector'],
  whole: true,
};

export const JOBS: SummaryDefinition = {
  name: 'job',
  report: 'job-profitability',
  facts: [
    `select company_id, id, reported_at as at, standing, account_id as account, business_unit_id as business_unit, job_type_id as job_type, job_class,
    ${JOB_COLUMNS} from job_facts`,
  ],
  sums: 'job_sums',
  crosses: 'job_crosses',
  ...JOB_MEASURES,
  dimensions: ['business_unit', 'job_type', 'job_class', 'account'],
  few: ['business_unit', 'job_type', 'job_class'],
  whole: true,
};

export const PARTICIPATION: SummaryDefinition = {
  name: 'participation',
  report: 'technician-participation-profitability',
  facts: [
    `select company_id, j.id, reported_at as at, standing, member.id as team_member, job_class,
    ${JOB_COLUMNS} from job_facts j cross join unnest(members) as member(id)`,
  ],
  sums: 'participation_sums',
  crosses: 'participation_crosses',
  ...JOB_MEASURES,
  dimensions: ['team_member', 'job_class'],
  few: ['job_class', 'team_member'],
  whole: false,
};

export const DEFINITIONS: readonly SummaryDefinition[] = [INVOICES, COLLECTIONS, JOBS, PARTICIPATION];

const measures = new Map(DEFINITIONS.map((definition) => [definition, [...definition.counts, ...definition.cents]]));

export function measuresOf(definition: SummaryDefinition): readonly string[] {
  return measures.get(definition) as readonly string[];
}

/**
 * SELECT of facts that meet a condition on `f`; `tail` follows each table's SELECT. The condition is in each of them, because PostgreSQL
 * uses no index for conditions on a UNION that depend on other rows.
 */
export function factsWhere({ facts }: SummaryDefinition, condition: string, columns = '*', tail = ''): string {
  return facts.map((text) => `(select ${columns} from (${text}) f where ${condition} ${tail})`).join(' union all ');
}
