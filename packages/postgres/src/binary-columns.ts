/** Microseconds between 1970 and PostgreSQL's own epoch, 2000-01-01T00:00:00Z. */
const POSTGRES_EPOCH = 946_684_800_000_000;

/** A bigint, which must be a safe integer. */
export function wholeNumberOf(value: Buffer): number {
  return value.readInt32BE(0) * 0x1_0000_0000 + value.readUInt32BE(4);
}

/** Microseconds since 1970 of a timestamptz. */
export function instantOf(value: Buffer): number {
  return wholeNumberOf(value) + POSTGRES_EPOCH;
}

/** The text of a uuid, in lower case. */
export function uuidOf(value: Buffer): string {
  const hex = value.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
