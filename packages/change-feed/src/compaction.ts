// Deletes rows of the log that a later change of the same record supersedes: the first read then scans at most 1.5 rows for each record.
import { notFreezing, type CompanyDatabase, type Database } from '@truckroll/postgres';
import type { ChangeClock } from './clock.ts';

/** Interval between runs. */
export const COMPACT_EVERY_MS = 600_000;
/** Few enough rows that a transaction ends within a second: an open transaction holds back the feed. */
const BATCH = 50_000;
const FEWEST = 1000;
/** Below every stored version, also those of rows that came from another database. */
const LEAST = Number.MIN_SAFE_INTEGER;

/** Compacts the companies whose log has grown by half since the last time. Replicas may do so at once; they only repeat the work. */
export function compactor(database: Database, clock: ChangeClock): (signal: AbortSignal) => Promise<void> {
  /** What could be read at the previous run. No reader is still below it, so none misses a row whose successor it cannot read yet. */
  let reached: number | undefined;

  return async (signal) => {
    const below = reached;
    reached = (await clock.now()).below;
    if (below === undefined) return;
    const { rows } = await database.query<{ company_id: string }>({
      text: `with recursive companies as (
          (select company_id from record_changes order by company_id limit 1)
          union all
          select (select r.company_id from record_changes r where r.company_id > c.company_id order by r.company_id limit 1)
          from companies c where c.company_id is not null)
        select c.company_id from companies c left join change_compactions d using (company_id),
          lateral (select greatest(${FEWEST}, d.kept / 2) as rows) due,
          lateral (select count(*) as rows from (
            select from record_changes r where r.company_id = c.company_id and r.version >= coalesce(d.version, ${LEAST}) and r.version < $1 limit due.rows) new) grown
        where c.company_id is not null and grown.rows >= due.rows and ${notFreezing('c.company_id')}`,
      values: [below],
    });
    for (const { company_id } of rows) {
      if (signal.aborted) return;
      await compact(database.of(company_id), company_id, below);
    }
  };
}

async function compact(database: CompanyDatabase, companyId: string, below: number): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH; ) {
    const { rowCount } = await database.query({
      text: `delete from record_changes where company_id = $1 and (version, kind, id) in (
          select version, kind, id from (
            select version, kind, id, lead(version) over (partition by kind, id order by version) as next
            from record_changes where company_id = $1 and version < $2) r
          where next > version limit ${BATCH})`,
      values: [companyId, below],
    });
    deleted = rowCount ?? 0;
  }
  await database.query({
    text: `insert into change_compactions as d (company_id, version, kept)
        select $1, $2, count(*) from record_changes where company_id = $1 and version < $2 having count(*) > 0
        on conflict (company_id) do update set version = excluded.version, kept = excluded.kept`,
    values: [companyId, below],
  });
}
