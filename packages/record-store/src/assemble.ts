// A record as it is read: the stored document, the derived fields that replace its own, what depends on the moment,
// and in every reference the owner's latest name. Works on wire bytes; fields without references are copied in runs.
import type { Shape } from '@truckroll/contract';
import type { NameLookup } from './names.ts';

/** Growing bytes, written front to back. */
export class ByteBuffer {
  bytes: Buffer;
  length = 0;

  constructor(size = 64 * 1024) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + more));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  copy(source: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.reserve(size);
    const { bytes, length } = this;
    if (size > 48) bytes.set(source.subarray(start, end), length);
    else for (let i = 0; i < size; i++) bytes[length + i] = source[start + i] as number;
    this.length = length + size;
  }

  varint(value: number): void {
    this.reserve(5);
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  /** Leaves room for the length of what follows; see close(). */
  open(): number {
    this.reserve(LENGTH_BYTES);
    this.length += LENGTH_BYTES;
    return this.length;
  }

  /** Writes the length of everything since open(), as a varint padded to the room that was left. */
  close(start: number): void {
    const size = this.length - start;
    for (let i = 0; i < LENGTH_BYTES; i++) {
      const more = i < LENGTH_BYTES - 1 ? 0x80 : 0;
      this.bytes[start - LENGTH_BYTES + i] = ((size >>> (7 * i)) & 0x7f) | more;
    }
  }
}

/** Enough for 256 MiB. Protobuf allows a varint longer than it needs to be. */
const LENGTH_BYTES = 4;
const NONE: ReadonlySet<number> = new Set();
const DELIMITED = 2;
const REFERENCE_ID = 0x0a;
const REFERENCE_NAME = 0x12;

/** What happens to a field: copied as it is unless it leads to a reference. */
interface Step {
  /** Kind of record that a reference points at. */
  refersTo?: string;
  nested?: Plan;
}
type Plan = readonly (Step | undefined)[];

const plans = new Map<Shape, Plan | undefined>();

/** By field number; undefined where no field leads to a reference. */
function planOf(shape: Shape): Plan | undefined {
  if (plans.has(shape)) return plans.get(shape);
  const plan: (Step | undefined)[] = [];
  for (const field of shape.fields) {
    if (field.kind === 'reference' && field.refersTo !== undefined) plan[field.number] = { refersTo: field.refersTo };
    else if (field.kind === 'object' && field.shape !== undefined) {
      const nested = planOf(field.shape);
      if (nested !== undefined) plan[field.number] = { nested };
    }
  }
  const useful = plan.some((step) => step !== undefined) ? plan : undefined;
  plans.set(shape, useful);
  return useful;
}

/** Copies records of one shape. Collects the names that the look-up did not know, so that they can be fetched. */
export class Assembler {
  readonly #plan: Plan;
  readonly #out: ByteBuffer;
  readonly #names: NameLookup;
  /** Kind → ids that were not cached. */
  readonly missing = new Map<string, Set<string>>();

  constructor(shape: Shape, out: ByteBuffer, names: NameLookup) {
    this.#plan = planOf(shape) ?? [];
    this.#out = out;
    this.#names = names;
  }

  /**
   * Appends one record. `parts` are encoded fragments of it, each in field order; a field that a later part has
   * replaces an earlier part's, and the first part's fields numbered in `without` are passed over.
   */
  record(parts: readonly Uint8Array[], without: ReadonlySet<number> = NONE): void {
    const cursors = parts.map((part) => new Cursor(part));
    for (;;) {
      const [first] = cursors;
      while (first !== undefined && without.has(first.field)) first.skipField();
      let winner: Cursor | undefined;
      for (const cursor of cursors) {
        if (cursor.field !== 0 && (winner === undefined || cursor.field <= winner.field)) winner = cursor;
      }
      if (winner === undefined) return;
      const { field } = winner;
      for (const cursor of cursors) if (cursor !== winner && cursor.field === field) cursor.skipField();
      this.#fields(winner, winner === first && without.size > 0 ? field + 1 : this.#nextOther(cursors, winner));
    }
  }

  /** The smallest field number that another part still has: up to there the winner can be copied in one go. */
  #nextOther(cursors: readonly Cursor[], winner: Cursor): number {
    let next = Infinity;
    for (const cursor of cursors) if (cursor !== winner && cursor.field !== 0 && cursor.field < next) next = cursor.field;
    return next;
  }

  #fields(cursor: Cursor, before: number): void {
    let runStart = cursor.start;
    while (cursor.field !== 0 && cursor.field < before) {
      const step = this.#plan[cursor.field];
      if (step === undefined) {
        cursor.advance();
        continue;
      }
      this.#out.copy(cursor.bytes, runStart, cursor.start);
      this.#step(step, cursor);
      cursor.advance();
      runStart = cursor.start;
    }
    this.#out.copy(cursor.bytes, runStart, cursor.start);
  }

  #step(step: Step, cursor: Cursor): void {
    const { bytes, start, body, end } = cursor;
    // The tag; the length is written anew.
    this.#out.copy(bytes, start, start + (cursor.field < 16 ? 1 : 2));
    if (step.refersTo !== undefined) this.#reference(step.refersTo, bytes, body, end);
    else this.#object(step.nested as Plan, bytes, body, end);
  }

  #object(plan: Plan, bytes: Uint8Array, start: number, end: number): void {
    const out = this.#out;
    const begin = out.open();
    const cursor = new Cursor(bytes, start, end);
    let runStart = start;
    while (cursor.field !== 0) {
      const step = plan[cursor.field];
      if (step !== undefined) {
        out.copy(bytes, runStart, cursor.start);
        this.#step(step, cursor);
        runStart = cursor.end;
      }
      cursor.advance();
    }
    out.copy(bytes, runStart, end);
    out.close(begin);
  }

  #reference(kind: string, bytes: Uint8Array, start: number, end: number): void {
    const out = this.#out;
    // Reference is id, then name, each a tag and a length below 128 for the id.
    const idSize = bytes[start] === REFERENCE_ID ? (bytes[start + 1] as number) : 0;
    const idEnd = start + 2 + idSize;
    const id = (bytes as Buffer).toString('latin1', start + 2, idEnd);
    const name = this.#names.get(kind, id);
    if (name === undefined) this.#miss(kind, id);
    if (name === undefined || name === null) {
      out.varint(end - start);
      out.copy(bytes, start, end);
      return;
    }
    const begin = out.open();
    out.copy(bytes, start, idEnd);
    if (name.length > 0) {
      out.reserve(1);
      out.bytes[out.length++] = REFERENCE_NAME;
      out.varint(name.length);
      out.copy(name, 0, name.length);
    }
    out.close(begin);
  }

  #miss(kind: string, id: string): void {
    let ids = this.missing.get(kind);
    if (ids === undefined) this.missing.set(kind, (ids = new Set()));
    ids.add(id);
  }
}

/** Walks the fields of an encoded message. */
class Cursor {
  readonly bytes: Uint8Array;
  readonly #stop: number;
  /** Number of the field at hand; 0 at the end. */
  field = 0;
  /** Where its tag begins, its content begins, and it ends. */
  start: number;
  body = 0;
  end: number;

  constructor(bytes: Uint8Array, start = 0, stop = bytes.length) {
    this.bytes = bytes;
    this.#stop = stop;
    this.start = start;
    this.end = start;
    this.advance();
  }

  /** To the next field. */
  advance(): void {
    this.start = this.end;
    if (this.start >= this.#stop) {
      this.field = 0;
      return;
    }
    this.body = this.start;
    const tag = this.#varint();
    this.field = tag >>> 3;
    switch (tag & 7) {
      case 0:
        this.end = this.body;
        while ((this.bytes[this.end++] as number) >= 0x80);
        break;
      case 1:
        this.end = this.body + 8;
        break;
      case DELIMITED:
        this.end = this.#varint() + this.body;
        break;
      case 5:
        this.end = this.body + 4;
        break;
      default:
        throw new Error(`field ${this.field} of a stored document has wire type ${tag & 7}`);
    }
  }

  /** Past every occurrence of the field at hand. */
  skipField(): void {
    const { field } = this;
    while (this.field === field) this.advance();
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.body++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}
