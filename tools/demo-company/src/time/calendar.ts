import { hash, stream } from '../random/keyed.ts';
import { DAY, HOUR, MINUTE, SECOND, month, weekday } from './instant.ts';
import type { Zone } from './zone.ts';

/** Relative number of bookings by month and weekday: high in summer and winter, low at weekends. GROWTH is the increase over two years. */
const BY_MONTH = [1.2, 1.1, 0.8, 0.8, 1.0, 1.4, 1.6, 1.5, 1.0, 0.8, 1.0, 1.2];
const BY_WEEKDAY = [1.2, 1.1, 1.0, 1.0, 1.1, 0.4, 0.1];
const GROWTH = 0.5;

const OPENS = 7 * HOUR;
const CLOSES = 19 * HOUR + 30 * MINUTE;
const MICROS = stream('microseconds of a booking');

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
    let low = 0;
    let high = days.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((days[middle] ?? 0) > target) high = middle;
      else low = middle + 1;
    }
    const before = low === 0 ? 0 : (days[low - 1] ?? 0);
    const share = (target - before) / ((days[low] ?? 1) - before);
    const midnight = (this.#firstDay + low) * DAY;
    const closes = Math.min(CLOSES, this.#zone.local(this.#until) - midnight - MINUTE);
    const micros = hash(this.#seed, MICROS, n) % SECOND;
    return this.#zone.instant(midnight + OPENS + Math.floor((share * (closes - OPENS)) / SECOND) * SECOND) + micros;
  }

  /** Number of bookings taken before an instant, to within a second. */
  bookedBefore(at: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.bookedAt(middle) >= at) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
