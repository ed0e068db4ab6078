// Assembles a record for a read from the stored document, its derived fields, and the fields that depend on the time of reading.
// Every reference gets the owner's latest name. Runs of wire bytes without references are copied in one go.
import { WireCursor, type Shape } from '@truckroll/contract';
import type { ByteBuffer } from './byte-buffer.ts';
import type { NameLookup } from './names.ts';

const NONE: ReadonlySet<number> = new Set();
const REFERENCE_ID = 0x0a;
const REFERENCE_NAME = 0x12;
/** Slots of the cache of recently used names; a power of two. */
const KEPT = 128;

/** How a field is handled. A field without a step is copied unchanged. */
interface Step {
  refersTo?: string;
  nested?: Plan;
}
type Plan = readonly (Step | undefined)[];

interface Kept {
  kind: string;
  id: Uint8Array;
  name: Uint8Array | null;
}

const plans = new Map<Shape, Plan | undefined>();

/** By field number; undefined if no field contains a reference. */
function planOf(shape: Shape): Plan | undefined {
  if (plans.has(shape)) return plans.get(shape);
  const plan: (Step | undefined)[] = [];
  for (const field of shape.fields) {
    if (field.kind === 'reference' && field.refersTo !== undefined) plan[field.number] = { refersTo: field.refersTo };
    else if (field.kind === 'object') {
      const nested = planOf(field.shape as Shape);
      if (nested !== undefined) plan[field.number] = { nested };
    }
  }
  const useful = plan.length > 0 ? plan : undefined;
  plans.set(shape, useful);
  return useful;
}

/** Copies records of one shape. Collects the names missing from the cache, so that the caller can fetch them. */
export class Assembler {
  readonly #plan: Plan;
  readonly #out: ByteBuffer;
  readonly #names: NameLookup;
  readonly #kept: (Kept | undefined)[] = new Array<Kept | undefined>(KEPT).fill(undefined);
  /** Kind → ids that were not cached. */
  readonly missing = new Map<string, Set<string>>();

  constructor(shape: Shape, out: ByteBuffer, names: NameLookup) {
    this.#plan = planOf(shape) ?? [];
    this.#out = out;
    this.#names = names;
  }

  /**
   * Appends one record. `parts` are encoded fragments of it, each in field order. A field in a later part replaces the same field of
   * earlier parts. Fields of the first part whose numbers are in `without` are skipped.
   */
  record(parts: readonly Uint8Array[], without: ReadonlySet<number> = NONE): void {
    const cursors = parts.map((part) => new WireCursor(part));
    for (;;) {
      const [first] = cursors;
      while (first !== undefined && without.has(first.field)) first.skipField();
      let winner: WireCursor | undefined;
      for (const cursor of cursors) {
        if (cursor.field !== 0 && (winner === undefined || cursor.field <= winner.field)) winner = cursor;
      }
      if (winner === undefined) return;
      const { field } = winner;
      for (const cursor of cursors) if (cursor !== winner && cursor.field === field) cursor.skipField();
      this.#fields(winner, this.#plan, winner === first && without.size > 0 ? field + 1 : this.#nextOther(cursors, winner));
    }
  }

  /** The smallest field number left in another part: up to there the winner can be copied in one go. */
  #nextOther(cursors: readonly WireCursor[], winner: WireCursor): number {
    let next = Infinity;
    for (const cursor of cursors) if (cursor !== winner && cursor.field !== 0 && cursor.field < next) next = cursor.field;
    return next;
  }

  /** Copies fields numbered below `before`, in runs that end where something must be rewritten. */
  #fields(cursor: WireCursor, plan: Plan, before: number): void {
    const out = this.#out;
    let runStart = cursor.start;
    for (; cursor.field !== 0 && cursor.field < before; cursor.advance()) {
      const step = plan[cursor.field];
      if (step === undefined) continue;
      const name = step.refersTo === undefined ? undefined : this.#changedName(step.refersTo, cursor);
      if (step.nested === undefined && name === undefined) continue;
      // Through the tag; the length is rewritten.
      out.copy(cursor.bytes, runStart, cursor.start + (cursor.field < 16 ? 1 : 2));
      const begin = out.open();
      if (step.nested !== undefined) this.#fields(new WireCursor(cursor.bytes, cursor.body, cursor.end), step.nested, Infinity);
      else this.#reference(cursor, name as Uint8Array);
      out.close(begin);
      runStart = cursor.end;
    }
    out.copy(cursor.bytes, runStart, cursor.start);
  }

  #reference({ bytes, body }: WireCursor, name: Uint8Array): void {
    const out = this.#out;
    out.copy(bytes, body, idEndOf(bytes, body));
    if (name.length === 0) return;
    out.byte(REFERENCE_NAME);
    out.varint(name.length);
    out.append(name);
  }

  /** The name that must replace the one in the document; undefined if the document's is current. */
  #changedName(kind: string, { bytes, body, end }: WireCursor): Uint8Array | undefined {
    if (body === end || bytes[body] !== REFERENCE_ID) return undefined;
    const idEnd = idEndOf(bytes, body);
    const name = this.#nameOf(kind, bytes, body + 2, idEnd);
    if (name === undefined || name === null) return undefined;
    return endsWith(bytes, idEnd, end, name) ? undefined : name;
  }

  /** Most references of a page repeat a few ids: they are recognized by their bytes, without creating a string. */
  #nameOf(kind: string, bytes: Uint8Array, start: number, end: number): Uint8Array | null | undefined {
    let hash = kind.length;
    for (let at = start; at < end; at += 5) hash = (hash * 31 + (bytes[at] as number)) | 0;
    const slot = hash & (KEPT - 1);
    const kept = this.#kept[slot];
    if (kept !== undefined && kept.kind === kind && equal(kept.id, bytes, start, end)) return kept.name;
    const id = (bytes as Buffer).toString('latin1', start, end);
    const name = this.#names.get(kind, id);
    if (name === undefined) this.#miss(kind, id);
    else this.#kept[slot] = { kind, id: bytes.subarray(start, end), name };
    return name;
  }

  #miss(kind: string, id: string): void {
    let ids = this.missing.get(kind);
    if (ids === undefined) this.missing.set(kind, (ids = new Set()));
    ids.add(id);
  }
}

/** A Reference is an id, then a name, each with a tag and a length; the id's length is below 128. */
function idEndOf(bytes: Uint8Array, body: number): number {
  return body + 2 + (bytes[body + 1] as number);
}

function endsWith(bytes: Uint8Array, idEnd: number, end: number, name: Uint8Array): boolean {
  const start = end - name.length;
  if (name.length === 0) return idEnd === end;
  const lengthSize = name.length < 0x80 ? 1 : name.length < 0x4000 ? 2 : 3;
  return start === idEnd + 1 + lengthSize && equal(name, bytes, start, end);
}

function equal(text: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (text[i] !== bytes[start + i]) return false;
  return true;
}
