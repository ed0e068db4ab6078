// Revenue, cost and profit of a job (decisions §2). Pure.
import { countedDay, formatDate, margin, sumOfCents, type JsonProblem } from '@truckroll/contract';
import { InvoiceStatus } from '@truckroll/contract/gen/billing/v1/invoices';
import { CostCategory, ReportDateBasis, type CostEntry, type JobInvoice, type JobTotals } from '@truckroll/contract/gen/reporting/v1/job_financials';

/** Invoices with these statuses are revenue and can date the job. */
const COUNTED: readonly JobInvoice['status'][] = [InvoiceStatus.OPEN, InvoiceStatus.PAID];

export const isCounted = ({ status }: Pick<JobInvoice, 'status'>): boolean => COUNTED.includes(status);

const COLUMN: Partial<Record<CostEntry['category'], keyof JobTotals>> = {
  [CostCategory.LABOR]: 'labor_cost_cents',
  [CostCategory.PARTS]: 'parts_cost_cents',
  [CostCategory.EQUIPMENT]: 'equipment_cost_cents',
  [CostCategory.MISC]: 'misc_cost_cents',
  [CostCategory.OTHER]: 'other_cost_cents',
};
const COST_COLUMNS = Object.values(COLUMN);

/** A job's totals, or the name of the total that is beyond ±(2^53−1): sums are never rounded. */
export function totalsOf(invoices: readonly JobInvoice[], costs: readonly CostEntry[]): JobTotals | { beyond: keyof JobTotals } {
  const cents = new Map<keyof JobTotals, number[]>(COST_COLUMNS.map((column) => [column, []]));
  for (const { category, total_cents } of costs) cents.get(COLUMN[category] as keyof JobTotals)?.push(total_cents);
  const counted = invoices.filter(isCounted);
  cents.set(
    'revenue_cents',
    counted.map(({ subtotal_cents }) => subtotal_cents),
  );
  cents.set(
    'total_cost_cents',
    costs.flatMap(({ category, total_cents }) => (COLUMN[category] === undefined ? [] : total_cents)),
  );
  const totals = {} as JobTotals;
  for (const [name, values] of cents) {
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

export interface Dates {
  created_at: number;
  completed_at: number | null;
}

/** The company-local date that a job is reported under, and which event it comes from. */
export function reportDate(invoices: readonly JobInvoice[], job: Dates, timeZone: string): { date: string; basis: ReportDateBasis } {
  const issued = invoices.filter(isCounted).flatMap(({ issued_at }) => issued_at ?? []);
  const on = (micros: number): string => formatDate(countedDay(micros, timeZone));
  if (issued.length > 0) return { date: on(Math.min(...issued)), basis: ReportDateBasis.INVOICE_ISSUED };
  if (job.completed_at !== null) return { date: on(job.completed_at), basis: ReportDateBasis.JOB_COMPLETED };
  return { date: on(job.created_at), basis: ReportDateBasis.JOB_CREATED };
}
