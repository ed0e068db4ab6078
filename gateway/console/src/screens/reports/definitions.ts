// The reports as the console shows them: their columns, groups, filters, and the records that each figure is made of.
import type { RecordKind } from '../../api/records.ts';

export type Kind = 'money' | 'count' | 'share';
export type Row = Readonly<Record<string, unknown>>;
export type Sums = Readonly<Record<string, number>>;

export interface Measure {
  /** The API's name of the column. */
  readonly key: string;
  readonly title: string;
  readonly kind: Kind;
  /** How it follows from sums, if rows of it cannot be added up. */
  readonly of?: (sums: Sums) => number | null;
  /** Shown only if it is chosen. */
  readonly detail?: boolean;
}

export interface Group {
  readonly key: string;
  readonly title: string;
  /** The filter by a value of the group, in reports and in lists. */
  readonly filter: string;
  /** The reference of a record that is null if it has no value. */
  readonly field: string;
}

export type Names = 'accounts' | 'business-units' | 'job-types' | 'job-classes' | 'team-members' | 'methods';

export interface Filter {
  readonly name: string;
  readonly title: string;
  readonly names: Names;
}

/** Records that a report adds up. */
export interface Source<K extends RecordKind = RecordKind> {
  readonly kind: K;
  /** The list's parameters by which it returns the counted records only. */
  readonly counted: Readonly<Record<string, string>>;
  /** Names of the list's parameters for the range; absent for a balance as of now. */
  readonly from?: string;
  readonly before?: string;
  /** Names of the report's filters in this list, where they differ. */
  readonly renamed?: Readonly<Record<string, string>>;
}

export interface Report {
  readonly name: string;
  readonly title: string;
  readonly lead: string;
  readonly measures: readonly Measure[];
  /** The measure that charts show first. */
  readonly first: string;
  readonly groups: readonly Group[];
  /** Whether groups may be added up to a total. */
  readonly additive: boolean;
  readonly filters: readonly Filter[];
  /** Has the parameter include_excluded_job_types. */
  readonly excludable: boolean;
  readonly sources: readonly Source[];
}

const money = (key: string, title: string, detail = false): Measure => ({ key, title, kind: 'money', detail });
const count = (key: string, title: string): Measure => ({ key, title, kind: 'count' });

const ACCOUNT: Group = { key: 'account', title: 'Customer', filter: 'account_id', field: 'account' };
const BUSINESS_UNIT: Group = { key: 'business_unit', title: 'Business unit', filter: 'business_unit_id', field: 'business_unit' };
const JOB_TYPE: Group = { key: 'job_type', title: 'Job type', filter: 'job_type_id', field: 'job_type' };
const JOB_CLASS: Group = { key: 'job_class', title: 'Job class', filter: 'job_class', field: 'job_class' };
const METHOD: Group = { key: 'payment_method', title: 'Payment method', filter: 'method', field: 'method' };
const COLLECTOR: Group = { key: 'collector', title: 'Collected by', filter: 'collected_by_id', field: 'collected_by' };
const TECHNICIAN: Group = { key: 'team_member', title: 'Technician', filter: 'team_member_id', field: 'team_member' };

const BY_ACCOUNT: Filter = { name: 'account_id', title: 'Customer', names: 'accounts' };
const BY_UNIT: Filter = { name: 'business_unit_id', title: 'Business unit', names: 'business-units' };
const BY_TYPE: Filter = { name: 'job_type_id', title: 'Job type', names: 'job-types' };
const BY_CLASS: Filter = { name: 'job_class', title: 'Job class', names: 'job-classes' };

const PROFIT: readonly Measure[] = [
  count('job_count', 'Jobs'),
  money('revenue_cents', 'Revenue'),
  money('labor_cost_cents', 'Labor cost', true),
  money('parts_cost_cents', 'Parts cost', true),
  money('equipment_cost_cents', 'Equipment cost', true),
  money('misc_cost_cents', 'Miscellaneous cost', true),
  money('other_cost_cents', 'Other cost', true),
  money('total_cost_cents', 'Total cost'),
  money('gross_profit_cents', 'Gross profit'),
  { key: 'gross_margin', title: 'Margin', kind: 'share', of: ({ gross_profit_cents: profit, revenue_cents: revenue }) => marginOf(profit!, revenue!) },
];

const JOBS: Source = { kind: 'jobs', counted: {}, from: 'report_from', before: 'report_before' };

export const REPORTS: readonly Report[] = [
  {
    name: 'invoice-activity',
    title: 'Invoice activity',
    lead: 'What was invoiced, by date of issue. Invoices that are open or paid now.',
    measures: [
      count('invoice_count', 'Invoices'),
      money('subtotal_cents', 'Gross sales', true),
      money('discount_cents', 'Discounts'),
      money('discounted_subtotal_cents', 'Net sales'),
      money('tax_cents', 'Tax'),
      money('total_cents', 'Billed'),
      {
        key: 'average_total_cents',
        title: 'Average',
        kind: 'money',
        of: ({ total_cents: total, invoice_count: of }) => (of === 0 ? null : quotient(total!, of!)),
      },
    ],
    first: 'discounted_subtotal_cents',
    groups: [BUSINESS_UNIT, JOB_TYPE, JOB_CLASS, ACCOUNT],
    additive: true,
    filters: [BY_ACCOUNT, BY_UNIT, BY_TYPE, BY_CLASS],
    excludable: false,
    sources: [{ kind: 'invoices', counted: { status: 'OPEN,PAID' }, from: 'issued_from', before: 'issued_before' }],
  },
  {
    name: 'collections',
    title: 'Collections',
    lead: 'Payments received and refunds paid out, each on the day it occurred.',
    measures: [
      count('payment_count', 'Payments'),
      money('received_cents', 'Received'),
      count('refund_count', 'Refunds'),
      money('refunded_cents', 'Refunded'),
      money('net_collected_cents', 'Net collected'),
    ],
    first: 'net_collected_cents',
    groups: [METHOD, COLLECTOR, ACCOUNT],
    additive: true,
    filters: [
      BY_ACCOUNT,
      { name: 'collected_by_id', title: 'Collected by', names: 'team-members' },
      { name: 'method', title: 'Payment method', names: 'methods' },
    ],
    excludable: false,
    sources: [
      { kind: 'payments', counted: { status: 'PAID' }, from: 'occurred_from', before: 'occurred_before' },
      { kind: 'refunds', counted: { status: 'SUCCEEDED' }, from: 'occurred_from', before: 'occurred_before', renamed: { method: 'payment_method' } },
    ],
  },
  {
    name: 'job-profitability',
    title: 'Job profitability',
    lead: 'What jobs earned. Each job counts once, as a whole, on the day of its first invoice, or of its creation if it has none.',
    measures: PROFIT,
    first: 'gross_profit_cents',
    groups: [JOB_TYPE, BUSINESS_UNIT, JOB_CLASS, ACCOUNT],
    additive: true,
    filters: [BY_UNIT, BY_TYPE, BY_CLASS],
    excludable: true,
    sources: [JOBS],
  },
  {
    name: 'technician-participation-profitability',
    title: 'Technicians',
    lead: 'The jobs that each technician was assigned to. Technicians share jobs, so their figures have no total.',
    measures: PROFIT,
    first: 'revenue_cents',
    groups: [TECHNICIAN],
    additive: false,
    filters: [{ name: 'team_member_id', title: 'Technician', names: 'team-members' }, BY_CLASS],
    excludable: true,
    sources: [JOBS],
  },
];

export const OPEN_INVOICES: Source<'invoices'> = { kind: 'invoices', counted: { status: 'OPEN' } };

/** Open invoices as of now, without periods. A separate screen shows them. */
export const RECEIVABLES: Report = {
  name: 'receivables',
  title: 'Receivables',
  lead: 'What customers owe now: open invoices by the days since they were due.',
  measures: [count('invoice_count', 'Invoices'), money('open_balance_cents', 'Open balance')],
  first: 'open_balance_cents',
  groups: [ACCOUNT, BUSINESS_UNIT, JOB_TYPE],
  additive: true,
  filters: [BY_ACCOUNT, BY_UNIT, BY_TYPE, BY_CLASS],
  excludable: false,
  sources: [OPEN_INVOICES],
};

export const AGES = {
  CURRENT: 'Not due',
  PAST_DUE_1_30: '1–30 days',
  PAST_DUE_31_60: '31–60 days',
  PAST_DUE_61_90: '61–90 days',
  PAST_DUE_91_PLUS: 'Over 90 days',
} as const;
export type Age = keyof typeof AGES;

export const reportNamed = (name: string | undefined): Report | undefined => REPORTS.find((report) => report.name === name);

/** The sums of rows, and what follows from them. */
export function addUp(rows: readonly Row[], measures: readonly Measure[]): Readonly<Record<string, number | null>> {
  const sums: Record<string, number> = {};
  for (const { key, of } of measures) if (of === undefined) sums[key] = rows.reduce((sum, row) => sum + (row[key] as number), 0);
  return { ...sums, ...Object.fromEntries(measures.flatMap(({ key, of }) => (of === undefined ? [] : [[key, of(sums)]]))) };
}

/** Profit divided by revenue to four decimals, as in the API. Without revenue, or with a negative one, it says nothing: null. */
export function marginOf(profit: number, revenue: number): number | null {
  return revenue <= 0 ? null : quotient(profit, revenue, 10_000n) / 10_000;
}

/** `a` times `scale` divided by `b`, rounded to the nearest integer, halves upward, as the API rounds. */
function quotient(a: number, b: number, scale = 1n): number {
  const [over, under] = b < 0 ? [-BigInt(a) * scale, -BigInt(b)] : [BigInt(a) * scale, BigInt(b)];
  const [top, bottom] = [2n * over + under, 2n * under];
  const whole = top / bottom;
  return Number(top % bottom !== 0n && top < 0n ? whole - 1n : whole);
}
