import { parseInstant } from '@truckroll/contract';
import pg from 'pg';

const INT8 = 20;
const DATE = 1082;
const TIMESTAMP = 1114;
const TIMESTAMPTZ = 1184;
const NUMERIC = 1700;

/**
 * Column types: bigint as a number (refused beyond 2^53 − 1 rather than rounded), timestamptz as microseconds since 1970 (sessions
 * run in UTC), date, timestamp and numeric as text, the rest as pg parses it.
 */
export const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): (value: never) => unknown {
    if (format === 'binary') return identity;
    if (oid === INT8) return safeInteger;
    if (oid === TIMESTAMPTZ) return microseconds;
    if (oid === DATE || oid === TIMESTAMP || oid === NUMERIC) return identity;
    return pg.types.getTypeParser(oid, 'text') as (text: string) => unknown;
  },
};

function identity(value: unknown): unknown {
  return value;
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint of the database is beyond 2^53 - 1');
  return value;
}

function microseconds(text: string): number {
  const value = parseInstant(`${text.slice(0, 10)}T${text.slice(11)}:00`);
  if (value === undefined) throw new RangeError('a timestamp of the database cannot be held exactly');
  return value;
}
