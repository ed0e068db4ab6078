// Splits a range into periods, and periods into whole months and single days, for which sums are kept. Days are counted from 1970-01-01.
import { civil, formatDate, parseDate, periodNumber, type BucketName } from '@truckroll/contract';

export interface Period {
  start: number;
  /** The day after its last one. */
  end: number;
}

/** The periods of a range in order, beginning with the period of `from`. */
export function* periodsOf(range: Period, bucket: BucketName, from = range.start): Generator<Period> {
  for (let start = from; start < range.end; ) {
    const end = Math.min(nextStart(start, bucket), range.end);
    yield { start, end };
    start = end;
  }
}

function nextStart(day: number, bucket: BucketName): number {
  if (bucket === 'day') return day + 1;
  if (bucket === 'week') {
    const monday = (day: number): boolean => periodNumber(day, 'week') !== periodNumber(day - 1, 'week');
    let next = day + 1;
    while (!monday(next)) next += 1;
    return next;
  }
  const months = { month: 1, quarter: 3, year: 12 }[bucket];
  const [year, month] = civil(day);
  const index = Math.floor((year * 12 + month - 1) / months + 1) * months;
  return monthStart(index);
}

/** The first day of a month, counted from January of year 0. Infinity after the year 9999. */
function monthStart(index: number): number {
  const year = Math.floor(index / 12);
  const text = `${String(year).padStart(4, '0')}-${String((index % 12) + 1).padStart(2, '0')}-01`;
  return parseDate(text) ?? Infinity;
}

/** Whole months inside a period, by their first days, and the stretches of days around them. */
export function partsOf({ start, end }: Period): { months: number[]; days: Period[] } {
  const months: number[] = [];
  const days: Period[] = [];
  for (let at = start; at < end; ) {
    const next = nextStart(at, 'month');
    const whole = civil(at)[2] === 1 && next <= end;
    if (whole) months.push(at);
    else days.push({ start: at, end: Math.min(next, end) });
    at = Math.min(next, end);
  }
  return { months, days };
}

export function daysIn({ start, end }: Period): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

export const dateOf = formatDate;
