// The measures and dimensions of each report's sums, defined only here (decisions §2).

/**
 * Version of all summaries. Raise it by one when a summary gains a dimension or measure, or when the rule for one changes, and add that one
 * to `since`. The builder then replaces sums of earlier versions (docs/adr/0006).
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
  /** Table of sums by day and by month, overall and by each dimension. */
  table: string;
  /** Table of sums by month for all combinations of the dimensions with few values. */
  combinations: string;
  /** Columns of counts: a row in which all are 0 does not exist. */
  counts: readonly string[];
  /** Columns of cents, after the counts. */
  cents: readonly string[];
  /** Dimensions that reports can group and filter by. */
  dimensions: readonly string[];
  /** Dimensions with few values, in the order of the combinations' key. */
  few: readonly string[];
  /** Whether there are overall sums. Not for participation: its rows overlap, so their total is meaningless. */
  whole: boolean;
  /** Dimension or measure → what it requires: a report that uses it answers 503 until a company's sums and rows have it. */
  since?: Readonly<Record<string, Since>>;
}

const JOB_MEASURES = {
  counts: ['job_count'],
  cents: ['revenue_cents', 'labor_cost_cents', 'parts_cost_cents', 'equipment_cost_cents', 'misc_cost_cents', 'other_cost_cents'],
};

export const INVOICES: SummaryDefinition = {
  name: 'invoice',
  report: 'invoice-activity',
  table: 'invoice_summaries',
  combinations: 'invoice_combinations',
  counts: ['invoice_count'],
  cents: ['subtotal_cents', 'discount_cents', 'tax_cents'],
  dimensions: ['account', 'business_unit', 'job_type', 'job_class'],
  few: ['business_unit', 'job_type', 'job_class'],
  whole: true,
};

export const COLLECTIONS: SummaryDefinition = {
  name: 'collection',
  report: 'collections',
  table: 'collection_summaries',
  combinations: 'collection_combinations',
  counts: ['payment_count', 'refund_count'],
  cents: ['received_cents', 'refunded_cents'],
  dimensions: ['account', 'payment_method', 'collector'],
  few: ['payment_method', 'collector'],
  whole: true,
};

export const JOBS: SummaryDefinition = {
  name: 'job',
  report: 'job-profitability',
  table: 'job_summaries',
  combinations: 'job_combinations',
  ...JOB_MEASURES,
  dimensions: ['business_unit', 'job_type', 'job_class', 'account'],
  few: ['business_unit', 'job_type', 'job_class'],
  whole: true,
};

export const PARTICIPATION: SummaryDefinition = {
  name: 'participation',
  report: 'technician-participation-profitability',
  table: 'participation_summaries',
  combinations: 'participation_combinations',
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

/** Whether a job's type is included, and whether its costs were verified. */
export const STANDINGS = {
  included_verified: { included: true, verified: true },
  included_unverified: { included: true, verified: false },
  excluded_verified: { included: false, verified: true },
  excluded_unverified: { included: false, verified: false },
} as const;
export type Standing = keyof typeof STANDINGS;

export function standingOf(included: boolean, verified: boolean): Standing {
  return `${included ? 'included' : 'excluded'}_${verified ? 'verified' : 'unverified'}`;
}
