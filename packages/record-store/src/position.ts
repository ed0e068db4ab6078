// The position after a page's last row: the values of its order columns. The gateway seals it into the cursor.
import { formatInstant } from '@truckroll/contract';
import { instantOf, uuidOf } from '@truckroll/postgres';

const textual = new TextDecoder();

/** From the raw order columns of the last row: `micros:id`, or the id alone. */
export function encodePosition(order: readonly Buffer[], idType: 'uuid' | 'text'): Uint8Array {
  const id = order.at(-1) as Buffer;
  const text = idType === 'uuid' ? uuidOf(id) : id.toString('utf8');
  return Buffer.from(order.length === 1 ? text : `${instantOf(order[0] as Buffer)}:${text}`);
}

/** Values of the order columns, ready for SQL. They need no check: the gateway sealed the bytes. */
export function decodePosition(bytes: Uint8Array, columns: number): string[] {
  const text = textual.decode(bytes);
  if (columns === 1) return [text];
  const colon = text.indexOf(':');
  return [formatInstant(Number(text.slice(0, colon))), text.slice(colon + 1)];
}
