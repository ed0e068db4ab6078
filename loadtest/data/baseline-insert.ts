// Stores records in the baseline's tables as a service would: a transaction for each batch, one statement for each table. The children of
// an existing record are replaced.
import type { DemoRecord } from '@truckroll/demo-company';
import type pg from 'pg';
import { ROWS } from './baseline-rows.ts';

type Types = ReadonlyMap<string, ReadonlyMap<string, string>>;

export async function columnTypes(client: pg.ClientBase): Promise<Types> {
  const { rows } = await client.query<{ table: string; column: string; type: string }>(`
    select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relnamespace = 'baseline'::regnamespace and c.relkind = 'r'`);
  return new Map([...Map.groupBy(rows, (row) => row.table)].map(([table, columns]) => [table, new Map(columns.map(({ column, type }) => [column, type]))]));
}

export async function insertBatch(client: pg.ClientBase, types: Types, companyId: string, path: string, batch: readonly DemoRecord[]): Promise<void> {
  await client.query('begin');
  const [parent, ...children] = ROWS[path] ?? [];
  for (const { table, columns, rowsOf } of parent === undefined ? [] : [parent, ...children]) {
    const rows = batch.flatMap((record) => rowsOf(record));
    const owner = path === 'invoices' ? 'invoice_id' : 'payment_id';
    if (table !== parent?.table) {
      const ids = batch.map(({ id }) => id);
      await client.query({
        name: `clear ${table}`,
        text: `delete from baseline.${table} where company_id = $1 and ${owner} = any($2)`,
        values: [companyId, ids],
      });
    }
    const arrays = columns.map((column, index) => `$${index + 2}::${types.get(table)?.get(column)}[]`);
    const replace =
      table === parent?.table ? `on conflict (company_id, id) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}` : '';
    await client.query({
      name: `insert ${table}`,
      text: `insert into baseline.${table} (company_id, ${columns.join(', ')}) select $1, * from unnest(${arrays.join(', ')}) ${replace}`,
      values: [companyId, ...columns.map((_, index) => rows.map((row) => row[index] ?? null))],
    });
  }
  await client.query('commit');
}
