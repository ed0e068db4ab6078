// Serves lists, details and batches of details: one statement each, and protobuf bytes without objects in between.
import { ApiError, codec, type Operation } from '@truckroll/contract';
import { binaryArrays, uuidOf, type Database, type Queryable, type BinaryRow, type Statement } from '@truckroll/postgres';
import { replacedFields } from './as-read.ts';
import { Assembler } from './assemble.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { SEARCH_LIMITS, findPage, type Found, type SearchLimits } from './find.ts';
import { gateOf, passGate } from './gate.ts';
import {
  LARGE_DOCUMENT,
  LARGE_OF_MANY,
  MOST_WITH_NAMES,
  NO_ROW,
  PAGE_BYTES,
  hasLarge,
  inTurn,
  largeStatement,
  ordinalOf,
  smallDocument,
  withLarge,
  type Answering,
} from './large.ts';
import { idType, listStatement } from './list-query.ts';
import type { ListRequest } from './list-request.ts';
import type { NameCache, NameLookup } from './names.ts';
import { encodePosition } from './position.ts';
import { storedUnder, type Column, type Table } from './table.ts';
import { termsOf } from './terms.ts';

/** Identifies a record: its company, that company's time zone, and the record's id as requests contain it. */
export interface Key {
  readonly company_id: string;
  readonly time_zone: string;
  readonly id: string;
}

export interface ReaderOptions {
  database: Database;
  names: NameCache;
  /** Default SEARCH_LIMITS. */
  limits?: SearchLimits;
}

/** Keeps the names that documents contain. */
const OWN_NAMES: NameLookup = { get: () => null };

interface Parts {
  all: Uint8Array[];
  derived: boolean;
}

interface Written {
  out: ByteBuffer;
  written: number;
  missing: Assembler['missing'];
}

/** Field 1 holds the records in GetXResponse, RecordRead, ListXResponse and BatchGetRecordsResponse. */
const DATA_TAG = 0x0a;
const NEXT_TAG = 0x12;
/** `alone: true` in RecordRead. */
const ALONE = Uint8Array.of(0x10, 1);

export class RecordReader {
  readonly #table: Table;
  readonly #database: Database;
  readonly #names: NameCache;
  readonly #limits: SearchLimits;
  readonly #detail: string;
  readonly #details: string;
  readonly #large: string;
  readonly #idColumn: Column | undefined;
  readonly #replaced: ReadonlySet<number>;

  constructor(table: Table, { database, names, limits = SEARCH_LIMITS }: ReaderOptions) {
    this.#limits = limits;
    this.#table = table;
    this.#database = database;
    this.#names = names;
    this.#idColumn = table.columns.find(({ name }) => name === 'id');
    this.#replaced = replacedFields(table);
    const onRead = table.onRead?.columns ?? [];
    const columns = ['document', 'derived', ...onRead];
    this.#detail = `select ${columns.join(', ')} from ${table.table} where company_id = $1 and id = $2`;
    // The limit forces the planner to look the keys up one by one.
    this.#details = `select k.n, r.* from unnest($1::uuid[], $2::${idType(table)}[]) with ordinality k(company_id, id, n),
      lateral (select ${[smallDocument(table, 't', '$3::int'), ...onRead].join(', ')} from ${table.table} t
        where t.company_id = k.company_id and t.id = k.id limit 1) r`;
    this.#large = largeStatement(table.table, idType(table), columns);
  }

  /** One page: ListXResponse. It ends early before its records exceed PAGE_BYTES. Errors: 503 if PostgreSQL is unreachable. */
  async list(request: ListRequest, call: Answering): Promise<Buffer> {
    const page = await this.#page(request);
    const { rows } = page;
    const write = (): Promise<Buffer> => this.#written(request, page);
    return hasLarge(rows, this.#table.order.length) ? inTurn(request.collection.company_id, call, write) : write();
  }

  async #written({ collection }: ListRequest, { rows, endedAt }: Found): Promise<Buffer> {
    const { company_id: companyId, time_zone: timeZone, limit } = collection;
    const keys = this.#table.order.length;
    const page = await this.#withLarge(companyId, rows.slice(0, limit), keys, PAGE_BYTES);
    const records = page.map((row) => this.#parts(row, keys, timeZone));
    const { out, written } = await this.#assemble(companyId, records);
    const last = rows.length > written ? rows[written - 1] : endedAt;
    if (last !== undefined) {
      const next = encodePosition(last.slice(0, keys) as Buffer[], idType(this.#table));
      out.byte(NEXT_TAG);
      out.varint(next.length);
      out.append(next);
    }
    return out.view();
  }

  /** Reads a page's rows. A closed gate makes the result empty: then this throws 503 with the reason, or reads again if the gate has opened since. */
  async #page(asked: ListRequest): Promise<Found> {
    const { company_id: companyId } = asked.collection;
    const database = this.#database.of(companyId);
    const request = await decide(this.#table, database, asked);
    const terms = termsOf(this.#table, request);
    const read = async (): Promise<Found> => {
      if (terms.length > 0) return findPage(database, { table: this.#table, request, terms, limits: this.#limits });
      return { rows: await database.queryBinary(listStatement(this.#table, request)) };
    };
    const page = await read();
    const gate = page.rows.length === 0 ? gateOf(this.#table, request) : undefined;
    if (gate === undefined) return page;
    await passGate(database, this.#table, companyId, gate);
    const again = await read();
    if (again.rows.length === 0) await passGate(database, this.#table, companyId, gate);
    return again;
  }

  /** One record: GetXResponse. Errors: 404, the same for a missing record and another company's. */
  async detail(key: Key): Promise<Buffer> {
    const { company_id: companyId, time_zone: timeZone } = key;
    const values = [storedUnder(this.#table, companyId), this.#idOf(key)];
    const statement = { name: `detail_${this.#table.table}`, text: this.#detail, values };
    const [row] = await this.#database.of(companyId).queryBinary(statement);
    if (row === undefined) throw ApiError.notFound();
    const { out } = await this.#assemble(companyId, [this.#parts(row, 0, timeZone)]);
    return out.view();
  }

  /**
   * Several records of any companies: BatchGetRecordsResponse. Large ones are left to their own rpc. Look-ups by key are too cheap to count
   * toward companies' shares of connections.
   */
  async details(keys: readonly Key[]): Promise<Buffer> {
    const found = new Array<Parts | 'large' | undefined>(keys.length);
    for (const row of await this.#database.queryBinary(this.#detailsStatement(keys, LARGE_DOCUMENT))) {
      const index = ordinalOf(row);
      found[index] = row[1] === null ? 'large' : this.#parts(row, 1, (keys[index] as Key).time_zone);
    }
    return this.#reads(keys, found);
  }

  /**
   * The first of these records of one company, at least one, as many as have `most` bytes together: BatchGetRecordsResponse, shorter than
   * `keys` if the others were not read.
   */
  async firstOf(keys: readonly Key[], most: number): Promise<Buffer> {
    const [{ company_id: companyId, time_zone: timeZone }] = keys as readonly [Key];
    const rows = new Array<BinaryRow>(keys.length).fill(NO_ROW);
    for (const row of await this.#database.of(companyId).queryBinary(this.#detailsStatement(keys, LARGE_OF_MANY))) rows[ordinalOf(row)] = row;
    const read = await this.#withLarge(companyId, rows, 1, most, keys);
    return this.#reads(
      keys.slice(0, read.length),
      read.map((row) => this.#parts(row, 1, timeZone)),
      most,
    );
  }

  /** Reads the large documents that a statement left out, of which the id is in the column before or in `keys`. */
  #withLarge(companyId: string, rows: readonly BinaryRow[], at: number, most: number, keys?: readonly Key[]): Promise<readonly BinaryRow[]> {
    const { table } = this.#table;
    const type = idType(this.#table);
    const idAt = (index: number): string => {
      if (keys !== undefined) return this.#idOf(keys[index] as Key);
      const id = (rows[index] as BinaryRow)[at - 1] as Buffer;
      return type === 'uuid' ? uuidOf(id) : id.toString('utf8');
    };
    return withLarge(rows, at, (indexes) => {
      const values = [storedUnder(this.#table, companyId), binaryArrays[type](indexes.map(idAt)), most];
      return this.#database.of(companyId).queryBinary({ name: `large_${table}`, text: this.#large, values });
    });
  }

  async #reads(keys: readonly Key[], found: readonly (Parts | 'large' | undefined)[], most?: number): Promise<Buffer> {
    const first = this.#writeReads(keys, found, (companyId) => this.#names.of(companyId), most);
    const lacking = [...first.assemblers].filter(([, { missing }]) => missing.size > 0);
    const fetched = new Map<string, NameLookup>();
    await Promise.all(
      lacking.map(async ([companyId, { missing }]) => fetched.set(companyId, await this.#names.fetch(companyId, missing, this.#database.of(companyId)))),
    );
    const latest = (companyId: string): NameLookup => fetched.get(companyId) ?? this.#names.of(companyId);
    const { out } = lacking.length === 0 ? first : this.#writeReads(keys, found, latest, most);
    return (out.length > MOST_WITH_NAMES ? this.#writeReads(keys.slice(0, 1), found, () => OWN_NAMES, most).out : out).view();
  }

  #detailsStatement(keys: readonly Key[], large: number): Statement {
    const { table } = this.#table;
    const companies = binaryArrays.uuid(keys.map((key) => storedUnder(this.#table, key.company_id)));
    const ids = binaryArrays[idType(this.#table)](keys.map((key) => this.#idOf(key)));
    return { name: `details_${table}`, text: this.#details, values: [companies, ids, large] };
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
    const { out } = await this.#assemble(companyId, [{ all: [document, derived], derived: true }], tx);
    return out.view();
  }

  #parts(row: BinaryRow, keys: number, timeZone: string): Parts | undefined {
    if (row === NO_ROW) return undefined;
    const all: Uint8Array[] = [row[keys] as Buffer];
    const derived = row[keys + 1];
    if (derived != null) all.push(derived);
    const fragment = this.#table.onRead?.fragment((index) => row[keys + 2 + index] ?? null, timeZone);
    if (fragment !== undefined) all.push(fragment);
    return { all, derived: derived != null };
  }

  /** `written` is the number of records that fit into a page. */
  async #assemble(companyId: string, records: readonly (Parts | undefined)[], through: Queryable = this.#database.of(companyId)): Promise<Written> {
    let result = this.#write(records, this.#names.of(companyId));
    const fitting = result.written === records.length ? records : records.slice(0, result.written);
    if (result.missing.size > 0) result = this.#write(fitting, await this.#names.fetch(companyId, result.missing, through));
    return result.out.length > MOST_WITH_NAMES ? this.#write(fitting, OWN_NAMES) : result;
  }

  #write(records: readonly (Parts | undefined)[], names: NameLookup): Written {
    const out = new ByteBuffer(roomFor(records));
    const assembler = new Assembler(this.#table.resource.record, out, names);
    const begin = out.length;
    let written = 0;
    for (const parts of records) {
      const end = out.length;
      if (parts !== undefined) this.#record(parts, assembler, out);
      if (out.length > PAGE_BYTES && end > begin) {
        out.length = end;
        break;
      }
      written += 1;
    }
    return { out, written, missing: assembler.missing };
  }

  /**
   * Writes one RecordRead per key, empty if nothing was found. Each company's assembler reports the names it lacked. Beyond `most` bytes it
   * ends; without `most`, what does not fit is left to its own rpc.
   */
  #writeReads(keys: readonly Key[], found: readonly (Parts | 'large' | undefined)[], namesOf: (companyId: string) => NameLookup, most?: number) {
    const out = new ByteBuffer(roomFor(found));
    const assemblers = new Map<string, Assembler>();
    for (const [index, { company_id: companyId }] of keys.entries()) {
      let assembler = assemblers.get(companyId);
      if (assembler === undefined) assemblers.set(companyId, (assembler = new Assembler(this.#table.resource.record, out, namesOf(companyId))));
      const parts = found[index];
      const end = out.length;
      out.byte(DATA_TAG);
      const start = out.open();
      if (parts === 'large') out.append(ALONE);
      else if (parts !== undefined) this.#record(parts, assembler, out);
      if (most === undefined && out.length > PAGE_BYTES) {
        out.length = start;
        out.append(ALONE);
      } else if (most !== undefined && index > 0 && out.length > most) {
        out.length = end;
        break;
      }
      out.close(start);
    }
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
function roomFor(records: readonly (Parts | 'large' | undefined)[]): number {
  let size = 64;
  for (const parts of records) if (typeof parts === 'object') for (const part of parts.all) size += part.length + 64;
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
