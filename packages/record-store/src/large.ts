// Bounds what one read loads and sends (docs/decisions.md §17). Statements leave out large documents, of which a second one reads as many
// as fit: PostgreSQL knows the length of a document without loading it.
import type { CallContext } from '@truckroll/grpc';
import type { BinaryRow } from '@truckroll/postgres';
import { FairQueue } from '@truckroll/process';
import type { Table } from './table.ts';

/** Maximum size of a page's records on the wire, in bytes. Their JSON is larger: the gateway asks for fewer if it exceeds the page's limit. */
export const PAGE_BYTES = 8_000_000;
/** Maximum size of a document in bytes, and of the parts of others that it lists: a record and its names fit into one message of gRPC. */
export const LARGEST_RECORD = 4 * 1024 * 1024;
/** Documents above this size in bytes are left out: 101 smaller ones are less than a page. */
export const LARGE_DOCUMENT = 64 * 1024;
/** The same for up to 1000 records of the change feed. */
export const LARGE_OF_MANY = 16 * 1024;
/**
 * Size in bytes above which a single record keeps the names in its document, which an import limits, because the latest names could be
 * longer than a message of gRPC.
 */
export const MOST_WITH_NAMES = 12 * 1024 * 1024;

/**
 * Pages with large documents that a process reads or sends at a time, in turn by company: each takes up to 16 MB, its documents and its
 * answer, of a pod's 512 MiB.
 */
export const LARGE_TOGETHER = 4;
const WAITING = { queue: 100, maxWaitMs: 5000 };
const slots: FairQueue = new FairQueue({ admits: () => slots.held < LARGE_TOGETHER, ...WAITING });

/** The call that an answer is for. */
export type Answering = Pick<CallContext, 'onClosed'>;

/** Makes an answer once fewer than LARGE_TOGETHER others are made or being sent. Errors: 429 if too many of the company's wait, 503 after 5 s. */
export async function inTurn<T>(companyId: string, call: Answering, work: () => Promise<T>): Promise<T> {
  const turn = slots.enter(companyId);
  if (turn !== undefined) await turn;
  call.onClosed(() => slots.leave(companyId));
  return work();
}

export const hasLarge = (rows: readonly BinaryRow[], at: number): boolean => rows.some((row) => row[at] === null);

const sizeOf = (document: string, derived: string): string => `octet_length(${document}) + coalesce(octet_length(${derived}), 0)`;

/** SQL for the size of a record in bytes. */
export const RECORD_SIZE = sizeOf('document', 'derived');

/** The ids of records in order, in portions of at most PAGE_BYTES or of one record, for work that loads all records of a portion. */
export function portionsOf(records: readonly { id: string; size: number }[]): string[][] {
  const portions: string[][] = [];
  let bytes = Infinity;
  for (const { id, size } of records) {
    if ((bytes += size) > PAGE_BYTES) {
      portions.push([]);
      bytes = size;
    }
    portions.at(-1)?.push(id);
  }
  return portions;
}

/** A row whose record is gone. */
export const NO_ROW: BinaryRow = [];

/** The columns `document` and `derived` of a table, null if they are larger than `most` together: SQL for a number of bytes. */
export function smallDocument({ derive }: Table, alias: string, most: string): string {
  const [document, derived] = [`${alias}.document`, `${alias}.derived`];
  // Without a rule that derives, the column is null.
  const size = derive === undefined ? `octet_length(${document})` : sizeOf(document, derived);
  const isSmall = `${size} <= ${most}`;
  return `case when ${isSmall} then ${document} end as document, ${derive === undefined ? derived : `case when ${isSmall} then ${derived} end as derived`}`;
}

/** Reads the first of these records, at least one, whose documents and derived fields together have at most $3 bytes. Rows are (ordinal, columns…). */
export function largeStatement(table: string, idType: 'uuid' | 'text', columns: readonly string[]): string {
  const listed = columns.join(', ');
  return `select n, ${listed} from (
      select k.n, r.*, sum(r.size) over (order by k.n) as sum from unnest($2::${idType}[]) with ordinality k(id, n),
      lateral (select ${listed}, ${RECORD_SIZE} as size
        from ${table} t where t.company_id = $1 and t.id = k.id limit 1) r) s
    where sum <= $3 or sum = size order by n`;
}

/** Offset of the low 32 bits in a binary bigint: no ordinal is larger. */
const ORDINAL_LOW = 4;

/** The ordinal in a row's first column, counted from 0. */
export function ordinalOf(row: BinaryRow): number {
  return (row[0] as Buffer).readUInt32BE(ORDINAL_LOW) - 1;
}

/**
 * Replaces rows without a document, whose columns from `at` on `read` reads, in order, from their indexes. Returns the rows before the first
 * that was not read, at least one.
 */
export async function withLarge(
  rows: readonly BinaryRow[],
  at: number,
  read: (indexes: readonly number[]) => Promise<BinaryRow[]>,
): Promise<readonly BinaryRow[]> {
  if (!hasLarge(rows, at)) return rows;
  const indexes = rows.flatMap((row, index) => (row[at] === null ? [index] : []));
  const found = await read(indexes);
  const loaded = rows.slice();
  // Records that do not appear before the last one that was read are gone.
  const last = found.length === 0 ? Infinity : ordinalOf(found.at(-1) as BinaryRow);
  for (const index of indexes) loaded[index] = NO_ROW;
  for (const row of found) {
    const index = indexes[ordinalOf(row)] as number;
    loaded[index] = [...(rows[index] as BinaryRow).slice(0, at), ...row.slice(1)];
  }
  return loaded.slice(0, indexes[last + 1]);
}
