// JSON straight from protobuf wire bytes. Decoding a page into objects and stringifying them costs many times as much
// (docs/adr/0002); no object is made here, and uuids, dates and texts are copied as the bytes that they are.
import type { JsonBuffer, Text } from './json-buffer.ts';
import {
  BOOLEAN,
  BYTES,
  CURSOR,
  ENUM,
  INTEGER,
  LIST,
  MESSAGE,
  NUMBER,
  PLAIN,
  STRING,
  TIMESTAMP,
  dateText,
  planOf,
  type FieldPlan,
  type KeyStyle,
  type Plan,
} from './json-plan.ts';
import { codec } from './operation.ts';
import type { Shape } from './shape.ts';

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const FIXED32 = 5;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const ZERO = 0x30;
/** A control character is one byte on the wire and six in JSON. */
const MOST_GROWTH = 6;
const DAY = 86_400_000_000;

/** A position in the list of an operation as the cursor that clients get: ASCII without quotes. */
export type SealCursor = (position: Uint8Array, operation: string) => string;

const noCursors: SealCursor = (_, operation) => {
  throw new Error(`nothing here seals cursors of ${operation}`);
};

/**
 * Reads wire bytes and writes JSON. One instance serves one thread; it keeps no state between calls. Room is reserved
 * once for each object and each element of a list, and not for every byte: see Plan.room.
 */
export class JsonWriter {
  readonly #style: KeyStyle;
  readonly #seal: SealCursor;
  #in: Uint8Array = new Uint8Array();
  #inData: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;
  #buffer: JsonBuffer | undefined;
  #out: Uint8Array = new Uint8Array();
  #outData: DataView = new DataView(new ArrayBuffer(0));
  #to = 0;

  constructor(style: KeyStyle = 'snake', seal: SealCursor = noCursors) {
    this.#style = style;
    this.#seal = seal;
  }

  /** Appends the message in bytes[start, end) as a JSON object. Unknown fields are left out. */
  write(shape: Shape, bytes: Uint8Array, start: number, end: number, out: JsonBuffer): void {
    this.#read(bytes, start);
    this.#buffer = out;
    this.#out = out.bytes;
    this.#outData = out.data;
    this.#to = out.length;
    this.#object(planOf(shape, this.#style), end);
    out.length = this.#to;
  }

  #read(bytes: Uint8Array, start: number): void {
    this.#in = bytes;
    this.#inData = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = start;
  }

  #reserve(more: number): void {
    if (this.#to + more <= this.#out.length) return;
    const buffer = this.#buffer as JsonBuffer;
    buffer.length = this.#to;
    buffer.reserve(more);
    this.#out = buffer.bytes;
    this.#outData = buffer.data;
  }

  #object(plan: Plan, end: number): void {
    const start = this.#at;
    const begin = this.#to;
    const { fields, byNumber } = plan;
    this.#reserve(plan.room + (end - start) * MOST_GROWTH);
    if (fields.length === 0) this.#out[this.#to++] = 0x7b;
    let next = 0;
    while (this.#at < end) {
      const tag = this.#varint();
      const field = byNumber[tag >>> 3];
      if (field === undefined) {
        this.#skip(tag & 7);
        continue;
      }
      if (field.index < next) {
        this.#to = begin;
        this.#disordered(plan, start, end);
        return;
      }
      while (next < field.index) this.#text((fields[next++] as FieldPlan).absent);
      this.#text(field.key);
      if (field.repeated) this.#array(field, tag, end);
      else this.#value(field);
      // What is nested takes more than this object reserved.
      if (field.repeated || field.shape !== undefined || field.cursorOf !== undefined) this.#reserve(plan.room + (end - this.#at) * MOST_GROWTH);
      next++;
    }
    while (next < fields.length) this.#text((fields[next++] as FieldPlan).absent);
    this.#out[this.#to++] = 0x7d;
  }

  /** Fields out of order or twice: decode (which merges, as protobuf says), encode in order, write that. */
  #disordered(plan: Plan, start: number, end: number): void {
    const { encode, decode } = codec(plan.shape.typeName);
    const bytes = this.#in;
    const ordered = encode(decode(bytes.subarray(start, end))).finish();
    this.#read(ordered, 0);
    this.#object(plan, ordered.length);
    this.#read(bytes, end);
  }

  /** The elements and the closing bracket; the key has opened it. */
  #array(field: FieldPlan, tag: number, end: number): void {
    const packed = (tag & 7) === DELIMITED && field.kind === ENUM;
    let first = true;
    for (;;) {
      const stop = packed ? this.#varint() + this.#at : this.#at + 1;
      while (this.#at < stop) {
        this.#reserve(field.room + (end - this.#at) * MOST_GROWTH);
        if (!first) this.#out[this.#to++] = COMMA;
        first = false;
        this.#value(field);
      }
      const before = this.#at;
      if (before >= end || this.#varint() !== tag) {
        this.#at = before;
        break;
      }
    }
    this.#reserve(1);
    this.#out[this.#to++] = 0x5d;
  }

  /** A list's wrapper as the list itself. */
  #list(field: FieldPlan): void {
    const end = this.#varint() + this.#at;
    const values = this.#planOf(field).fields[0] as FieldPlan;
    if (this.#at >= end) return this.#text(values.nothing);
    this.#out[this.#to++] = 0x5b;
    this.#array(values, this.#varint(), end);
  }

  #planOf(field: FieldPlan): Plan {
    return (field.plan ??= planOf(field.shape as Shape, this.#style));
  }

  #value(field: FieldPlan): void {
    switch (field.kind) {
      case PLAIN:
        return this.#plain();
      case STRING:
        return this.#string();
      case MESSAGE: {
        const end = this.#varint() + this.#at;
        return this.#object(this.#planOf(field), end);
      }
      case LIST:
        return this.#list(field);
      case TIMESTAMP:
        return this.#timestamp(this.#int64());
      case INTEGER:
        return this.#integer(this.#int64());
      case BOOLEAN:
        return this.#text(field.spellings[this.#varint() === 0 ? 0 : 1] as Text);
      case ENUM: {
        const spelling = field.spellings[this.#varint()];
        // A newer peer's value has no name here yet; clients are told to expect values that they do not know.
        return spelling === undefined ? this.#ascii('"UNRECOGNIZED"') : this.#text(spelling);
      }
      case NUMBER: {
        const value = this.#inData.getFloat64(this.#at, true);
        this.#at += 8;
        return Number.isInteger(value) ? this.#integer(value) : this.#ascii(String(value));
      }
      case CURSOR: {
        const end = this.#varint() + this.#at;
        const text = `"${this.#seal(this.#in.subarray(this.#at, end), field.cursorOf as string)}"`;
        this.#at = end;
        this.#reserve(text.length);
        return this.#ascii(text);
      }
      case BYTES:
        throw new Error('bytes are never public');
    }
  }

  /** A string in which nothing must be escaped. */
  #plain(): void {
    const size = this.#varint();
    const [inData, outData] = [this.#inData, this.#outData];
    const end = this.#at + size;
    let [at, to] = [this.#at, this.#to];
    this.#out[to++] = QUOTE;
    for (; at + 8 <= end; at += 8, to += 8) outData.setFloat64(to, inData.getFloat64(at, true), true);
    if (at + 4 <= end) {
      outData.setInt32(to, inData.getInt32(at, true), true);
      at += 4;
      to += 4;
    }
    while (at < end) this.#out[to++] = this.#in[at++] as number;
    this.#out[to++] = QUOTE;
    this.#at = end;
    this.#to = to;
  }

  #string(): void {
    const size = this.#varint();
    const [inData, outData] = [this.#inData, this.#outData];
    const end = this.#at + size;
    this.#out[this.#to++] = QUOTE;
    while (this.#at + 4 <= end) {
      const word = inData.getInt32(this.#at, true);
      if (mustEscape(word)) {
        this.#characters(this.#at + 4);
        continue;
      }
      outData.setInt32(this.#to, word, true);
      this.#at += 4;
      this.#to += 4;
    }
    this.#characters(end);
    this.#out[this.#to++] = QUOTE;
  }

  /** Up to `end`, one byte after the other. */
  #characters(end: number): void {
    while (this.#at < end) {
      const byte = this.#in[this.#at++] as number;
      if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) this.#out[this.#to++] = byte;
      else this.#ascii(JSON.stringify(String.fromCharCode(byte)).slice(1, -1));
    }
  }

  #timestamp(micros: number): void {
    const days = Math.floor(micros / DAY);
    const rest = micros - days * DAY;
    const seconds = Math.floor(rest / 1_000_000);
    const fraction = rest - seconds * 1_000_000;
    const minutes = (seconds / 60) | 0;
    const hours = (minutes / 60) | 0;
    this.#text(dateText(days));
    this.#digits(hours, 2, 0x3a);
    this.#digits(minutes - hours * 60, 2, 0x3a);
    this.#digits(seconds - minutes * 60, 2, fraction === 0 ? 0x5a : 0x2e);
    if (fraction !== 0) this.#digits(fraction, 6, 0x5a);
    this.#out[this.#to++] = QUOTE;
  }

  /** A number with leading zeros, and the character after it. */
  #digits(value: number, width: number, after: number): void {
    const out = this.#out;
    const end = this.#to + width;
    let rest = value;
    for (let at = end - 1; at >= this.#to; at--) {
      const tenth = (rest / 10) | 0;
      out[at] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
    out[end] = after;
    this.#to = end + 1;
  }

  #integer(value: number): void {
    if (value < 0 || value > 0x7fff_ffff) return this.#ascii(String(value));
    let width = 1;
    for (let bound = 10; value >= bound && width < 10; bound *= 10) width++;
    this.#digits(value, width, 0);
    this.#to--;
  }

  #text({ words, length }: Text): void {
    const data = this.#outData;
    let to = this.#to;
    for (let i = 0; i < words.length; i++, to += 8) data.setFloat64(to, words[i] as number, true);
    this.#to += length;
  }

  #ascii(text: string): void {
    for (let i = 0; i < text.length; i++) this.#out[this.#to++] = text.charCodeAt(i);
  }

  /** An unsigned varint below 2^32: tags, lengths, enums, booleans. */
  #varint(): number {
    const source = this.#in;
    let byte = source[this.#at++] as number;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = source[this.#at++] as number;
      if (shift < 32) value |= (byte & 0x7f) << shift;
    }
    return value >>> 0;
  }

  /** A signed varint within ±(2^53−1); the writers of our documents refuse what is beyond. */
  #int64(): number {
    const source = this.#in;
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = source[this.#at++] as number;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) break;
    }
    return (high | 0) * 0x1_0000_0000 + (low >>> 0);
  }

  #skip(wireType: number): void {
    if (wireType === VARINT) this.#int64();
    else if (wireType === FIXED64) this.#at += 8;
    else if (wireType === DELIMITED) this.#at = this.#varint() + this.#at;
    else if (wireType === FIXED32) this.#at += 4;
    else throw new Error(`wire type ${wireType} is not one that proto3 writes`);
  }
}

/** Whether any of four bytes is a control character, a quote or a backslash. */
function mustEscape(word: number): boolean {
  const control = (word - 0x2020_2020) & ~word;
  const quote = word ^ 0x2222_2222;
  const backslash = word ^ 0x5c5c_5c5c;
  const others = ((quote - 0x0101_0101) & ~quote) | ((backslash - 0x0101_0101) & ~backslash);
  return ((control | others) & 0x8080_8080) !== 0;
}
