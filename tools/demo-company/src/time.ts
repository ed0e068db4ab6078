import { parseInstant as instantOf } from '@truckroll/contract';
import { hash, stream } from './random.ts';

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

/** A change of a zone's offset: from `at` on, local time is UTC + `offset`; before, it is UTC + `before`. */
interface Transition {
  readonly at: number;
  readonly before: number;
  readonly offset: number;
}

/**
 * Reads the span's transitions from the runtime once; conversions are then arithmetic. "Local" numbers are microseconds on the
 * zone's own clock, as if it were UTC.
 */
export class Zone {
  readonly transitions: readonly Transition[];
  readonly name: string;
  readonly #first: number;

  constructor(name: string, from: number, to: number) {
    this.name = name;
    const offset = offsetReader(name);
    this.#first = offset(from);
    const found: Transition[] = [];
    let before = this.#first;
    for (let at = from; at <= to; at += 7 * DAY) {
      const after = offset(at + 7 * DAY);
      if (after === before) continue;
      let low = at;
      let high = at + 7 * DAY;
      while (high - low > SECOND) {
        const middle = low + Math.floor((high - low) / 2 / SECOND) * SECOND;
        if (offset(middle) === before) low = middle;
        else high = middle;
      }
      found.push({ at: high, before, offset: after });
      before = after;
    }
    this.transitions = found;
  }

  offsetAt(at: number): number {
    let offset = this.#first;
    for (const transition of this.transitions) {
      if (at < transition.at) break;
      offset = transition.offset;
    }
    return offset;
  }

  local(at: number): number {
    return at + this.offsetAt(at);
  }

  day(at: number): number {
    return Math.floor(this.local(at) / DAY);
  }

  /** The instant of a local time: the earlier one for a time that occurs twice; for a skipped time, one after the gap. */
  instant(local: number): number {
    for (const { at, before, offset } of this.transitions) {
      if (local - before < at || local - offset < at) return local - before;
    }
    return local - (this.transitions.at(-1)?.offset ?? this.#first);
  }

  startOfDay(day: number): number {
    const gap = this.transitions.find(({ at, before, offset }) => at + before < day * DAY && at + offset > day * DAY);
    return gap ? gap.at : this.instant(day * DAY);
  }
}

function offsetReader(name: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  return (at) => {
    const part = format.formatToParts(at / 1000).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
    const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d\d):(\d\d)/.exec(part) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE);
  };
}

/** Relative number of bookings by month and weekday: high in summer and winter, low at weekends. GROWTH is the increase over two years. */
const BY_MONTH = [1.2, 1.1, 0.8, 0.8, 1.0, 1.4, 1.6, 1.5, 1.0, 0.8, 1.0, 1.2];
const BY_WEEKDAY = [1.2, 1.1, 1.0, 1.0, 1.1, 0.4, 0.1];
const GROWTH = 0.5;

const OPENS = 7 * HOUR;
const CLOSES = 19 * HOUR + 30 * MINUTE;
const MICROS = stream('microseconds of a booking');

/** The lowest number for which `holds` is true, or `high`. It must be true for all numbers above one for which it is true. */
function firstOf(high: number, holds: (n: number) => boolean): number {
  let low = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export class Calendar {
  readonly #seed: number;
  readonly #zone: Zone;
  readonly #until: number;
  readonly #count: number;
  readonly #firstDay: number;
  readonly #upTo: Float64Array;
  readonly #density: Float64Array;

  /** `density` is the share of the bookings that are kept, by the days before the end. */
  constructor(seed: number, zone: Zone, since: number, until: number, count: number, density: ((daysBefore: number) => number) | undefined = () => 1) {
    this.#seed = seed;
    this.#zone = zone;
    this.#until = until;
    this.#count = count;
    this.#firstDay = zone.day(since);
    const openToday = zone.local(until) % DAY > OPENS + HOUR;
    const days = zone.day(until) - this.#firstDay + (openToday ? 1 : 0);
    this.#upTo = new Float64Array(days);
    this.#density = new Float64Array(days);
    let sum = 0;
    for (let i = 0; i < days; i++) {
      const day = this.#firstDay + i;
      const demand = (BY_MONTH[month(day)] ?? 1) * (1 + (GROWTH * i) / days);
      sum += demand * (BY_WEEKDAY[weekday(day)] ?? 1) * density(days - i);
      this.#density[i] = density(days - i) * Math.sqrt(demand);
      this.#upTo[i] = sum;
    }
  }

  /** Density of the day's bookings, with half of the seasons' swing: installations depend less on them than repairs. */
  densityAt(at: number): number {
    return this.#density[Math.min(this.#density.length - 1, this.#zone.day(at) - this.#firstDay)] ?? 1;
  }

  /** When booking n was taken: within office hours, and at most a second before booking n − 1. */
  bookedAt(n: number): number {
    const days = this.#upTo;
    const target = ((n + 0.5) / this.#count) * (days[days.length - 1] ?? 0);
    const day = firstOf(days.length - 1, (each) => (days[each] ?? 0) > target);
    const before = day === 0 ? 0 : (days[day - 1] ?? 0);
    const share = (target - before) / ((days[day] ?? 1) - before);
    const midnight = (this.#firstDay + day) * DAY;
    const closes = Math.min(CLOSES, this.#zone.local(this.#until) - midnight - MINUTE);
    const micros = hash(this.#seed, MICROS, n) % SECOND;
    return this.#zone.instant(midnight + OPENS + Math.floor((share * (closes - OPENS)) / SECOND) * SECOND) + micros;
  }

  /** Number of bookings taken before an instant, to within a second. */
  bookedBefore(at: number): number {
    return firstOf(this.#count, (n) => this.bookedAt(n) >= at);
  }
}
