import { ApiError } from '@truckroll/contract';
import type { Queryable } from '@truckroll/postgres';
import { asOf } from '../freshness/as-of.ts';

export interface ReportSettings {
  generation: number;
  version: number;
  /** Time zone of the sums' days: the previous one until a change has been applied. */
  timeZone: string;
  costingEnabled: boolean;
  verifiedOnly: boolean;
  /** Everything committed before this time is in the figures. Microseconds since 1970. */
  asOf: number;
}

/** Retry-After while sums are being built, in seconds. */
export const RETRY_AFTER = 2;

/** Errors: 503 until the company's sums are built for the first time, and until every owner has published a watermark. */
export async function reportSettings(db: Queryable, companyId: string): Promise<ReportSettings> {
  const [{ rows }, fresh] = await Promise.all([
    db.query<{
      generation: number;
      version: number;
      zone: string;
      time_zone: string;
      costing_enabled: boolean;
      verified_only: boolean;
      changed_at: number | null;
      spoiled: boolean;
    }>({
      name: 'report_settings',
      text: `select g.generation, g.version, g.time_zone as zone, c.time_zone, c.costing_enabled, c.verified_only, c.changed_at,
          exists (select from spoiled_summaries s where s.company_id = $1) as spoiled
        from companies c join generations g on g.company_id = c.company_id and g.state = 'current' where c.company_id = $1`,
      values: [companyId],
    }),
    asOf(db, companyId),
  ]);
  const [row] = rows;
  if (row === undefined || row.spoiled) throw ApiError.unavailable(new Error('sums for reports are being built'), RETRY_AFTER);
  if (fresh === undefined) throw ApiError.unavailable(new Error('not every owner has published a watermark yet'), RETRY_AFTER);
  const pending = row.zone !== row.time_zone && row.changed_at !== null;
  return {
    generation: row.generation,
    version: row.version,
    timeZone: row.zone,
    costingEnabled: row.costing_enabled,
    verifiedOnly: row.verified_only,
    asOf: pending ? Math.min(fresh, row.changed_at as number) : fresh,
  };
}
