// Whether both cells have the same rows of the company. It asks the catalog for tables itself, so that it finds one that was not copied.
import { inTransaction, type Cell } from './cells.ts';
import { batchesOf } from './copy.ts';
import { addedIn } from './feed.ts';
import { LOG, TRAIL, tablesOf, type MovedTable } from './tables.ts';

/** Number of rows and a digest of them, in whatever order they are. Versions count as shown: stored ones differ (docs/adr/0027). */
async function digestOf({ db }: Cell, { name, schema, table, key, names }: MovedTable, companyId: string): Promise<string> {
  const versions = table === LOG ? 'version' : 'change_version';
  const added = names.includes(versions) ? await addedIn(db, schema, companyId) : 0;
  const values = names.flatMap((column) => {
    if (column === versions) return [`${column} + (${added})`];
    // A version of events of the other database, which is forgotten.
    return table === 'names' && column === 'version' ? [] : [column];
  });
  // The source compacts its log during the move, and the other cell does later.
  const latest = `(select distinct on (kind, id) * from ${name} where ${key} = $1 order by kind, id, version desc, changed_at desc)`;
  const { rows } = await db.query<{ digest: string }>({
    text: `select count(*) || ' ' || coalesce(sum(('x' || left(md5(row(${values.join(', ')})::text), 16))::bit(64)::bigint::numeric), 0) as digest
      from ${table === LOG ? latest : name} t where ${key} = $1`,
    values: [companyId],
  });
  return rows[0]!.digest;
}

/** The tables whose rows differ, among those with these names, or of all. Rows that arrive during the comparison make a table differ. */
export async function differing(from: Cell, to: Cell, companyId: string, among?: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const table of await tablesOf(from.db)) {
    if (among?.includes(table.name) === false) continue;
    if (await (table.name === TRAIL ? lacks(from, to, companyId, table) : differ(from, to, companyId, table))) found.push(table.name);
  }
  return found;
}

async function differ(from: Cell, to: Cell, companyId: string, table: MovedTable): Promise<boolean> {
  const [left, right] = await Promise.all([digestOf(from, table, companyId), digestOf(to, table, companyId)]);
  return left !== right;
}

/** Whether a row is missing there. It may have others. */
async function lacks(from: Cell, to: Cell, companyId: string, table: MovedTable): Promise<boolean> {
  return await inTransaction(from, ['begin isolation level repeatable read read only'], async (source) => {
    for await (const { rows } of batchesOf(source, table, companyId)) {
      const { rowCount } = await to.db.query({
        text: `select from unnest($2::${TRAIL}[]) s where not exists (
          select from ${TRAIL} t where t.company_id = $1 and t.at = s.at and t.id = s.id and t::text = s::text) limit 1`,
        values: [companyId, rows],
      });
      if (rowCount > 0) return true;
    }
    return false;
  });
}
