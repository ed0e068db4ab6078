// Encodes array parameters in PostgreSQL's binary format. pg sends arrays as text and escapes every element, which took most of the
// time of statements that store hundreds of rows.
//
// Format (array_send): number of dimensions, whether there are nulls, the elements' type, length, lower bound, and each element's
// length (-1 is null) and bytes; 32-bit numbers, big-endian.

/** Type OIDs, which are the same in every PostgreSQL (pg_type.dat). */
const OIDS = {
  boolean: 16,
  bytes: 17,
  bigint: 20,
  integer: 23,
  text: 25,
  double: 701,
  date: 1082,
  instant: 1184,
  numeric: 1700,
  uuid: 2950,
  json: 3802,
} as const;
const HEAD = 20;
const NULL = -1;
/** Days from 1970-01-01 to PostgreSQL's epoch, 2000-01-01. */
const EPOCH_DAYS = 10_957;
const EPOCH_MICROS = EPOCH_DAYS * 86_400_000_000;
const UUID_BYTES = 16;

type Values<T> = readonly (T | null | undefined)[];
/** Writes an element at `at` and returns its size in bytes. */
type Write<T> = (value: T, into: Buffer, at: number) => number;

function arrays<T>(oid: number, sizeOf: (value: T) => number, write: Write<T>): (values: Values<T>) => Buffer {
  return (values) => {
    let size = HEAD;
    let nulls = 0;
    for (const value of values) {
      size += 4 + (value == null ? 0 : sizeOf(value));
      if (value == null) nulls = 1;
    }
    const into = Buffer.allocUnsafe(size);
    // PostgreSQL's own empty arrays have no dimension, but it accepts one of length 0.
    [1, nulls, oid, values.length, 1].forEach((number, index) => into.writeInt32BE(number, 4 * index));
    let at = HEAD;
    for (const value of values) {
      const length = value == null ? NULL : write(value, into, at + 4);
      into.writeInt32BE(length, at);
      at += 4 + Math.max(0, length);
    }
    return into;
  };
}

const fixed = <T>(oid: number, size: number, write: (value: T, into: Buffer, at: number) => void) =>
  arrays<T>(
    oid,
    () => size,
    (value, into, at) => {
      write(value, into, at);
      return size;
    },
  );

const HYPHEN = 0x2d;
const HEX = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()));

function writeUuid(value: string, into: Buffer, at: number): void {
  let digits = 0;
  let byte = 0;
  for (let i = 0; i < value.length; i += 1) {
    const code = value.charCodeAt(i);
    if (code === HYPHEN) continue;
    const digit = HEX[code] ?? -1;
    if (digit < 0) throw new TypeError(`${value} is not a UUID`);
    byte = (byte << 4) | digit;
    digits += 1;
    if (digits % 2 === 0) into[at + digits / 2 - 1] = byte;
  }
  if (digits !== 2 * UUID_BYTES) throw new TypeError(`${value} is not a UUID`);
}

function writeInt64(value: number, into: Buffer, at: number): void {
  const high = Math.floor(value / 2 ** 32);
  into.writeInt32BE(high, at);
  into.writeUInt32BE(value - high * 2 ** 32, at + 4);
}

/** Base of a numeric's digits. They follow a header: number of digits, weight of the first digit, sign, and digits after the point. */
const NUMERIC_BASE = 10_000;
const NUMERIC_HEAD = 8;
const NEGATIVE = 0x4000;

function digitsOf(value: number): number {
  let digits = 0;
  for (let rest = Math.abs(value); rest > 0; rest = Math.floor(rest / NUMERIC_BASE)) digits += 1;
  return digits;
}

function digitsOfLarge(value: bigint): number[] {
  const digits: number[] = [];
  for (let rest = value < 0n ? -value : value; rest > 0n; rest /= BigInt(NUMERIC_BASE)) digits.push(Number(rest % BigInt(NUMERIC_BASE)));
  return digits.reverse();
}

function writeNumeric(value: number | bigint, into: Buffer, at: number): number {
  const large = typeof value === 'bigint' ? digitsOfLarge(value) : undefined;
  const count = large?.length ?? digitsOf(value as number);
  into.writeInt16BE(count, at);
  into.writeInt16BE(Math.max(0, count - 1), at + 2);
  into.writeUInt16BE(value < 0 ? NEGATIVE : 0, at + 4);
  into.writeInt16BE(0, at + 6);
  let rest = large === undefined ? Math.abs(value as number) : 0;
  for (let i = count - 1; i >= 0; i -= 1) {
    into.writeInt16BE(large?.[i] ?? rest % NUMERIC_BASE, at + NUMERIC_HEAD + 2 * i);
    rest = Math.floor(rest / NUMERIC_BASE);
  }
  return NUMERIC_HEAD + 2 * count;
}

/** Encoders of arrays by element type (`day` is a date too). The statement must cast its parameter to that type: `$1::uuid[]`. */
export const binaryArrays = {
  uuid: fixed<string>(OIDS.uuid, UUID_BYTES, writeUuid),
  text: arrays<string>(
    OIDS.text,
    (value) => Buffer.byteLength(value),
    (value, into, at) => into.write(value, at),
  ),
  bytea: arrays<Uint8Array>(
    OIDS.bytes,
    ({ length }) => length,
    (value, into, at) => {
      into.set(value, at);
      return value.length;
    },
  ),
  boolean: fixed<boolean>(OIDS.boolean, 1, (value, into, at) => void into.writeUInt8(value ? 1 : 0, at)),
  integer: fixed<number>(OIDS.integer, 4, (value, into, at) => void into.writeInt32BE(value, at)),
  bigint: fixed<number>(OIDS.bigint, 8, writeInt64),
  /** Integers of any size. */
  numeric: arrays<number | bigint>(
    OIDS.numeric,
    (value) => NUMERIC_HEAD + 2 * (typeof value === 'number' ? digitsOf(value) : digitsOfLarge(value).length),
    writeNumeric,
  ),
  'double precision': fixed<number>(OIDS.double, 8, (value, into, at) => void into.writeDoubleBE(value, at)),
  /** From microseconds since 1970. */
  timestamptz: fixed<number>(OIDS.instant, 8, (value, into, at) => writeInt64(value - EPOCH_MICROS, into, at)),
  /** From days since 1970-01-01. */
  day: fixed<number>(OIDS.date, 4, (value, into, at) => void into.writeInt32BE(value - EPOCH_DAYS, at)),
  /** From `2026-03-01`. */
  date: fixed<string>(OIDS.date, 4, (value, into, at) => void into.writeInt32BE(Date.parse(value) / 86_400_000 - EPOCH_DAYS, at)),
  /** From its text. */
  jsonb: arrays<string>(
    OIDS.json,
    (value) => 1 + Buffer.byteLength(value),
    (value, into, at) => {
      // Version 1 of the binary jsonb format is the text.
      into.writeUInt8(1, at);
      return 1 + into.write(value, at + 1);
    },
  ),
} as const;

export type ArrayType = keyof typeof binaryArrays;

/** The parameter for `$1::<type>[]` when the type is only known at run time: instants are microseconds since 1970, dates `2026-03-01`. */
export function arrayOf(type: ArrayType, values: readonly unknown[]): Buffer {
  return binaryArrays[type](values as never);
}
