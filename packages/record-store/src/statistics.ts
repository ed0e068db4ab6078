// Keeps planner statistics current while an import fills a table. Autovacuum analyzes a new table only after a minute; until then
// plans made for an empty table scan all of it for rows that an index would find.
import type { Database } from '@truckroll/postgres';
import type { Table } from './table.ts';

const EVERY_MS = 2000;

/** Analyzes, in the background, tables that have roughly doubled since their last analyze. Call it after each batch. */
export function statisticsKeeper(database: Database, tables: readonly Table[]): () => void {
  const names = tables.flatMap(({ table, links, search }) => [table, ...Object.values({ ...links, ...(search && { search }) }).map((of) => of.table)]);
  let lookedAt = performance.now();
  let looking = false;
  async function look(): Promise<void> {
    looking = true;
    try {
      const { rows } = await database.query<{ relname: string }>({
        name: 'grown_tables',
        text: `select relname from pg_stat_user_tables where schemaname = current_schema() and relname = any($1::text[])
          and n_mod_since_analyze > greatest(500, n_live_tup / 2)`,
        values: [names],
      });
      for (const { relname } of rows) await database.query({ text: `analyze ${relname}` });
    } catch {
      // Only plans suffer, until the next check; the batch itself is stored.
    } finally {
      lookedAt = performance.now();
      looking = false;
    }
  }
  return () => {
    if (!looking && performance.now() - lookedAt >= EVERY_MS) void look();
  };
}
