// Revenue, cost and profit of a job (decisions §2). Pure.
import { margin, sumOfCents, type JsonProblem } from '@truckroll/contract';
import { InvoiceStatus } from '@truckroll/contract/gen/billing/v1/invoices';
import { CostCategory, ReportDateBasis, type CostEntry, type JobInvoice, type JobTotals } from '@truckroll/contract/gen/reporting/v1/job_financials';

/** Invoices with these statuses are revenue and can date the job. */
const COUNTED: readonly JobInvoice['status'][] = [InvoiceStatus.OPEN, InvoiceStatus.PAID];

const isCounted = ({ status }: Pick<JobInvoice, 'status'>): boolean => COUNTED.includes(status);

/** A job's sums of cents, from which its other figures follow. */
export const JOB_SUMS = ['labor_cost_cents', 'parts_cost_cents', 'equipment_cost_cents', 'misc_cost_cents', 'other_cost_cents', 'revenue_cents'] as const;
export type JobSum = (typeof JOB_SUMS)[number];

const COLUMN: Partial<Record<CostEntry['category'], JobSum>> = {
  [CostCategory.LABOR]: 'labor_cost_cents',
  [CostCategory.PARTS]: 'parts_cost_cents',
  [CostCategory.EQUIPMENT]: 'equipment_cost_cents',
  [CostCategory.MISC]: 'misc_cost_cents',
  [CostCategory.OTHER]: 'other_cost_cents',
};

/** What each sum adds up. Costs of unknown categories are in none. */
export function summandsOf(invoices: readonly JobInvoice[], costs: readonly CostEntry[]): ReadonlyMap<JobSum, readonly number[]> {
  const revenue = invoices.filter(isCounted).map(({ subtotal_cents }) => subtotal_cents);
  const ofCosts = (name: JobSum): number[] => costs.flatMap(({ category, total_cents }) => (COLUMN[category] === name ? total_cents : []));
  return new Map(JOB_SUMS.map((name) => [name, name === 'revenue_cents' ? revenue : ofCosts(name)]));
}

/** A job's totals, or the name of the total that is beyond ±(2^53−1): sums are never rounded. */
export function totalsOf(invoices: readonly JobInvoice[], costs: readonly CostEntry[]): JobTotals | { beyond: keyof JobTotals } {
  const totals = {} as JobTotals;
  const all = costs.flatMap(({ category, total_cents }) => (COLUMN[category] === undefined ? [] : total_cents));
  for (const [name, values] of [...summandsOf(invoices, costs), ['total_cost_cents', all] as const]) {
    const sum = sumOfCents(values);
    if (sum === undefined) return { beyond: name };
    totals[name] = sum;
  }
  const profit = sumOfCents([totals.revenue_cents, -totals.total_cost_cents]);
  if (profit === undefined) return { beyond: 'gross_profit_cents' };
  return { ...totals, gross_profit_cents: profit, gross_margin: margin(BigInt(profit), BigInt(totals.revenue_cents)) };
}

/** Rejects costs whose sums are out of range, as no read could show them. */
export function checkCosts(costs: readonly CostEntry[]): JsonProblem[] {
  if (!('beyond' in totalsOf([], costs))) return [];
  return [{ field: 'cost_entries', code: 'OUT_OF_RANGE', message: 'Their sums must be within ±9007199254740991.' }];
}

interface Dates {
  created_at: number;
  completed_at: number | null;
}

/** When a job counts, and which event that comes from. */
export function reportedAt(invoices: readonly JobInvoice[], job: Dates): { at: number; basis: ReportDateBasis } {
  const issued = invoices.filter(isCounted).flatMap(({ issued_at }) => issued_at ?? []);
  if (issued.length > 0) return { at: Math.min(...issued), basis: ReportDateBasis.INVOICE_ISSUED };
  if (job.completed_at !== null) return { at: job.completed_at, basis: ReportDateBasis.JOB_COMPLETED };
  return { at: job.created_at, basis: ReportDateBasis.JOB_CREATED };
}
