// Whether both cells have the same rows of the company. It asks the catalog for tables itself, so that it finds one that was not copied.
import type { Cell } from './cells.ts';
import { addedIn } from './feed.ts';
import { LOG, tablesOf, type MovedTable } from './tables.ts';

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
  // Operators go on in both cells while a company is frozen, and each has their calls in its trail.
  const compared = name === 'integrations.audit_events' ? `actor_kind <> 'OPERATOR'` : 'true';
  const { rows } = await db.query<{ digest: string }>({
    text: `select count(*) || ' ' || coalesce(sum(('x' || left(md5(row(${values.join(', ')})::text), 16))::bit(64)::bigint::numeric), 0) as digest
      from ${table === LOG ? latest : name} t where ${key} = $1 and ${compared}`,
    values: [companyId],
  });
  return rows[0]!.digest;
}

/** The tables whose rows differ, among those with these names, or of all. Rows that arrive during the comparison make a table differ. */
export async function differing(from: Cell, to: Cell, companyId: string, among?: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const table of await tablesOf(from.db)) {
    if (among?.includes(table.name) === false) continue;
    const [left, right] = await Promise.all([digestOf(from, table, companyId), digestOf(to, table, companyId)]);
    if (left !== right) found.push(table.name);
  }
  return found;
}
