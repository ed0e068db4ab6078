import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { Shape } from './shape.ts';

/** The first field (`data.#23`) or enum value (`data.status = 9`) that only a newer release knows, or undefined. Throws if the bytes are not protobuf. */
export function firstUnknown(shape: Shape, bytes: Uint8Array, at = ''): string | undefined {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = shape.fields.find((known) => known.number === number);
    if (field === undefined) return `${at}#${number}`;
    if (field.shape !== undefined) {
      const found = firstUnknown(field.shape, reader.bytes(), `${at}${field.name}.`);
      if (found !== undefined) return found;
    } else if (field.enum !== undefined) {
      for (const end = wireType === WireType.LengthDelimited ? reader.uint32() + reader.pos : reader.pos + 1; reader.pos < end; ) {
        const value = reader.int32();
        if (value !== 0 && !field.enum.names.has(value)) return `${at}${field.name} = ${value}`;
      }
    } else {
      reader.skip(wireType, number);
    }
  }
  return undefined;
}
