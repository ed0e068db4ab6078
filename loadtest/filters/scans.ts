import type pg from 'pg';

/** Starts counting; the returned function resolves to the tables of the schema that were scanned since. */
export async function sequentialScans(client: pg.Client, schema: string, largerThan: number): Promise<() => Promise<string[]>> {
  const counts = async (): Promise<Map<string, number>> => {
    await client.query('select pg_stat_clear_snapshot()');
    const text = 'select relname, seq_scan::int as scans from pg_stat_user_tables where schemaname = $1 and n_live_tup > $2';
    const { rows } = await client.query<{ relname: string; scans: number }>(text, [schema, largerThan]);
    return new Map(rows.map(({ relname, scans }) => [relname, scans]));
  };
  const before = await counts();
  return async () => [...(await counts())].filter(([table, scans]) => scans > (before.get(table) ?? 0)).map(([table]) => table);
}
