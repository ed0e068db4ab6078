// What the home page shows, from the public API and the integrations' summary.
import type { DayAmount, Days } from '../parts/months.ts';
import { request } from './client.ts';
import { readReport } from './reports.ts';
import type { Summary } from './types.ts';

export interface Balance {
  readonly count: number;
  readonly cents: number;
}

export interface Receivables {
  readonly open: Balance;
  readonly overdue: Balance;
}

/** Net sales by date of issue: before tax, after discounts. */
export const readInvoiced = (days: Days, signal: AbortSignal) => byDay('invoice-activity', 'discounted_subtotal_cents', days, signal);

/** Money received, less refunds, by date. */
export const readCollected = (days: Days, signal: AbortSignal) => byDay('collections', 'net_collected_cents', days, signal);

export async function readReceivables(signal: AbortSignal): Promise<Receivables> {
  const { rows } = await readReport('receivables', {}, signal);
  const balanceOf = (wanted: (bucket: string) => boolean): Balance =>
    rows
      .filter(({ bucket }) => wanted(bucket as string))
      .reduce<Balance>((sum, row) => ({ count: sum.count + (row['invoice_count'] as number), cents: sum.cents + (row['open_balance_cents'] as number) }), {
        count: 0,
        cents: 0,
      });
  return { open: balanceOf((bucket) => bucket === 'TOTAL'), overdue: balanceOf((bucket) => bucket.startsWith('PAST_DUE')) };
}

export async function readSummary(signal: AbortSignal): Promise<Summary> {
  return (await request('GET', 'summary', { signal }))['data'] as Summary;
}

async function byDay(report: string, column: string, { start, end }: Days, signal: AbortSignal): Promise<DayAmount[]> {
  const { rows } = await readReport(report, { start_date: start, end_date: end, bucket: 'day' }, signal);
  return rows.map((row) => ({ day: row.period_start, cents: row[column] as number }));
}
