import { JsonBuffer } from './json-buffer.ts';
import type { KeyStyle } from './json-plan.ts';
import { JsonWriter } from './json-writer.ts';
import { codec } from './operation.ts';
import { shapeNamed } from './shape.ts';

const writers: Record<KeyStyle, JsonWriter> = { snake: new JsonWriter('snake'), camel: new JsonWriter('camel') };

/** The JSON text of a generated message, exactly as a read returns it. */
export function messageJson(typeName: string, message: object, keys: KeyStyle): string {
  const bytes = codec(typeName).encode(message).finish();
  const out = new JsonBuffer(1024);
  writers[keys].write(shapeNamed(typeName), bytes, 0, bytes.length, out);
  return out.view().toString();
}
