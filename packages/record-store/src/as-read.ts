// A record as it is read, as it is published.
import { Assembler } from './assemble.ts';
import { ByteBuffer } from './byte-buffer.ts';
import type { Changed, Table } from './table.ts';

/** Numbers of the fields that come from the derived part where there is one. */
export function replacedFields({ derivedFields = [], resource }: Pick<Table, 'derivedFields' | 'resource'>): ReadonlySet<number> {
  return new Set(derivedFields.map((name) => resource.record.byName.get(name)?.number ?? 0));
}

/**
 * A record as a read returns it, but without what depends on the moment, and with the names that it was recorded with:
 * names have a topic of their own.
 */
export function asRead<R>(table: Table<R>, { document, derived }: Pick<Changed<R>, 'document' | 'derived'>): Uint8Array {
  if (derived === undefined) return document;
  const out = new ByteBuffer(document.length + derived.length + 256);
  const assembler = new Assembler(table.resource.record, out, { get: () => null });
  assembler.record([asBuffer(document), asBuffer(derived)], replacedFields(table as Table<any> as Table));
  return out.view();
}

/** The assembler reads texts out of buffers; an encoder gives plain arrays. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
