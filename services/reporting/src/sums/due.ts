// Which days and months of a report's sums are due: their facts have changed since, so reports do not read them.
import { civil, countedDay, parseDate } from '@truckroll/contract';

const DAY_MICROS = 86_400_000_000;

/** What the sums of one report of a company are of. Dates are in days since 1970-01-01. */
export interface Summed {
  timeZone: string;
  /** SUMMARIES_VERSION of the days from `dueBefore` on. */
  version: number;
  /** Days before it are due in full. Infinity for all days, -Infinity for none. */
  dueBefore: number;
  /** Version of the days before `dueBefore`, which are replaced but still right; 0 if they are not. */
  dueVersion: number;
}

export const monthOf = (day: number): number => day - civil(day)[2] + 1;

/** The first day of the next month. */
export const monthAfter = (month: number): number => monthOf(month + 31);

/** The local dates that facts of a UTC date can be counted on: two or three. */
export function localDaysOf(utcDay: number, timeZone: string): number[] {
  const [first, last] = [countedDay(utcDay * DAY_MICROS, timeZone), countedDay((utcDay + 1) * DAY_MICROS - 1, timeZone)];
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

const inOrder = (days: readonly number[]): ReadonlySet<number> => new Set(days.toSorted((a, b) => a - b));

export class DuePeriods {
  readonly #before: number;
  /** In order, as `#months`. */
  readonly #days: ReadonlySet<number>;
  readonly #months: ReadonlySet<number>;

  /** `days`: local dates that are due although they are not before `before`; `months`: first days of months that are due although their days may not be. */
  constructor(before: number, days: readonly number[] = [], months: readonly number[] = []) {
    this.#before = before;
    this.#days = inOrder(days);
    this.#months = inOrder([...months, ...days.map(monthOf)]);
  }

  hasDay(day: number): boolean {
    return day < this.#before || this.#days.has(day);
  }

  hasMonth(first: number): boolean {
    return first < this.#before || this.#months.has(first);
  }

  /** The first day, or month by its first day, from `from` on that is due; `end` if none is before it. */
  next(step: 'day' | 'month', from: number, end: number): number {
    if (from < this.#before) return from;
    return Math.min(end, [...(step === 'day' ? this.#days : this.#months)].find((day) => day >= from) ?? end);
  }

  /** Stretches of days within a range that are due, in order. */
  stretches(start: number, end: number): { start: number; end: number }[] {
    const found: { start: number; end: number }[] = start < this.#before ? [{ start, end: Math.min(end, this.#before) }] : [];
    for (const day of this.#days) {
      const last = found.at(-1);
      if (day < start || day >= end || day < this.#before) continue;
      if (last?.end === day) last.end += 1;
      else found.push({ start: day, end: day + 1 });
    }
    return found;
  }
}

/** SQL of the UTC dates with notes, and of the months that are due, of company $1 and report $2. */
export const DUE_DATES = `array_to_string(array(select distinct day from due_notes where company_id = $1 and report = $2), ',') as days,
  array_to_string(array(select month from due_months where company_id = $1 and report = $2), ',') as months`;

export interface DueDates {
  days: string;
  months: string;
}

const datesIn = (text: string): number[] => (text === '' ? [] : text.split(',').map((date) => parseDate(date) as number));

/** SQL of a `Summed`, from a row `s` of the table `summed`. */
export const SUMMED = `s.time_zone as "timeZone", s.version, s.due_version as "dueVersion", case when s.due_before is null then '-Infinity'::float8
  when isfinite(s.due_before) then s.due_before - date '1970-01-01' else 'Infinity'::float8 end as "dueBefore"`;

/** What is due for a question that needs sums of `version` or newer, in the company's time zone. */
export function dueOf(summed: Summed | undefined, timeZone: string, version: number, { days, months }: DueDates): DuePeriods {
  if (summed === undefined || summed.timeZone !== timeZone || summed.version < version) return new DuePeriods(Infinity);
  const local = datesIn(days).flatMap((day) => localDaysOf(day, timeZone));
  return new DuePeriods(summed.dueVersion < version ? summed.dueBefore : -Infinity, local, datesIn(months));
}
