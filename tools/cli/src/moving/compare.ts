// Whether both cells have the same rows of the company. It asks the catalog for tables itself, so that it finds one that was not copied.
import type { Queryable } from '@truckroll/postgres';
import type { Cell } from './cells.ts';
import { tablesOf, type MovedTable } from './tables.ts';

/** Number of rows and a digest of them, in whatever order they are. */
async function digestOf(db: Queryable, { name, key }: MovedTable, companyId: string): Promise<string> {
  const { rows } = await db.query<{ digest: string }>({
    text: `select count(*) || ' ' || coalesce(sum(('x' || left(md5(t::text), 16))::bit(64)::bigint::numeric), 0) as digest from ${name} t where ${key} = $1`,
    values: [companyId],
  });
  return rows[0]!.digest;
}

/** The tables whose rows differ, among those with these names, or of all. Rows that arrive during the comparison make a table differ. */
export async function differing(from: Cell, to: Cell, companyId: string, among?: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const table of await tablesOf(from.db)) {
    if (among?.includes(table.name) === false) continue;
    const [left, right] = await Promise.all([digestOf(from.db, table, companyId), digestOf(to.db, table, companyId)]);
    if (left !== right) found.push(table.name);
  }
  return found;
}
