// What the planner knows of tables that an import is filling. It knows nothing of a new table until autovacuum comes,
// a minute later, and keeps plans that it made for an empty one: by then an import has read the table whole, again and
// again, for rows that an index leads to.
import type { Database } from '@truckroll/service-kit';
import type { Table } from './table.ts';

const EVERY_MS = 2000;

/** Analyzes the tables that have doubled since they last were, beside everything else: call after each batch. */
export function statisticsKeeper(database: Database, tables: readonly Table[]): () => void {
  const names = tables.flatMap(({ table, links }) => [table, ...Object.values(links).map((link) => link.table)]);
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
      // Plans stay as they are until the next look; what the batch stored is stored.
    } finally {
      lookedAt = performance.now();
      looking = false;
    }
  }
  return () => {
    if (!looking && performance.now() - lookedAt >= EVERY_MS) void look();
  };
}
