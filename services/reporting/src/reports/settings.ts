import { ApiError } from '@truckroll/contract';
import type { Queryable } from '@truckroll/postgres';
import { asOf } from '../freshness/as-of.ts';
import { DUE_DATES, SUMMED, type DueDates, type Summed } from '../sums/due.ts';

export interface ReportSettings {
  timeZone: string;
  costingEnabled: boolean;
  verifiedOnly: boolean;
  /** Undefined until sums have been begun. */
  summed: Summed | undefined;
  /** What has changed since it was summed. */
  dates: DueDates;
  /** Everything committed before this time is in the figures. Microseconds since 1970. */
  asOf: number;
}

/** Retry-After while sums are being computed, in seconds. */
export const RETRY_AFTER = 2;

/** Errors: 503 until the company's settings have arrived, and until every owner has published a watermark. */
export async function reportSettings(db: Queryable, companyId: string, report: string): Promise<ReportSettings> {
  const [{ rows }, fresh] = await Promise.all([
    db.query<DueDates & (Summed | { timeZone: null }) & { time_zone: string; costing_enabled: boolean; verified_only: boolean }>({
      name: 'report_settings',
      text: `select c.time_zone, c.costing_enabled, c.verified_only, ${SUMMED}, ${DUE_DATES}
        from companies c left join summed s on s.company_id = c.company_id and s.report = $2 where c.company_id = $1`,
      values: [companyId, report],
    }),
    asOf(db, companyId),
  ]);
  const [row] = rows;
  if (row === undefined) throw ApiError.unavailable(new Error('the settings of the company have not arrived yet'), RETRY_AFTER);
  if (fresh === undefined) throw ApiError.unavailable(new Error('not every owner has published a watermark yet'), RETRY_AFTER);
  return {
    timeZone: row.time_zone,
    costingEnabled: row.costing_enabled,
    verifiedOnly: row.verified_only,
    summed: row.timeZone === null ? undefined : row,
    dates: row,
    asOf: fresh,
  };
}
