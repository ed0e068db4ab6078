// Whether both cells have the same rows of the company. It asks the catalog for tables itself, so that it finds one that was not copied.
import { formatInstant } from '@truckroll/contract';
import { asReplica, type Cell } from './cells.ts';
import { addedIn } from './feed.ts';
import { LOG, TRAIL, tablesOf, type MovedTable } from './tables.ts';

/** By table, what was not found equal in it: parts, or of the trail entries, by time and id. */
export type Unequal = ReadonlyMap<MovedTable, ReadonlySet<string>>;

/** Hexadecimal digits of the digest of a row's key that name its part: while others change, nearly all of 4,096 parts are found equal. */
const DIGITS = 3;
/** Number of entries of the trail in one read. If at least this number is missing, which is more than was added just now, all are compared again. */
const PAGE = 10_000;
const ADDED_AT_ONCE = 200;
const BEFORE_ALL = '-infinity 00000000-0000-0000-0000-000000000000';

/**
 * Number of rows and a digest of them, in whatever order they are, by parts, or by these parts. A row belongs to one by its key, so that a row that is
 * missing there makes the same part unequal whatever else changes in it. Versions count as shown: stored ones differ (docs/adr/0027).
 */
async function digestsOf({ db }: Cell, moved: MovedTable, companyId: string, parts?: ReadonlySet<string>): Promise<Map<string, string>> {
  const { name, schema, table, key, names, identity } = moved;
  const versions = table === LOG ? 'version' : 'change_version';
  const added = names.includes(versions) ? await addedIn(db, schema, companyId) : 0;
  const values = names.flatMap((column) => {
    if (column === versions) return [`${column} + (${added})`];
    // A version of events of the other database, which is forgotten.
    return table === 'names' && column === 'version' ? [] : [column];
  });
  // A record's row in the log has another version in each database.
  const identified = table === LOG ? ['kind', 'id'] : identity;
  const part = `left(md5(row(${identified.join(', ')})::text), ${DIGITS})`;
  // By its key, so that the rest of a row of another part is not read.
  const compared = `from ${name} where ${key} = $1 and ($2::text[] is null or ${part} = any($2))`;
  // The source compacts its log during the move, and the other cell does later.
  const latest = `select distinct on (kind, id) * ${compared} order by kind, id, version desc, changed_at desc`;
  const { rows } = await db.query<{ part: string; digest: string }>({
    text: `select ${part} as part, count(*) || ' ' || sum(('x' || right(md5, 16))::bit(64)::bigint::numeric) as digest
      from (${table === LOG ? latest : `select * ${compared}`}) t, md5(row(${values.join(', ')})::text) group by 1`,
    values: [companyId, parts === undefined ? null : [...parts]],
  });
  return new Map(rows.map(({ part, digest }) => [part, digest]));
}

/** Compares what is in `among`, or everything. Rows that change during the comparison are found unequal. */
export async function unequalIn(from: Cell, to: Cell, companyId: string, among?: Unequal): Promise<Unequal> {
  const found = new Map<MovedTable, ReadonlySet<string>>();
  for (const table of among?.keys() ?? (await tablesOf(from.db))) {
    const before = among?.get(table);
    const parts = await (table.name === TRAIL ? lacking(from, to, companyId, before) : unequalParts(from, to, companyId, table, before));
    if (parts.size > 0) found.set(table, parts);
  }
  return found;
}

async function unequalParts(from: Cell, to: Cell, companyId: string, table: MovedTable, before: ReadonlySet<string> | undefined): Promise<Set<string>> {
  const [left, right] = await Promise.all([digestsOf(from, table, companyId, before), digestsOf(to, table, companyId, before)]);
  const parts = before ?? new Set([...left.keys(), ...right.keys()]);
  return new Set([...parts].filter((part) => left.get(part) !== right.get(part)));
}

/** Entries that are missing there or differ. It may have others. They are all that there are if they are fewer than `PAGE`. */
async function lacking(from: Cell, to: Cell, companyId: string, before?: ReadonlySet<string>): Promise<Set<string>> {
  if (before !== undefined && before.size < PAGE) {
    const these = [...before];
    const [left, right] = [await entriesIn(from, companyId, THESE, ...listsOf(these)), await entriesIn(to, companyId, THESE, ...listsOf(these))];
    return new Set([...left.keys()].filter((key) => left.get(key) !== right.get(key)));
  }
  const found = new Set<string>();
  for await (const { left, right } of pagesOf(from, to, companyId)) {
    for (const [key, digest] of left) if (right.get(key) !== digest) found.add(key);
    if (found.size >= PAGE) break;
  }
  return found;
}

/** Adds the entries that are missing there, and changes none: people may have been erased from them since. */
export async function addMissingEntries(from: Cell, to: Cell, companyId: string): Promise<void> {
  await asReplica(to, async (batch) => {
    for await (const { left, right } of pagesOf(from, to, companyId)) {
      const missing = [...left.keys()].filter((key) => !right.has(key));
      while (missing.length > 0) {
        const { rows } = await from.db.query<{ row: string }>({
          text: `select t::text as row from ${TRAIL} t where company_id = $1 and ${THESE}`,
          values: [companyId, ...listsOf(missing.splice(0, ADDED_AT_ONCE))],
        });
        const text = `insert into ${TRAIL} select * from unnest($1::${TRAIL}[]) on conflict do nothing`;
        await batch(async (db) => void (await db.query({ text, values: [rows.map(({ row }) => row)] })));
      }
    }
  });
}

/** Digests of entries, by time and id. */
type Entries = ReadonlyMap<string, string>;

/** What both cells have, in the order of the source's entries. */
async function* pagesOf(from: Cell, to: Cell, companyId: string): AsyncGenerator<{ left: Entries; right: Entries }> {
  for (let after = BEFORE_ALL; ; ) {
    const left = await entriesIn(from, companyId, `(t.at, t.id) > ($2, $3) order by t.at, t.id limit ${PAGE}`, ...after.split(' '));
    const last = [...left.keys()].at(-1);
    if (last === undefined) return;
    yield { left, right: await entriesIn(to, companyId, '(t.at, t.id) > ($2, $3) and (t.at, t.id) <= ($4, $5)', ...`${after} ${last}`.split(' ')) };
    after = last;
  }
}

const THESE = '(t.at, t.id) in (select * from unnest($2::timestamptz[], $3::uuid[]))';
const listsOf = (keys: readonly string[]): unknown[] => [0, 1].map((part) => keys.map((key) => key.split(' ')[part]));

async function entriesIn({ db }: Cell, companyId: string, which: string, ...values: unknown[]): Promise<Entries> {
  const { rows } = await db.query<{ at: number; id: string; digest: string }>({
    text: `select at, id, md5(t::text) as digest from ${TRAIL} t where company_id = $1 and ${which}`,
    values: [companyId, ...values],
  });
  return new Map(rows.map(({ at, id, digest }) => [`${formatInstant(at)} ${id}`, digest]));
}
