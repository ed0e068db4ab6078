// This month and the last one, day by day. Days are texts such as 2026-03-01 in the company's time zone.

export interface Days {
  /** The first day, and the day after the last. */
  readonly start: string;
  readonly end: string;
}

/** A day's amount. Money is in cents. */
export interface DayAmount {
  readonly day: string;
  readonly cents: number;
}

/** Sums from the first of the month on: one for every day so far. */
export interface MonthSums {
  readonly current: readonly number[];
  readonly last: readonly number[];
}

export interface Comparison {
  /** This month so far, the last month by the same day, and all of it. */
  readonly current: number;
  readonly lastByNow: number;
  readonly last: number;
  /** `current` compared with `lastByNow`: 0.1 is a tenth more. Undefined if that was nothing. */
  readonly change: number | undefined;
}

const firstOf = (year: number, month: number): string => new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10);

/** The days from the first of last month to today. */
export function twoMonths(today: string): Days {
  const [year, month, day] = today.split('-').map(Number) as [number, number, number];
  return { start: firstOf(year, month - 2), end: new Date(Date.UTC(year, month - 1, day + 1)).toISOString().slice(0, 10) };
}

export function sumsOf(amounts: readonly DayAmount[], today: string): MonthSums {
  const isCurrent = ({ day }: DayAmount): boolean => day.slice(0, 7) === today.slice(0, 7);
  return { current: running(amounts.filter(isCurrent)), last: running(amounts.filter((amount) => !isCurrent(amount))) };
}

/** A last month that is shorter than today's date counts as a whole. */
export function compare({ current, last }: MonthSums): Comparison {
  const [now, lastByNow] = [current.at(-1) ?? 0, last[Math.min(current.length, last.length) - 1] ?? 0];
  return { current: now, lastByNow, last: last.at(-1) ?? 0, change: lastByNow > 0 ? (now - lastByNow) / lastByNow : undefined };
}

function running(amounts: readonly DayAmount[]): number[] {
  let sum = 0;
  return amounts.map(({ cents }) => (sum += cents));
}
