// What the home page shows, from the public API and the integrations' summary.
import { request, type Query } from './client.ts';

/** Relative to /api/v1/integrations/. */
const PUBLIC = '../../../v1/';
/** The largest page. Two months have at most 62 days. */
const PAGE = 100;

export interface Days {
  /** The first day, and the day after the last. */
  readonly start: string;
  readonly end: string;
}

/** A day's amount. Money is in cents. */
export interface DayAmount {
  readonly day: string;
  readonly cents: number;
}

export interface Summary {
  readonly unbookedServiceRequests: number;
  readonly failingEndpoints: number;
  readonly pausedEndpoints: number;
}

/** Net sales by date of issue: before tax, after discounts. */
export const readInvoiced = (days: Days, signal: AbortSignal) => byDay('invoice-activity', 'discounted_subtotal_cents', days, signal);

/** Money received, less refunds, by date. */
export const readCollected = (days: Days, signal: AbortSignal) => byDay('collections', 'net_collected_cents', days, signal);

export async function readSummary(signal: AbortSignal): Promise<Summary> {
  return (await request('GET', 'summary', { signal }))['data'] as Summary;
}

async function byDay(report: string, column: string, { start, end }: Days, signal: AbortSignal): Promise<DayAmount[]> {
  const rows = await rowsOf(report, { start_date: start, end_date: end, bucket: 'day' }, signal);
  return rows.map((row) => ({ day: row['period_start'] as string, cents: row[column] as number }));
}

async function rowsOf(report: string, query: Query, signal: AbortSignal): Promise<readonly Record<string, unknown>[]> {
  return (await request('GET', `${PUBLIC}reports/${report}`, { query: { ...query, limit: PAGE }, signal }))['data'] as Record<string, unknown>[];
}
