// Times are microseconds since 1970-01-01T00:00:00Z: a Date would lose the last three digits, and with them rows at page boundaries (decisions §4).
import { Temporal } from 'temporal-polyfill';

const DAY = 86_400_000_000;
const DAY_MS = 86_400_000;
/** Largest magnitude that a double holds exactly: years 1684 to 2255. */
const LIMIT = Number.MAX_SAFE_INTEGER;
/** Microseconds beyond any record's time: as a filter bound they exclude nothing or everything. */
export const BEYOND = { before: -LIMIT, after: LIMIT } as const;

const INSTANT = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?(?:[Zz]|([+-])(\d{2}):?(\d{2}))$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Microseconds of an ISO 8601 date-time with seconds and `Z` or an offset; undefined if it is malformed or cannot be held exactly. */
export function parseInstant(text: string): number | undefined {
  const micros = readInstant(text);
  return micros !== undefined && isExact(micros) ? micros : undefined;
}

/** The side on which a date-time is outside the exact range; undefined if it is within, or the text is not a date-time. */
export function beyondInstants(text: string): keyof typeof BEYOND | undefined {
  const micros = readInstant(text);
  if (micros === undefined || isExact(micros)) return undefined;
  return micros < 0 ? 'before' : 'after';
}

function isExact(micros: number): boolean {
  return Math.abs(micros) < LIMIT;
}

function readInstant(text: string): number | undefined {
  const match = INSTANT.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = match;
  const days = daysOf(Number(year), Number(month), Number(day));
  if (days === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const seconds = (Number(hour) * 60 + Number(minute) - offset) * 60 + Number(second);
  return days * DAY + seconds * 1_000_000 + Number(fraction.padEnd(6, '0'));
}

/** `2026-03-01T15:04:05.123456Z`: six fractional digits, or none when they are zero. */
export function formatInstant(micros: number): string {
  const days = Math.floor(micros / DAY);
  const rest = micros - days * DAY;
  const seconds = Math.floor(rest / 1_000_000);
  const fraction = rest - seconds * 1_000_000;
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${formatDate(days)}T${clock}${fraction === 0 ? '' : `.${String(fraction).padStart(6, '0')}`}Z`;
}

/** Current time, with microseconds if the clock provides them. */
export function now(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000);
}

export function isDate(text: string): boolean {
  return parseDate(text) !== undefined;
}

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];

/** Why a text that begins with the form of a date names none, such as "February 2026 has 28 days."; undefined if it has another form, or is a date. */
export function dateProblem(text: string): string | undefined {
  const [, year = '', month, day] = DATE.exec(text.slice(0, 10)) ?? [];
  if (month === undefined || year === '0000' || daysOf(Number(year), Number(month), Number(day)) !== undefined) return undefined;
  const name = MONTHS[Number(month) - 1];
  if (name === undefined) return 'Give a month from 01 to 12.';
  if (day === '00') return 'Days begin at 01.';
  // The day before the first of the next month.
  const days = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  return `${name}${name === 'February' ? ` ${year}` : ''} has ${days} days.`;
}

/** Days since 1970-01-01 of a calendar date; undefined if the text is not one. */
export function parseDate(text: string): number | undefined {
  const match = DATE.exec(text);
  return match === null ? undefined : daysOf(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** Calendar date of a count of days since 1970-01-01. */
export function formatDate(days: number): string {
  const [year, month, day] = civil(days);
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** Year, month and day of a count of days since 1970-01-01, in the proleptic Gregorian calendar. */
export function civil(days: number): [year: number, month: number, day: number] {
  const date = new Date(days * DAY_MS);
  return [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
}

/** Undefined for invalid dates and for year 0, which PostgreSQL does not have. */
function daysOf(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  // Date.UTC would take the years 1 to 99 for 1901 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  // A day that the month does not have is in another month.
  return year !== 0 && date.getUTCMonth() === month - 1 ? date.getTime() / DAY_MS : undefined;
}

/** Whether the runtime knows the IANA time zone in exactly this spelling: not every consumer accepts `america/chicago`. */
export function isTimeZone(name: string): boolean {
  try {
    return /[A-Za-z]/.test(name) && Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId === name;
  } catch {
    return false;
  }
}

/** First instant of a local date (decisions §4), in microseconds. If the zone skipped the day, the first instant after it; out of range, the nearest bound. */
export function startOfLocalDate(date: string, timeZone: string): number {
  const micros = Temporal.PlainDate.from(date).toZonedDateTime(timeZone).epochMilliseconds * 1000;
  return Math.min(Math.max(micros, -LIMIT), LIMIT);
}

/** Days since 1970-01-01 of the local date at an instant. */
export function localDay(micros: number, timeZone: string): number {
  return Math.floor((micros + offsetAt(micros, timeZone)) / DAY);
}

/**
 * The date an instant is counted under, in days since 1970-01-01: the latest date that has begun by then (decisions §13). Differs from
 * the local date when clocks are set back over midnight: a date that has begun does not end again.
 */
export function countedDay(micros: number, timeZone: string): number {
  const day = localDay(micros, timeZone);
  return startOfDay(day + 1, timeZone) <= micros ? day + 1 : day;
}

type Cache = Map<string, Map<number, number>>;

const MOST_CACHED = 100_000;

function cached(cache: Cache, timeZone: string, key: number, compute: (key: number, timeZone: string) => number): number {
  let ofZone = cache.get(timeZone);
  if (ofZone === undefined) cache.set(timeZone, (ofZone = new Map<number, number>()));
  let value = ofZone.get(key);
  if (value === undefined) {
    if (ofZone.size >= MOST_CACHED) ofZone.clear();
    ofZone.set(key, (value = compute(key, timeZone)));
  }
  return value;
}

const starts: Cache = new Map();

/** `startOfLocalDate` for a date in days since 1970-01-01, cached. */
export function startOfDay(day: number, timeZone: string): number {
  return cached(starts, timeZone, day, (of, zone) => startOfLocalDate(formatDate(of), zone));
}

/** From 2012 on, inhabited zones change their offset on quarter hours only, so offsets are cached per quarter hour. In microseconds. */
const ON_QUARTER_HOURS = Date.UTC(2012, 0) * 1000;
const QUARTER_HOUR = 900_000_000;
/** Earlier changes are at any second: St. John's set its clocks at 00:01. In microseconds. */
const SECOND = 1_000_000;
/** By the first instant of their quarter hour or second. */
const offsets: Cache = new Map();

/** Offset from UTC in microseconds. */
function offsetAt(micros: number, timeZone: string): number {
  const slot = micros < ON_QUARTER_HOURS ? SECOND : QUARTER_HOUR;
  return cached(offsets, timeZone, Math.floor(micros / slot) * slot, (from, zone) => {
    const instant = Temporal.Instant.fromEpochMilliseconds(from / 1000);
    return instant.toZonedDateTimeISO(zone).offsetNanoseconds / 1000;
  });
}
