// What a service hands over of a company that leaves (decisions §19): its records as the API answers them, and rows of other tables. What
// is not in either, and why, is in test/leaving/exported-tables.test.ts.
import type { OwnedKind, ZonedCompany } from '@truckroll/change-feed';
import { ApiError, JsonBuffer, JsonWriter, changeKinds, type Shape } from '@truckroll/contract';
import type { ExportServiceService } from '@truckroll/contract/gen/records/v1/exports';
import type { Handlers } from '@truckroll/grpc';
import { erasedOf } from '@truckroll/outbox';
import type { Database, Queryable } from '@truckroll/postgres';
import { requireId } from './request.ts';

const ROWS = 500;
/** Bytes of a part, which exceeds them by one row at most. */
const BYTES = 1024 * 1024;

export interface ExportedTable {
  readonly table: string;
  /** Columns that identify a row of the company, with their types. Rows are read in their order, which an index should have. */
  readonly key: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  /** SQL of further values, such as rows of other tables as JSON. `t` is the row. */
  readonly values?: Readonly<Record<string, string>>;
  /** A column with an encoded message, whose fields are added. */
  readonly document?: { readonly column: string; readonly shape: Shape };
  /** The other columns, and why they are left out. */
  readonly without: Readonly<Record<string, string>>;
}

export interface CompanyExportOptions {
  readonly database: Database;
  readonly kinds: readonly OwnedKind[];
  readonly tables?: readonly ExportedTable[];
}

/**
 * Streams the names of all files, then the lines of each that the caller has not yet received whole. Errors: 400 for what is no id, 409 if the
 * company was deleted before the end of a file.
 */
export function companyExport({ database, kinds, tables = [] }: CompanyExportOptions): Handlers<typeof ExportServiceService> {
  return {
    async *exportCompany({ company_id: companyId, time_zone: timeZone, complete }, { signal }) {
      requireId(companyId);
      const db = database.of(companyId);
      const files = [
        ...kinds.map((kind) => [fileOf(kind), () => recordsOf(db, kind, { companyId, timeZone })] as const),
        ...tables.map((table) => [`other/${table.table}.ndjson`, () => rowsOf(db, table, companyId)] as const),
      ];
      yield { file: '', lines: Buffer.alloc(0), complete: false, files: files.map(([file]) => file) };
      for (const [file, read] of files.filter(([name]) => !complete.includes(name))) {
        for await (const lines of read()) {
          signal.throwIfAborted();
          yield { file, lines, complete: false, files: [] };
        }
        // Afterwards: no row is removed before the company is marked.
        if ((await erasedOf(db, [companyId])).size > 0) throw isLeaving();
        yield { file, lines: Buffer.alloc(0), complete: true, files: [] };
      }
    },
  };
}

function isLeaving(): ApiError {
  const message = 'The company was deleted or is being deleted, so it cannot be exported: `truckroll company delete` says how far that is.';
  return new ApiError('INVALID_REQUEST', message, { status: 409 });
}

/** The names that `truckroll export` gives them. */
const fileOf = ({ kind }: OwnedKind): string => (kind === 'company' ? 'records/company.json' : `records/${kind}.ndjson`);

const records = new JsonWriter('snake');
const documents = new JsonWriter('camel');
export const SHAPES: ReadonlyMap<string, Shape> = new Map(changeKinds.map(({ kind, record }) => [kind, record]));

export async function* recordsOf(db: Queryable, kind: OwnedKind, company: ZonedCompany): AsyncGenerator<Buffer> {
  const [type, logged] = kind.codes === true ? ['text', 'md5(id)::uuid'] : ['uuid', 'id'];
  for (let after: string | undefined; ; ) {
    const { rows } = await db.query<{ last: string; logged: string }>({
      text: `select id::text as last, (${logged})::text as logged from ${kind.table}
        where company_id = $1::uuid${after === undefined ? '' : ` and id > $2::${type}`} order by id limit ${ROWS}`,
      values: [kind.storedUnder ?? company.companyId, ...(after === undefined ? [] : [after])],
    });
    for (let ids = rows.map((row) => row.logged); ids.length > 0; ) {
      const read = await kind.read(company, ids, BYTES);
      const out = new JsonBuffer();
      for (const each of read) if (each !== undefined) writeLine(records, SHAPES.get(kind.kind)!, each.record, out);
      if (out.length > 0) yield out.view();
      ids = ids.slice(read.length);
    }
    if (rows.length < ROWS) return;
    after = rows.at(-1)!.last;
  }
}

function writeLine(writer: JsonWriter, shape: Shape, bytes: Uint8Array, out: JsonBuffer): void {
  writer.write(shape, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.byteLength, out);
  out.ascii('\n');
}

interface Row {
  readonly line: string;
  readonly document: Buffer | null;
  readonly key: readonly string[];
}

export async function* rowsOf(db: Queryable, table: ExportedTable, companyId: string): AsyncGenerator<Buffer> {
  for (let after: readonly string[] = []; ; ) {
    const { rows } = await db.query<Row>({ text: selectOf(table, after.length > 0), values: [companyId, ...after] });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield Buffer.from(rows.map(({ line, document }) => `${document === null ? line : withFields(line, table, document)}\n`).join(''));
    after = last.key;
  }
}

/** At most ROWS rows, up to BYTES: the last one begins below it. */
function selectOf({ table, key, columns, values = {}, document }: ExportedTable, goesOn: boolean): string {
  const order = Object.keys(key).map((column) => `t.${column}`);
  const parameters = Object.values(key).map((type, index) => `$${index + 2}::${type}`);
  const row = [...columns.map((column) => `t.${column}`), ...Object.entries(values).map(([name, sql]) => `(${sql}) as ${name}`)];
  return `select line, document, key from (
      select *, sum(octet_length(line) + coalesce(octet_length(document), 0)) over (order by n) - octet_length(line) - coalesce(octet_length(document), 0) as before
      from (select row_number() over (order by ${order.join()}) as n, (select row_to_json(r)::text from (select ${row.join()}) r) as line,
          ${document === undefined ? 'null::bytea' : `t.${document.column}`} as document, array[${order.map((column) => `${column}::text`).join()}] as key
        from ${table} t where t.company_id = $1::uuid${goesOn ? ` and (${order.join()}) > (${parameters.join()})` : ''}
        order by ${order.join()} limit ${ROWS}) page) sized
    where before < ${BYTES} order by n`;
}

function withFields(line: string, { document }: ExportedTable, bytes: Buffer): string {
  const out = new JsonBuffer(bytes.length * 2);
  documents.write(document!.shape, bytes, 0, bytes.length, out);
  return `${line.slice(0, -1)},${out.view().toString().slice(1)}`;
}
