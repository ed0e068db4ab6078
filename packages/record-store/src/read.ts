// List and detail of every record: one statement, no objects, protobuf bytes out.
import { ApiError, codec, type Operation } from '@truckroll/contract';
import type { Database, Queryable, WireRow } from '@truckroll/service-kit';
import { replacedFields } from './as-read.ts';
import { Assembler } from './assemble.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { gateOf, passGate } from './gate.ts';
import { idType, listStatement } from './list-query.ts';
import type { ListRequest } from './list-request.ts';
import type { NameCache, NameLookup } from './names.ts';
import { encodePosition } from './position.ts';
import { storedUnder, type ReadContext, type Table } from './table.ts';

interface DetailRequest {
  key: { company_id: string; time_zone: string; id: string };
}

export interface ReaderOptions {
  database: Database;
  names: NameCache;
}

/** Document, derived part and what depends on the moment, as far as a row has them. */
interface Parts {
  all: Uint8Array[];
  derived: boolean;
}

const DATA_TAG = 0x0a;
const NEXT_TAG = 0x12;

/** Answers of one table's list and detail, already encoded. */
export class RecordReader {
  readonly #table: Table;
  readonly #database: Database;
  readonly #names: NameCache;
  readonly #detail: string;
  /** Numbers of the fields that come from the derived part where there is one. */
  readonly #replaced: ReadonlySet<number>;

  constructor(table: Table, { database, names }: ReaderOptions) {
    this.#table = table;
    this.#database = database;
    this.#names = names;
    this.#replaced = replacedFields(table);
    const columns = ['document', 'derived', ...(table.onRead?.columns ?? [])].join(', ');
    this.#detail = `select ${columns} from ${table.table} where company_id = $1 and id = $2`;
  }

  /** A page: ListXResponse. Errors: 503 while PostgreSQL is out of reach. */
  async list(request: ListRequest): Promise<Buffer> {
    const { company_id: companyId, time_zone: timeZone, limit } = request.collection;
    const rows = await this.#page(request);
    const page = rows.slice(0, limit);
    const keys = this.#table.order.length;
    const records = page.map((row) => this.#parts(row, keys, { companyId, timeZone }));
    const out = await this.#assemble(companyId, records);
    if (rows.length > limit) {
      const last = page.at(-1) as WireRow;
      const next = encodePosition(last.columns().slice(0, keys) as Buffer[], idType(this.#table));
      out.byte(NEXT_TAG);
      out.varint(next.length);
      out.append(next);
    }
    return out.view();
  }

  /** Empty where a filter's gate is shut: then it is told why, or the page is read again, as the gate has just opened. */
  async #page(request: ListRequest): Promise<WireRow[]> {
    const { company_id: companyId } = request.collection;
    const database = this.#database.of(companyId);
    const statement = listStatement(this.#table, request);
    const rows = await database.queryWire(statement);
    const gate = rows.length === 0 ? gateOf(this.#table, request) : undefined;
    if (gate === undefined) return rows;
    await passGate(database, this.#table, companyId, gate);
    const again = await database.queryWire(statement);
    if (again.length === 0) await passGate(database, this.#table, companyId, gate);
    return again;
  }

  /** One record: GetXResponse. Errors: 404, the same for a missing record and another company's. */
  async detail(request: DetailRequest): Promise<Buffer> {
    const { company_id: companyId, time_zone: timeZone, id } = request.key;
    // Where an id is a code, the request holds it as generated messages do.
    const key = this.#table.columns.find(({ name }) => name === 'id')?.fromRequest(id) ?? id;
    const values = [storedUnder(this.#table, companyId), key];
    const statement = { name: `detail_${this.#table.table}`, text: this.#detail, values };
    const [row] = await this.#database.of(companyId).queryWire(statement);
    if (row === undefined) throw ApiError.notFound();
    const out = await this.#assemble(companyId, [this.#parts(row, 0, { companyId, timeZone })]);
    return out.view();
  }

  /**
   * One record from what a transaction is about to store, as `detail` returns it once that is committed. Names that are
   * not cached are read by `tx`: a transaction that waited for a second connection could wait for itself.
   */
  async assembled(tx: Queryable, companyId: string, document: Uint8Array, derived: Uint8Array): Promise<Buffer> {
    const out = await this.#assemble(companyId, [{ all: [document, derived], derived: true }], tx);
    return out.view();
  }

  #parts(row: WireRow, keys: number, context: ReadContext): Parts {
    const all: Uint8Array[] = [row.column(keys) as Buffer];
    const derived = row.column(keys + 1);
    if (derived !== null) all.push(derived);
    const fragment = this.#table.onRead?.fragment((index) => row.column(keys + 2 + index), context);
    if (fragment !== undefined) all.push(fragment);
    return { all, derived: derived != null };
  }

  async #assemble(companyId: string, records: readonly Parts[], through: Queryable = this.#database.of(companyId)): Promise<ByteBuffer> {
    const cached = this.#names.of(companyId);
    const { out, missing } = this.#write(records, cached);
    if (missing.size === 0) return out;
    return this.#write(records, await this.#names.fetch(companyId, missing, through)).out;
  }

  #write(records: readonly Parts[], names: NameLookup): { out: ByteBuffer; missing: Assembler['missing'] } {
    let size = 64;
    for (const parts of records) for (const part of parts.all) size += part.length + 64;
    const out = new ByteBuffer(size);
    const assembler = new Assembler(this.#table.resource.record, out, names);
    for (const parts of records) {
      out.byte(DATA_TAG);
      const start = out.open();
      assembler.record(parts.all, parts.derived ? this.#replaced : undefined);
      out.close(start);
    }
    return { out, missing: assembler.missing };
  }
}

const identity = (bytes: Buffer): Buffer => bytes;

/** The gRPC definition of an operation whose answers are bytes already. */
export function rawMethod(operation: Operation) {
  const request = codec(operation.request.typeName);
  return {
    path: operation.rpc,
    requestStream: false as const,
    responseStream: false as const,
    requestSerialize: (value: unknown): Buffer => Buffer.from(request.encode(value).finish()),
    requestDeserialize: (bytes: Buffer): unknown => request.decode(bytes),
    responseSerialize: identity,
    responseDeserialize: identity,
  };
}
