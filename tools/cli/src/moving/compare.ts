// Whether both cells have the same rows of the company. It asks the catalog for tables itself, so that it finds one that was not copied.
import { inTransaction, type Cell } from './cells.ts';
import { batchesOf } from './copy.ts';
import { addedIn } from './feed.ts';
import { LOG, TRAIL, tablesOf, type MovedTable } from './tables.ts';

/** By table, what was not found equal in it: parts, or of the trail rows. */
export type Unequal = ReadonlyMap<string, ReadonlySet<string>>;

/** Hexadecimal digits of the digest of a row's key that name its part: while others change, nearly all of 4,096 parts are found equal. */
const DIGITS = 3;
/** More are not missing because they have just been added. */
const MOST_MISSING = 10_000;

/**
 * Number of rows and a digest of them, in whatever order they are, by parts. A row belongs to one by its key, so that a row that is missing there makes
 * the same part unequal whatever changes in it meanwhile. Versions count as shown: stored ones differ (docs/adr/0027).
 */
async function digestsOf({ db }: Cell, { name, schema, table, key, names, identity }: MovedTable, companyId: string): Promise<Map<string, string>> {
  const versions = table === LOG ? 'version' : 'change_version';
  const added = names.includes(versions) ? await addedIn(db, schema, companyId) : 0;
  const values = names.flatMap((column) => {
    if (column === versions) return [`${column} + (${added})`];
    // A version of events of the other database, which is forgotten.
    return table === 'names' && column === 'version' ? [] : [column];
  });
  // A record's row in the log has another version in each database.
  const identified = table === LOG ? ['kind', 'id'] : identity;
  // The source compacts its log during the move, and the other cell does later.
  const latest = `(select distinct on (kind, id) * from ${name} where ${key} = $1 order by kind, id, version desc, changed_at desc)`;
  const { rows } = await db.query<{ part: string; digest: string }>({
    text: `select left(md5(row(${identified.join(', ')})::text), ${DIGITS}) as part, count(*) || ' ' || sum(('x' || right(md5, 16))::bit(64)::bigint::numeric) as digest
      from ${table === LOG ? latest : name} t, md5(row(${values.join(', ')})::text) where ${key} = $1 group by 1`,
    values: [companyId],
  });
  return new Map(rows.map(({ part, digest }) => [part, digest]));
}

/** Compares what is in `among`, or everything. Rows that change during the comparison are found unequal. */
export async function unequalIn(from: Cell, to: Cell, companyId: string, among?: Unequal): Promise<Unequal> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const table of await tablesOf(from.db)) {
    const before = among?.get(table.name);
    if (among !== undefined && before === undefined) continue;
    const parts = await (table.name === TRAIL ? lacking(from, to, companyId, table, before) : unequalParts(from, to, companyId, table, before));
    if (parts.size > 0) found.set(table.name, parts);
  }
  return found;
}

async function unequalParts(from: Cell, to: Cell, companyId: string, table: MovedTable, before: ReadonlySet<string> | undefined): Promise<Set<string>> {
  const [left, right] = await Promise.all([digestsOf(from, table, companyId), digestsOf(to, table, companyId)]);
  const parts = before ?? new Set([...left.keys(), ...right.keys()]);
  return new Set([...parts].filter((part) => left.get(part) !== right.get(part)));
}

/** Rows that are missing there. It may have others. */
async function lacking(from: Cell, to: Cell, companyId: string, table: MovedTable, before: ReadonlySet<string> | undefined): Promise<Set<string>> {
  const missing = async (rows: readonly string[]): Promise<string[]> => {
    const { rows: found } = await to.db.query<{ row: string }>({
      text: `select s::text as row from unnest($2::${TRAIL}[]) s where not exists (
        select from ${TRAIL} t where t.company_id = $1 and t.at = s.at and t.id = s.id and t::text = s::text) limit ${MOST_MISSING}`,
      values: [companyId, rows],
    });
    return found.map(({ row }) => row);
  };
  if (before !== undefined) return new Set(await missing([...before]));
  return await inTransaction(from, ['begin isolation level repeatable read read only'], async (source) => {
    const found = new Set<string>();
    for await (const { rows } of batchesOf(source, table, companyId)) {
      for (const row of await missing(rows)) found.add(row);
      if (found.size >= MOST_MISSING) break;
    }
    return found;
  });
}
