// What a job's work brought in and cost (decisions §2). Pure: rows in, figures out.
import { exactCents, formatDate, localDay, type JsonProblem } from '@truckroll/contract';
import { InvoiceStatus } from '@truckroll/contract/gen/billing/v1/invoices';
import {
  CostCategory,
  ReportDateBasis,
  type CostEntry,
  type JobInvoice,
  type JobTotals,
} from '@truckroll/contract/gen/reporting/v1/job_financials';

/** Invoices with these statuses are revenue and can date the job. */
const COUNTED: readonly JobInvoice['status'][] = [InvoiceStatus.OPEN, InvoiceStatus.PAID];

const COLUMN: Partial<Record<CostEntry['category'], keyof JobTotals>> = {
  [CostCategory.LABOR]: 'labor_cost_cents',
  [CostCategory.PARTS]: 'parts_cost_cents',
  [CostCategory.EQUIPMENT]: 'equipment_cost_cents',
  [CostCategory.MISC]: 'misc_cost_cents',
  [CostCategory.OTHER]: 'other_cost_cents',
};

/** Errors: RangeError for a sum beyond ±(2^53−1), which is never rounded. */
export function totalsOf(invoices: readonly JobInvoice[], costs: readonly CostEntry[]): JobTotals {
  const totals: JobTotals = {
    revenue_cents: invoices.filter(({ status }) => COUNTED.includes(status)).reduce((sum, { subtotal_cents }) => exactCents(sum + subtotal_cents), 0),
    labor_cost_cents: 0,
    parts_cost_cents: 0,
    equipment_cost_cents: 0,
    misc_cost_cents: 0,
    other_cost_cents: 0,
    total_cost_cents: 0,
    gross_profit_cents: 0,
    gross_margin: 0,
  };
  for (const { category, total_cents } of costs) {
    const column = COLUMN[category];
    if (column === undefined) continue;
    totals[column] = exactCents(totals[column] + total_cents);
    totals.total_cost_cents = exactCents(totals.total_cost_cents + total_cents);
  }
  totals.gross_profit_cents = exactCents(totals.revenue_cents - totals.total_cost_cents);
  totals.gross_margin = margin(totals.gross_profit_cents, totals.revenue_cents);
  return totals;
}

/** Costs that cannot be added up: an import refuses them, as no read could show their sum. */
export function checkCosts(costs: readonly CostEntry[]): JsonProblem[] {
  try {
    totalsOf([], costs);
    return [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ field: 'cost_entries', code: 'OUT_OF_RANGE', message: 'Their sums must be within ±9007199254740991.' }];
  }
}

/** profit ÷ revenue to four decimals, 0 when revenue is 0. */
export function margin(profit: number, revenue: number): number {
  return revenue === 0 ? 0 : Math.round((profit / revenue) * 10_000) / 10_000 || 0;
}

export interface Dates {
  created_at: number;
  completed_at: number | null;
}

/** The company-local date that a job is reported under, and why that one. */
export function reportDate(invoices: readonly JobInvoice[], job: Dates, timeZone: string): { date: string; basis: ReportDateBasis } {
  const issued = invoices.flatMap(({ status, issued_at }) => (COUNTED.includes(status) && issued_at != null ? [issued_at] : []));
  const on = (micros: number): string => formatDate(localDay(micros, timeZone));
  if (issued.length > 0) return { date: on(Math.min(...issued)), basis: ReportDateBasis.INVOICE_ISSUED };
  if (job.completed_at !== null) return { date: on(job.completed_at), basis: ReportDateBasis.JOB_COMPLETED };
  return { date: on(job.created_at), basis: ReportDateBasis.JOB_CREATED };
}
