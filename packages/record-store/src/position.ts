// The place after a page's last row: what the order's columns held there. The gateway seals it into the cursor.
import { formatInstant } from '@truckroll/contract';

/** Microseconds between 1970 and PostgreSQL's own epoch, 2000-01-01T00:00:00Z. */
const POSTGRES_EPOCH = 946_684_800_000_000;
const textual = new TextDecoder();

/** Microseconds since 1970 of a timestamptz in PostgreSQL's binary form. */
export function instantOf(value: Buffer): number {
  return value.readInt32BE(0) * 0x1_0000_0000 + value.readUInt32BE(4) + POSTGRES_EPOCH;
}

/** Text form of a uuid in PostgreSQL's binary form. */
export function uuidOf(value: Buffer): string {
  const hex = value.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** From the raw order columns of the last row: `micros:id`, or the id alone. */
export function encodePosition(order: readonly Buffer[], idType: 'uuid' | 'text'): Uint8Array {
  const id = order.at(-1) as Buffer;
  const text = idType === 'uuid' ? uuidOf(id) : id.toString('utf8');
  return Buffer.from(order.length === 1 ? text : `${instantOf(order[0] as Buffer)}:${text}`);
}

/** Values of the order columns, ready for SQL. The gateway vouches for the bytes: it sealed them. */
export function decodePosition(bytes: Uint8Array, columns: number): string[] {
  const text = textual.decode(bytes);
  if (columns === 1) return [text];
  const colon = text.indexOf(':');
  return [formatInstant(Number(text.slice(0, colon))), text.slice(colon + 1)];
}
