// Writes JSON directly from protobuf wire bytes: decoding a page into objects and stringifying them costs many times as much (docs/adr/0002).
import type { JsonBuffer, Text } from './json-buffer.ts';
import {
  BOOLEAN,
  CURSOR,
  ENUM,
  INTEGER,
  LIST,
  MESSAGE,
  NUMBER,
  PLAIN,
  RAW,
  STRING,
  TIMESTAMP,
  planOf,
  type FieldPlan,
  type KeyStyle,
  type JsonPlan,
} from './json-plan.ts';
import { ascii, instant, integer, plain, raw, string, text } from './json-values.ts';
import { codec } from './operation.ts';
import type { Shape } from './shape.ts';

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const FIXED32 = 5;
const COMMA = 0x2c;
/** A control character is one byte on the wire and six in JSON. */
const MOST_GROWTH = 6;

/** Turns a position in an operation's list into the cursor that clients get: ASCII without quotes. */
export type SealCursor = (position: Uint8Array, operation: string) => string;

const noCursors: SealCursor = (_, operation) => {
  throw new Error(`this writer cannot seal cursors of ${operation}`);
};

/** Use one instance per thread; it keeps no state between calls. Positions are arguments: as fields they would be stored and loaded for every byte. */
export class JsonWriter {
  readonly #style: KeyStyle;
  readonly #seal: SealCursor;
  #in: Uint8Array = new Uint8Array();
  #inData: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;
  #buffer: JsonBuffer | undefined;
  #out: Uint8Array = new Uint8Array();
  #outData: DataView = new DataView(new ArrayBuffer(0));

  constructor(style: KeyStyle = 'snake', seal: SealCursor = noCursors) {
    this.#style = style;
    this.#seal = seal;
  }

  /** Appends the message in bytes[start, end) as a JSON object. Unknown fields are omitted. */
  write(shape: Shape, bytes: Uint8Array, start: number, end: number, out: JsonBuffer): void {
    this.#read(bytes);
    this.#buffer = out;
    this.#out = out.bytes;
    this.#outData = out.data;
    out.length = this.#object(planOf(shape, this.#style), start, end, out.length);
  }

  #read(bytes: Uint8Array): void {
    this.#in = bytes;
    this.#inData = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #reserve(to: number, more: number): void {
    if (to + more <= this.#out.length) return;
    const buffer = this.#buffer as JsonBuffer;
    buffer.length = to;
    buffer.reserve(more);
    this.#out = buffer.bytes;
    this.#outData = buffer.data;
  }

  /** Writes the message in bytes [from, end). Like the methods below, it writes at a given position and returns the end position. */
  #object(plan: JsonPlan, from: number, end: number, begin: number): number {
    const { fields, byNumber } = plan;
    this.#reserve(begin, plan.room + (end - from) * MOST_GROWTH);
    const bytes = this.#in;
    let data = this.#outData;
    let at = from;
    let to = begin;
    let next = 0;
    if (fields.length === 0) data.setUint8(to++, 0x7b);
    while (at < end) {
      let tag = bytes[at++] as number;
      if (tag >= 0x80) {
        tag = this.#varint(at - 1);
        at = this.#at;
      }
      const field = byNumber[tag >>> 3];
      if (field === undefined) {
        at = this.#skip(tag & 7, at);
        continue;
      }
      if (field.index < next) return this.#disordered(plan, from, end, begin);
      while (next < field.index) to = text(data, to, (fields[next++] as FieldPlan).absent);
      next++;
      to = text(data, to, field.key);
      if (field.repeated) to = this.#array(field, tag, at, end, to);
      else to = this.#value(field, at, to);
      at = this.#at;
      if (field.shape === undefined && field.cursorOf === undefined && !field.repeated) continue;
      // The nested value has used more than this object reserved.
      this.#reserve(to, plan.room + (end - at) * MOST_GROWTH);
      data = this.#outData;
    }
    while (next < fields.length) to = text(data, to, (fields[next++] as FieldPlan).absent);
    data.setUint8(to, 0x7d);
    return to + 1;
  }

  /** For fields out of order or repeated: decodes (which merges, as protobuf requires), encodes in order, and writes that. */
  #disordered(plan: JsonPlan, start: number, end: number, begin: number): number {
    const { encode, decode } = codec(plan.shape.typeName);
    const bytes = this.#in;
    const ordered = encode(decode(bytes.subarray(start, end))).finish();
    this.#read(ordered);
    const to = this.#object(plan, 0, ordered.length, begin);
    this.#read(bytes);
    return to;
  }

  #array(field: FieldPlan, tag: number, start: number, end: number, begin: number): number {
    const packed = (tag & 7) === DELIMITED && field.kind === ENUM;
    let to = begin;
    let at = start;
    let first = true;
    for (;;) {
      const stop = packed ? this.#varint(at) + this.#at : at + 1;
      if (packed) at = this.#at;
      while (at < stop) {
        this.#reserve(to, field.room + (end - at) * MOST_GROWTH);
        if (!first) this.#out[to++] = COMMA;
        first = false;
        to = this.#value(field, at, to);
        at = this.#at;
      }
      if (at >= end || this.#varint(at) !== tag) break;
      at = this.#at;
    }
    this.#at = at;
    this.#reserve(to, 1);
    this.#out[to] = 0x5d;
    return to + 1;
  }

  #list(field: FieldPlan, at: number, to: number): number {
    const end = this.#varint(at) + this.#at;
    const values = this.#planOf(field).fields[0] as FieldPlan;
    if (this.#at >= end) return text(this.#outData, to, values.nothing);
    this.#out[to] = 0x5b;
    const tag = this.#varint(this.#at);
    return this.#array(values, tag, this.#at, end, to + 1);
  }

  #planOf(field: FieldPlan): JsonPlan {
    return (field.plan ??= planOf(field.shape as Shape, this.#style));
  }

  #value(field: FieldPlan, at: number, to: number): number {
    switch (field.kind) {
      case PLAIN: {
        const start = this.#body(at);
        return plain(this.#inData, start, this.#at, this.#outData, to);
      }
      case STRING: {
        const start = this.#body(at);
        return string(this.#inData, start, this.#at, this.#outData, to);
      }
      case RAW: {
        const start = this.#body(at);
        return raw(this.#inData, start, this.#at, this.#outData, to);
      }
      case MESSAGE: {
        const start = this.#body(at);
        const end = this.#at;
        const ended = this.#object(this.#planOf(field), start, end, to);
        this.#at = end;
        return ended;
      }
      case LIST:
        return this.#list(field, at, to);
      case TIMESTAMP:
        return instant(this.#outData, to, this.#int64(at));
      case INTEGER:
        return integer(this.#outData, to, this.#int64(at));
      case BOOLEAN:
        return text(this.#outData, to, field.spellings[this.#varint(at) === 0 ? 0 : 1] as Text);
      case ENUM: {
        const spelling = field.spellings[this.#varint(at)];
        // A newer peer may send a value without a name here; clients are documented to expect unknown values.
        return spelling === undefined ? ascii(this.#outData, to, '"UNRECOGNIZED"') : text(this.#outData, to, spelling);
      }
      case NUMBER: {
        const value = this.#inData.getFloat64(at, true);
        this.#at = at + 8;
        return Number.isInteger(value) ? integer(this.#outData, to, value) : ascii(this.#outData, to, String(value));
      }
      case CURSOR: {
        const start = this.#body(at);
        const cursor = `"${this.#seal(this.#in.subarray(start, this.#at), field.cursorOf as string)}"`;
        this.#reserve(to, cursor.length);
        return ascii(this.#outData, to, cursor);
      }
      default:
        throw new Error('bytes are never public');
    }
  }

  #body(at: number): number {
    const size = this.#in[at] as number;
    if (size < 0x80) {
      this.#at = at + 1 + size;
      return at + 1;
    }
    const long = this.#varint(at);
    const start = this.#at;
    this.#at = start + long;
    return start;
  }

  /** Reads an unsigned varint below 2^32: tags, lengths, enums, booleans. */
  #varint(start: number): number {
    const source = this.#in;
    let at = start;
    let byte = source[at++] as number;
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = source[at++] as number;
      if (shift < 32) value |= (byte & 0x7f) << shift;
    }
    this.#at = at;
    return value >>> 0;
  }

  /** Reads a signed varint within ±(2^53−1); the writers of documents reject anything beyond. */
  #int64(start: number): number {
    const source = this.#in;
    let at = start;
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = source[at++] as number;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) break;
    }
    this.#at = at;
    return (high | 0) * 0x1_0000_0000 + (low >>> 0);
  }

  #skip(wireType: number, at: number): number {
    if (wireType === FIXED64) return at + 8;
    if (wireType === FIXED32) return at + 4;
    if (wireType !== VARINT && wireType !== DELIMITED) throw new Error(`wire type ${wireType} is not one that proto3 writes`);
    const size = this.#varint(at);
    return wireType === VARINT ? this.#at : this.#at + size;
  }
}
