import { owners } from '@truckroll/contract';
import pg from 'pg';

export interface Stored {
  readonly table: string;
  readonly rows: number;
  /** Total size of the table with indexes and TOAST ÷ rows. */
  readonly bytesPerRow: number;
}

/** Smaller tables say little about the size of a row. */
const LEAST_ROWS = 10_000;

/** Largest table first, over all schemas. Row counts are those of the last ANALYZE. */
export async function storedIn(databaseUrl: string): Promise<Stored[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Stored>({
      text: `select n.nspname || '.' || c.relname as "table", c.reltuples::float8 as rows, round(pg_total_relation_size(c.oid) / c.reltuples)::float8 as "bytesPerRow"
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = any($2) and c.relkind = 'r' and c.reltuples >= $1
        order by pg_total_relation_size(c.oid) desc`,
      values: [LEAST_ROWS, owners],
    });
    return rows;
  } finally {
    await client.end();
  }
}
