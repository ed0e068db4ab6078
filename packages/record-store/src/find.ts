// Finds the records of a page that a search matches, with bounded work (docs/adr/0020).
import type { Term, Wanted } from '@truckroll/contract';
import { arrayOf, type BinaryRow, type Queryable } from '@truckroll/postgres';
import { lastWalked, listStatement, type Keys } from './list-query.ts';
import type { ListRequest } from './list-request.ts';
import { storedUnder, type Table } from './table.ts';
import { rangeOf } from './terms.ts';

export interface SearchLimits {
  /** Most entries that are read for one condition. Beyond that it is frequent: the records that meet it stand close together in the list. */
  readonly entries: number;
  /** Entries from which reading those of a second term is cheaper than looking at as many records. */
  readonly many: number;
  /** Most records of the list that a page looks at when every term is frequent. */
  readonly walked: number;
}

export const SEARCH_LIMITS: SearchLimits = { entries: 10_000, many: 500, walked: 5_000 };

/** Terms of a search whose entries are counted, those with the longest words first: longer words are rarer. */
const MOST_COUNTED_TERMS = 8;

export interface Found {
  rows: BinaryRow[];
  /** The order columns of the last record that was looked at, if the page ends there for having looked at enough. */
  endedAt?: BinaryRow;
}

interface Search {
  readonly table: Table;
  readonly request: ListRequest;
  readonly terms: readonly Term[];
  readonly limits: SearchLimits;
}

export async function findPage(database: Queryable, search: Search): Promise<Found> {
  const { table, request } = search;
  const keys = await keysFor(database, search);
  const rows = await database.queryBinary(listStatement(table, request, keys));
  if (!('walked' in keys) || rows.length > request.collection.limit) return { rows };
  const [endedAt] = await database.queryBinary(lastWalked(table, request, keys.walked));
  return endedAt === undefined ? { rows } : { rows, endedAt };
}

/** The entries of the rarest term, together with those of other rare ones if these are many; the list itself if every term is frequent. */
async function keysFor(database: Queryable, search: Search): Promise<Keys> {
  const { limits } = search;
  const terms = search.terms.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, MOST_COUNTED_TERMS);
  const counts = await countEntries(database, search, terms.flat(2));
  const counted = terms.map((term) => {
    const rarest = term.map((all) => all.reduce((rare, each) => ((counts.get(each) ?? 0) < (counts.get(rare) ?? 0) ? each : rare)));
    return { union: rarest, count: rarest.reduce((sum, each) => sum + (counts.get(each) ?? 0), 0) };
  });
  const rare = counted.filter(({ count }) => count <= limits.entries).sort((a, b) => a.count - b.count);
  const [first, second] = rare;
  if (first === undefined) return { walked: limits.walked };
  return { unions: [first.union, ...(second !== undefined && first.count > limits.many ? [second.union] : [])] };
}

/** Characters of a term's shortest alternative. */
function lengthOf(term: Term): number {
  return Math.min(...term.map((all) => Math.max(...all.map(({ start }) => start.length))));
}

/** Numbers of entries by condition, counted up to one more than the limit. */
async function countEntries(database: Queryable, { table, request, limits }: Search, wanted: readonly Wanted[]): Promise<ReadonlyMap<Wanted, number>> {
  const ranges = wanted.map(rangeOf);
  const { rows } = await database.query<{ n: number; count: number }>({
    name: `count_${limits.entries}_${table.search?.table}`,
    text: `select k.n::int, (
        select count(*) from (
          select from ${table.search?.table} e where e.company_id = $1 and e.value >= k.low and e.value < k.high limit ${limits.entries + 1}
        ) counted
      )::int as count from unnest($2::text[], $3::text[]) with ordinality k(low, high, n)`,
    values: [
      storedUnder(table, request.collection.company_id),
      arrayOf(
        'text',
        ranges.map(([low]) => low),
      ),
      arrayOf(
        'text',
        ranges.map(([, high]) => high),
      ),
    ],
  });
  return new Map(rows.map(({ n, count }) => [wanted[n - 1] as Wanted, count]));
}
