import { DAY, HOUR, MINUTE, SECOND } from './instant.ts';

/** A change of a zone's offset: from `at` on, local time is UTC + `offset`; before, it is UTC + `before`. */
export interface Transition {
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
