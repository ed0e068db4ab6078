// Serves lists, details and batches of details: one statement each, and protobuf bytes without objects in between.
import { ApiError, codec, type Operation } from '@truckroll/contract';
import { binaryArrays, type Database, type Queryable, type BinaryRow, type Statement } from '@truckroll/postgres';
import { replacedFields } from './as-read.ts';
import { Assembler } from './assemble.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { gateOf, passGate } from './gate.ts';
import { idType, listStatement } from './list-query.ts';
import type { ListRequest } from './list-request.ts';
import type { NameCache, NameLookup } from './names.ts';
import { encodePosition } from './position.ts';
import { storedUnder, type Column, type Table } from './table.ts';

/** Identifies a record: its company, that company's time zone, and the record's id as requests contain it. */
export interface Key {
  readonly company_id: string;
  readonly time_zone: string;
  readonly id: string;
}

export interface ReaderOptions {
  database: Database;
  names: NameCache;
}

/** Offset of the low 32 bits in a binary bigint: no ordinal of a batch is larger. */
const ORDINAL_LOW = 4;
const NOTHING: readonly Uint8Array[] = [];

interface Parts {
  all: Uint8Array[];
  derived: boolean;
}

/** Field 1 holds the records in GetXResponse, RecordRead, ListXResponse and BatchGetRecordsResponse. */
const DATA_TAG = 0x0a;
const NEXT_TAG = 0x12;

export class RecordReader {
  readonly #table: Table;
  readonly #database: Database;
  readonly #names: NameCache;
  readonly #detail: string;
  readonly #details: string;
  readonly #idColumn: Column | undefined;
  readonly #replaced: ReadonlySet<number>;

  constructor(table: Table, { database, names }: ReaderOptions) {
    this.#table = table;
    this.#database = database;
    this.#names = names;
    this.#idColumn = table.columns.find(({ name }) => name === 'id');
    this.#replaced = replacedFields(table);
    const columns = ['document', 'derived', ...(table.onRead?.columns ?? [])].join(', ');
    this.#detail = `select ${columns} from ${table.table} where company_id = $1 and id = $2`;
    // The limit forces the planner to look the keys up one by one.
    this.#details = `select k.n, r.* from unnest($1::uuid[], $2::${idType(table)}[]) with ordinality k(company_id, id, n),
      lateral (select ${columns} from ${table.table} t where t.company_id = k.company_id and t.id = k.id limit 1) r`;
  }

  /** One page: ListXResponse. Errors: 503 if PostgreSQL is unreachable. */
  async list(request: ListRequest): Promise<Buffer> {
    const { company_id: companyId, time_zone: timeZone, limit } = request.collection;
    const rows = await this.#page(request);
    const page = rows.slice(0, limit);
    const keys = this.#table.order.length;
    const records = page.map((row) => this.#parts(row, keys, timeZone));
    const out = await this.#assemble(companyId, records);
    if (rows.length > limit) {
      const last = page.at(-1) as BinaryRow;
      const next = encodePosition(last.slice(0, keys) as Buffer[], idType(this.#table));
      out.byte(NEXT_TAG);
      out.varint(next.length);
      out.append(next);
    }
    return out.view();
  }

  /** Reads a page's rows. A closed gate makes the result empty: then this throws 503 with the reason, or reads again if the gate has opened since. */
  async #page(asked: ListRequest): Promise<BinaryRow[]> {
    const { company_id: companyId } = asked.collection;
    const database = this.#database.of(companyId);
    const request = await decide(this.#table, database, asked);
    const statement = listStatement(this.#table, request);
    const rows = await database.queryBinary(statement);
    const gate = rows.length === 0 ? gateOf(this.#table, request) : undefined;
    if (gate === undefined) return rows;
    await passGate(database, this.#table, companyId, gate);
    const again = await database.queryBinary(statement);
    if (again.length === 0) await passGate(database, this.#table, companyId, gate);
    return again;
  }

  /** One record: GetXResponse. Errors: 404, the same for a missing record and another company's. */
  async detail(key: Key): Promise<Buffer> {
    const { company_id: companyId, time_zone: timeZone } = key;
    const values = [storedUnder(this.#table, companyId), this.#idOf(key)];
    const statement = { name: `detail_${this.#table.table}`, text: this.#detail, values };
    const [row] = await this.#database.of(companyId).queryBinary(statement);
    if (row === undefined) throw ApiError.notFound();
    const out = await this.#assemble(companyId, [this.#parts(row, 0, timeZone)]);
    return out.view();
  }

  /** Several records of any companies: BatchGetRecordsResponse. Look-ups by key are too cheap to count toward companies' shares of connections. */
  async details(keys: readonly Key[]): Promise<Buffer> {
    const found = new Array<Parts | undefined>(keys.length);
    for (const row of await this.#database.queryBinary(this.#detailsStatement(keys))) {
      const index = (row[0] as Buffer).readUInt32BE(ORDINAL_LOW) - 1;
      found[index] = this.#parts(row, 1, (keys[index] as Key).time_zone);
    }
    const first = this.#writeReads(keys, found, (companyId) => this.#names.of(companyId));
    const lacking = [...first.assemblers].filter(([, { missing }]) => missing.size > 0);
    if (lacking.length === 0) return first.out.view();
    const fetched = new Map<string, NameLookup>();
    await Promise.all(
      lacking.map(async ([companyId, { missing }]) => fetched.set(companyId, await this.#names.fetch(companyId, missing, this.#database.of(companyId)))),
    );
    return this.#writeReads(keys, found, (companyId) => fetched.get(companyId) ?? this.#names.of(companyId)).out.view();
  }

  #detailsStatement(keys: readonly Key[]): Statement {
    const { table } = this.#table;
    const companies = binaryArrays.uuid(keys.map((key) => storedUnder(this.#table, key.company_id)));
    const ids = binaryArrays[idType(this.#table)](keys.map((key) => this.#idOf(key)));
    return { name: `details_${table}`, text: this.#details, values: [companies, ids] };
  }

  /** If ids are codes, requests contain the generated enum values, columns the public spelling. */
  #idOf({ id }: Key): string {
    return (this.#idColumn?.fromRequest(id) as string | undefined) ?? id;
  }

  /**
   * Assembles one record that a transaction is about to store, exactly as `detail` returns it after the commit. Names that are not cached
   * are read through `tx`: a transaction waiting for a second connection could wait for itself.
   */
  async assembled(tx: Queryable, companyId: string, document: Uint8Array, derived: Uint8Array): Promise<Buffer> {
    const out = await this.#assemble(companyId, [{ all: [document, derived], derived: true }], tx);
    return out.view();
  }

  #parts(row: BinaryRow, keys: number, timeZone: string): Parts {
    const all: Uint8Array[] = [row[keys] as Buffer];
    const derived = row[keys + 1];
    if (derived != null) all.push(derived);
    const fragment = this.#table.onRead?.fragment((index) => row[keys + 2 + index] ?? null, timeZone);
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
    const out = new ByteBuffer(roomFor(records));
    const assembler = new Assembler(this.#table.resource.record, out, names);
    for (const parts of records) this.#record(parts, assembler, out);
    return { out, missing: assembler.missing };
  }

  /** Writes one RecordRead per key, empty if nothing was found. Each company's assembler reports the names it lacked. */
  #writeReads(keys: readonly Key[], found: readonly (Parts | undefined)[], namesOf: (companyId: string) => NameLookup) {
    const out = new ByteBuffer(roomFor(found));
    const assemblers = new Map<string, Assembler>();
    keys.forEach(({ company_id: companyId }, index) => {
      let assembler = assemblers.get(companyId);
      if (assembler === undefined) assemblers.set(companyId, (assembler = new Assembler(this.#table.resource.record, out, namesOf(companyId))));
      const parts = found[index];
      out.byte(DATA_TAG);
      const start = out.open();
      if (parts !== undefined) this.#record(parts, assembler, out);
      out.close(start);
    });
    return { out, assemblers };
  }

  #record(parts: Parts, assembler: Assembler, out: ByteBuffer): void {
    out.byte(DATA_TAG);
    const start = out.open();
    assembler.record(parts.all, parts.derived ? this.#replaced : undefined);
    out.close(start);
  }
}

/** Replaces filters that depend on the company's settings by the values of their column. */
async function decide({ decided }: Table, db: Queryable, request: ListRequest): Promise<ListRequest> {
  if (decided === undefined) return request;
  const made = { ...request };
  for (const [name, { values }] of Object.entries(decided)) {
    if (request[name] == null) continue;
    const matching = await values(db, request.collection.company_id, request[name]);
    // An empty list would not restrict the page: no row has the empty text.
    made[name] = matching.length === 0 ? [''] : matching;
  }
  return made;
}

/** Estimated size of these records once assembled, in bytes. */
function roomFor(records: readonly (Parts | undefined)[]): number {
  let size = 64;
  for (const parts of records) for (const part of parts?.all ?? NOTHING) size += part.length + 64;
  return size;
}

const identity = (bytes: Buffer): Buffer => bytes;

/** The gRPC definition of an operation whose responses are already encoded. */
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
