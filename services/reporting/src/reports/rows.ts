// Rows of the response: sums and derived figures, each exact or refused (decisions §2, §13).
import { ApiError, centsOf, margin, roundedQuotient } from '@truckroll/contract';
import { measuresOf, type SummaryDefinition } from '../facts/definitions.ts';

/** Identifies, in an error, the row of a figure that is out of range. */
export interface FigurePlace {
  period: string;
  group: string | null;
}

type Figures = Record<string, bigint>;

/** The figures of a row by name. Errors: 500 that names period, group and field of a figure beyond ±(2^53−1). */
export function figuresOf(summary: SummaryDefinition, measures: readonly bigint[], place: FigurePlace): Record<string, number | null> {
  const sums: Figures = Object.fromEntries(measuresOf(summary).map((name, i) => [name, measures[i] as bigint]));
  const { exact, more } = FOLLOWING[summary.name](sums);
  const figures = Object.entries({ ...sums, ...exact }).map(([field, value]) => [field, numberOf(field, value, place)]);
  return { ...(Object.fromEntries(figures) as Record<string, number>), ...more };
}

function numberOf(field: string, value: bigint, { period, group }: FigurePlace): number {
  const number = centsOf(value);
  if (number !== undefined) return number;
  const where = group === null ? `the period from ${period}` : `the period from ${period}, group ${group}`;
  throw new ApiError('INTERNAL_ERROR', `${field} of ${where} is beyond ±9007199254740991 and is never rounded: request shorter periods or fewer records.`);
}

type Following = (sums: Figures) => { exact: Figures; more?: Record<string, number | null> };

const ofJobs: Following = (sums) => {
  const of = (name: string): bigint => sums[name] as bigint;
  const total_cost_cents = of('labor_cost_cents') + of('parts_cost_cents') + of('equipment_cost_cents') + of('misc_cost_cents') + of('other_cost_cents');
  const gross_profit_cents = of('revenue_cents') - total_cost_cents;
  return { exact: { total_cost_cents, gross_profit_cents }, more: { gross_margin: margin(gross_profit_cents, of('revenue_cents')) } };
};

const FOLLOWING: Readonly<Record<SummaryDefinition['name'], Following>> = {
  invoice({ invoice_count, subtotal_cents, discount_cents, tax_cents }) {
    const discounted_subtotal_cents = (subtotal_cents as bigint) - (discount_cents as bigint);
    const total_cents = discounted_subtotal_cents + (tax_cents as bigint);
    const average = invoice_count === 0n ? null : Number(roundedQuotient(total_cents, invoice_count as bigint));
    return { exact: { discounted_subtotal_cents, total_cents }, more: { average_total_cents: average } };
  },
  collection: ({ received_cents, refunded_cents }) => ({ exact: { net_collected_cents: (received_cents as bigint) - (refunded_cents as bigint) } }),
  job: ofJobs,
  participation: ofJobs,
};
