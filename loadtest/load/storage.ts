// How much of the disk a record takes, with its indexes and what else is kept of it.
import pg from 'pg';

export interface Stored {
  readonly table: string;
  readonly rows: number;
  /** Of the table, its indexes and what it keeps aside, each row's share. */
  readonly bytesPerRow: number;
}

/** Tables with fewer rows say nothing of what a row takes. */
const LEAST_ROWS = 10_000;

/** Of every schema, the largest first. Rows are as they were counted when the table was last analyzed. */
export async function storedIn(databaseUrl: string): Promise<Stored[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Stored>({
      text: `select n.nspname || '.' || c.relname as "table", c.reltuples::float8 as rows, round(pg_total_relation_size(c.oid) / c.reltuples)::float8 as "bytesPerRow"
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('integrations', 'scheduling', 'billing', 'reporting') and c.relkind = 'r' and c.reltuples >= $1
        order by pg_total_relation_size(c.oid) desc`,
      values: [LEAST_ROWS],
    });
    return rows;
  } finally {
    await client.end();
  }
}
