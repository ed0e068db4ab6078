import { parseInstant as instantOf } from '@truckroll/contract';

/** Instants are whole microseconds since 1970 in UTC, exact as numbers until the year 2255. Days count from 1970. */

export const SECOND = 1_000_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const dates = new Map<number, string>();

export function dateText(day: number): string {
  let text = dates.get(day);
  if (text === undefined) {
    text = new Date(day * 86_400_000).toISOString().slice(0, 10);
    dates.set(day, text);
  }
  return text;
}

/** 0 is Monday. */
export function weekday(day: number): number {
  return (((day + 3) % 7) + 7) % 7;
}

/** 0 is January. */
export function month(day: number): number {
  return Number(dateText(day).slice(5, 7)) - 1;
}

const TWO = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'));

let lastAt = Number.NaN;
let lastText = '';

/** `2026-03-01T15:04:05.123456Z`, without a fraction when it is zero. Caches the last result, because most records contain it twice. */
export function instantText(at: number): string {
  if (at === lastAt) return lastText;
  const day = Math.floor(at / DAY);
  const seconds = Math.floor((at - day * DAY) / SECOND);
  const micros = at - day * DAY - seconds * SECOND;
  const clock = `${TWO[Math.floor(seconds / 3600)]}:${TWO[Math.floor(seconds / 60) % 60]}:${TWO[seconds % 60]}`;
  const fraction = micros === 0 ? '' : `.${String(micros).padStart(6, '0')}`;
  lastAt = at;
  lastText = `${dateText(day)}T${clock}${fraction}Z`;
  return lastText;
}

/** Parses an ISO 8601 date-time; throws RangeError for anything else. */
export function parseInstant(text: string): number {
  const at = instantOf(text);
  if (at === undefined) throw new RangeError(`not an instant: ${text}`);
  return at;
}
