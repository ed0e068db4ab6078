// JSON straight from protobuf wire bytes. Decoding a page into objects and stringifying them costs six times as much
// (docs/adr/0002); no object is made here, and uuids, dates and texts are copied as the bytes that they are.
import { codec } from './operation.ts';
import { civil } from './time.ts';
import type { Field, Shape } from './shape.ts';

/** A growing piece of JSON text. Reused between requests: see OutputPool in the gateway. */
export class JsonBuffer {
  bytes: Buffer;
  length = 0;

  constructor(size = 64 * 1024) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  /** Makes room for so many more bytes. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + more));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  /** Appends text that holds only ASCII and is JSON already. */
  ascii(text: string): void {
    this.reserve(text.length);
    this.length += this.bytes.write(text, this.length, 'latin1');
  }

  /** What has been written; valid until the buffer is written again. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}

interface FieldPlan {
  index: number;
  number: number;
  kind: Field['kind'];
  repeated: boolean;
  /** `"name":` */
  key: Uint8Array;
  /** What stands for a field that is not on the wire: null, a proto3 default or []. */
  absent: Uint8Array;
  /** Quoted spelling by enum number. */
  spellings: readonly (Uint8Array | undefined)[];
  /** Strings whose format allows no character that JSON must escape. */
  plain: boolean;
  shape: Shape | undefined;
}

interface Plan {
  fields: readonly FieldPlan[];
  byNumber: readonly (FieldPlan | undefined)[];
}

/** How keys are spelled: as the contract does, or in lowerCamelCase for `/api/v1`. */
export type KeyStyle = 'snake' | 'camel';

const plans: Record<KeyStyle, Map<Shape, Plan>> = { snake: new Map(), camel: new Map() };
const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const ABSENT: Partial<Record<Field['kind'], string>> = { boolean: 'false', cents: '0', integer: '0', number: '0' };
const PLAIN_FORMATS = new Set<string | undefined>(['phone', 'color', 'currency', 'revision', 'time_zone']);

/** `created_at` as `createdAt`. */
export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function planOf(shape: Shape, style: KeyStyle): Plan {
  const known = plans[style].get(shape);
  if (known !== undefined) return known;
  const fields = shape.fields.map((field, index): FieldPlan => {
    const spellings: (Uint8Array | undefined)[] = [];
    for (const [number, name] of field.enum?.names ?? []) spellings[number] = ascii(`"${name}"`);
    const text = field.kind === 'string' || field.kind === 'uuid' || field.kind === 'date' || field.kind === 'timestamp';
    const absent = field.repeated ? '[]' : field.nullable ? 'null' : (ABSENT[field.kind] ?? (text ? '""' : 'null'));
    return {
      index,
      number: field.number,
      kind: field.kind,
      repeated: field.repeated,
      key: ascii(`"${style === 'camel' ? camelCase(field.name) : field.name}":`),
      absent: ascii(!field.nullable && field.kind === 'timestamp' ? '"1970-01-01T00:00:00Z"' : absent),
      spellings,
      plain: field.kind === 'uuid' || field.kind === 'date' || PLAIN_FORMATS.has(field.format),
      shape: field.shape,
    };
  });
  const byNumber: (FieldPlan | undefined)[] = [];
  for (const field of fields) byNumber[field.number] = field;
  const plan = { fields, byNumber };
  plans[style].set(shape, plan);
  return plan;
}

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const FIXED32 = 5;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** Reads wire bytes and writes JSON. One instance serves one thread; it keeps no state between calls. */
export class JsonWriter {
  readonly #style: KeyStyle;
  #in: Uint8Array = new Uint8Array();
  #view: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;
  #out = new JsonBuffer(0);

  constructor(style: KeyStyle = 'snake') {
    this.#style = style;
  }

  /** Appends the message in bytes[start, end) as a JSON object. Unknown fields are left out. */
  write(shape: Shape, bytes: Uint8Array, start: number, end: number, out: JsonBuffer): void {
    this.#in = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = start;
    this.#out = out;
    this.#object(planOf(shape, this.#style), shape, end);
  }

  #object(plan: Plan, shape: Shape, end: number): void {
    const start = this.#at;
    const out = this.#out;
    const begin = out.length;
    const { fields, byNumber } = plan;
    this.#byte(0x7b);
    let next = 0;
    while (this.#at < end) {
      const tag = this.#varint();
      const field = byNumber[tag >>> 3];
      if (field === undefined) {
        this.#skip(tag & 7);
        continue;
      }
      if (field.index < next) {
        out.length = begin;
        this.#disordered(plan, shape, start, end);
        return;
      }
      while (next < field.index) this.#absent(fields[next++] as FieldPlan);
      if (next > 0) this.#byte(COMMA);
      this.#copy(field.key);
      if (field.repeated) this.#array(field, tag, end);
      else this.#value(field);
      next++;
    }
    while (next < fields.length) this.#absent(fields[next++] as FieldPlan);
    this.#byte(0x7d);
  }

  /** Fields out of order or twice: decode (which merges, as protobuf says), encode in order, write that. */
  #disordered(plan: Plan, shape: Shape, start: number, end: number): void {
    const { encode, decode } = codec(shape.typeName);
    const ordered = encode(decode(this.#in.subarray(start, end))).finish();
    const [bytes, view] = [this.#in, this.#view];
    this.#in = ordered;
    this.#view = new DataView(ordered.buffer, ordered.byteOffset, ordered.byteLength);
    this.#at = 0;
    this.#object(plan, shape, ordered.length);
    [this.#in, this.#view, this.#at] = [bytes, view, end];
  }

  #absent(field: FieldPlan): void {
    if (field.index > 0) this.#byte(COMMA);
    this.#copy(field.key);
    this.#copy(field.absent);
  }

  #array(field: FieldPlan, tag: number, end: number): void {
    this.#byte(0x5b);
    const packed = (tag & 7) === DELIMITED && field.kind === 'enum';
    let first = true;
    for (;;) {
      const stop = packed ? this.#varint() + this.#at : this.#at + 1;
      while (this.#at < stop) {
        if (!first) this.#byte(COMMA);
        first = false;
        this.#value(field);
      }
      const before = this.#at;
      if (before >= end || this.#varint() !== tag) {
        this.#at = before;
        break;
      }
    }
    this.#byte(0x5d);
  }

  /** A list's wrapper as the list itself. */
  #list(wrapper: Shape): void {
    const end = this.#varint() + this.#at;
    const values = planOf(wrapper, this.#style).fields[0] as FieldPlan;
    if (this.#at < end) this.#array(values, this.#varint(), end);
    else this.#copy(values.absent);
  }

  #value(field: FieldPlan): void {
    switch (field.kind) {
      case 'uuid':
      case 'date':
      case 'local_date':
      case 'string':
        return this.#string(field.plain);
      case 'reference':
      case 'object': {
        const end = this.#varint() + this.#at;
        const shape = field.shape as Shape;
        return this.#object(planOf(shape, this.#style), shape, end);
      }
      case 'list':
        return this.#list(field.shape as Shape);
      case 'timestamp':
        return this.#timestamp(this.#int64());
      case 'cents':
      case 'integer':
        return this.#integer(this.#int64());
      case 'boolean':
        return this.#out.ascii(this.#varint() === 0 ? 'false' : 'true');
      case 'enum': {
        const number = this.#varint();
        // A newer peer's value has no name here yet; clients are told to expect values that they do not know.
        const spelling = field.spellings[number];
        return spelling === undefined ? this.#out.ascii('"UNRECOGNIZED"') : this.#copy(spelling);
      }
      case 'number': {
        const value = this.#view.getFloat64(this.#at, true);
        this.#at += 8;
        return this.#out.ascii(String(value));
      }
      case 'bytes':
        throw new Error('bytes are never public');
    }
  }

  #string(plain: boolean): void {
    const size = this.#varint();
    const out = this.#out;
    const source = this.#in;
    const end = this.#at + size;
    // The worst case is six characters for one control character.
    out.reserve((plain ? size : size * 6) + 2);
    const target = out.bytes;
    let to = out.length;
    target[to++] = QUOTE;
    for (let from = this.#at; from < end; from++) {
      const byte = source[from] as number;
      if (plain || (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH)) {
        target[to++] = byte;
      } else {
        to += target.write(JSON.stringify(String.fromCharCode(byte)).slice(1, -1), to, 'latin1');
      }
    }
    target[to++] = QUOTE;
    out.length = to;
    this.#at = end;
  }

  #timestamp(micros: number): void {
    const out = this.#out;
    out.reserve(32);
    const days = Math.floor(micros / 86_400_000_000);
    const rest = micros - days * 86_400_000_000;
    const seconds = Math.floor(rest / 1_000_000);
    const fraction = rest - seconds * 1_000_000;
    const [year, month, day] = civil(days);
    this.#byte(QUOTE);
    this.#digits(year, 4, 0x2d);
    this.#digits(month, 2, 0x2d);
    this.#digits(day, 2, 0x54);
    this.#digits((seconds / 3600) | 0, 2, 0x3a);
    this.#digits(((seconds / 60) | 0) % 60, 2, 0x3a);
    this.#digits(seconds % 60, 2, fraction === 0 ? 0x5a : 0x2e);
    if (fraction !== 0) this.#digits(fraction, 6, 0x5a);
    this.#byte(QUOTE);
  }

  /** A number with leading zeros, and the character after it. Room is reserved by the caller. */
  #digits(value: number, width: number, after: number): void {
    const { bytes, length } = this.#out;
    let rest = value;
    for (let at = length + width - 1; at >= length; at--) {
      const tenth = (rest / 10) | 0;
      bytes[at] = 0x30 + rest - tenth * 10;
      rest = tenth;
    }
    bytes[length + width] = after;
    this.#out.length = length + width + 1;
  }

  #integer(value: number): void {
    const out = this.#out;
    if (value < 0 || value > 0x7fffffff) return out.ascii(String(value));
    out.reserve(10);
    let width = 1;
    for (let bound = 10; value >= bound && width < 10; bound *= 10) width++;
    let rest = value;
    for (let at = out.length + width - 1; at >= out.length; at--) {
      const tenth = (rest / 10) | 0;
      out.bytes[at] = 0x30 + rest - tenth * 10;
      rest = tenth;
    }
    out.length += width;
  }

  #byte(byte: number): void {
    const out = this.#out;
    if (out.length === out.bytes.length) out.reserve(1);
    out.bytes[out.length++] = byte;
  }

  #copy(text: Uint8Array): void {
    const out = this.#out;
    out.reserve(text.length);
    const { bytes, length } = out;
    for (let i = 0; i < text.length; i++) bytes[length + i] = text[i] as number;
    out.length = length + text.length;
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
