import type pg from 'pg';

/** Inserts records whose keys are columns of the table. The first record has every key; other columns get their defaults. */
export async function insertRecords(client: pg.ClientBase, table: string, records: readonly object[]): Promise<void> {
  const [first] = records;
  if (first === undefined) return;
  const columns = Object.keys(first).join(', ');
  await client.query(`insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1)`, [JSON.stringify(records)]);
}
