// Refuses reports with 503 while a company's sums lack a dimension or measure that is new in this release (docs/adr/0006).
import { ApiError } from '@truckroll/contract';
import type { Queryable } from '@truckroll/postgres';
import { countBehind } from '@truckroll/record-store';
import type { Since } from '../facts/definitions.ts';
import { RETRY_AFTER } from './settings.ts';
import type { ReportQuestion } from './sources.ts';

/** Throws 503 if the sums of this version, or the rows behind them, lack a dimension or measure that the question needs. */
export async function passGate(db: Queryable, { summary, companyId, groupBy, filters }: ReportQuestion, version: number): Promise<void> {
  const needed = [groupBy, ...filters.keys(), ...summary.counts, ...summary.cents];
  for (const [name, since] of Object.entries(summary.since ?? {})) {
    if (!needed.includes(name) || (await isComplete(db, companyId, since, version))) continue;
    const message =
      `${name} is new in this report, and older records are still being added up by it. Reports that do not need it work. ` +
      'Try again after the time in Retry-After.';
    throw new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: RETRY_AFTER });
  }
}

async function isComplete(db: Queryable, companyId: string, since: Since, version: number): Promise<boolean> {
  if (version < since.version) return false;
  for (const [table, needed] of Object.entries(since.rows ?? {})) {
    if ((await countBehind(db, { table, version: needed }, companyId, 1)) > 0) return false;
  }
  return true;
}
