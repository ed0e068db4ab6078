import { Assembler } from './assemble.ts';
import { ByteBuffer } from './byte-buffer.ts';
import type { Changed, Table } from './table.ts';

/** Numbers of the fields that come from the derived part, if a record has one. */
export function replacedFields({ derivedFields = [], resource }: Pick<Table, 'derivedFields' | 'resource'>): ReadonlySet<number> {
  return new Set(derivedFields.map((name) => resource.record.byName.get(name)?.number ?? 0));
}

/**
 * A record as a read returns it, except that it lacks the fields that depend on the time of reading, and references keep their
 * stored names: names are published on their own topic.
 */
export function asRead<R>(table: Table<R>, { document, derived }: Pick<Changed<R>, 'document' | 'derived'>): Uint8Array {
  if (derived === undefined) return document;
  const out = new ByteBuffer(document.length + derived.length + 256);
  const assembler = new Assembler(table.resource.record, out, { get: () => null });
  assembler.record([asBuffer(document), asBuffer(derived)], replacedFields(table));
  return out.view();
}

/** The assembler needs Buffers to read text; an encoder returns plain arrays. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
