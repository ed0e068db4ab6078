// Days of the company's calendar as `2026-03-01`, and ranges of them. Ranges end before `end`, as in the API.

export interface Range {
  readonly start: string;
  readonly end: string;
}

export const BUCKETS = ['day', 'week', 'month', 'quarter', 'year'] as const;
export type Bucket = (typeof BUCKETS)[number];

export const PERIODS = ['month', 'last-month', 'quarter', 'year', 'custom'] as const;
export type Period = (typeof PERIODS)[number];

const DAY_MS = 86_400_000;
const MONTHS: Record<Exclude<Period, 'custom'>, number> = { month: 1, 'last-month': 1, quarter: 3, year: 12 };
/** Longest ranges, in days, that have a bar for each day and for each week. */
const MOST_DAILY = 45;
const MOST_WEEKLY = 120;

const ms = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const dayAt = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Whether the text is a day of the calendar: `2026-02-30` is not. */
export const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(ms(text)) && dayAt(ms(text)) === text;

/** What is wrong with a day that was given, or with the last day of a range from `since` on. Years before 1900 are typed in part, and after 9998 some days have no next one. */
export function faultOf(day: string, since = ''): string | undefined {
  if (day !== '' && (!isDay(day) || day < '1900' || day > '9999')) return 'Give a whole date.';
  return day !== '' && day < since ? 'The last day is before the first.' : undefined;
}

export const addDays = (day: string, days: number): string => dayAt(ms(day) + days * DAY_MS);
const lengthOf = ({ start, end }: Range): number => Math.round((ms(end) - ms(start)) / DAY_MS);

/** The same day of another month, or that month's last day. */
export function addMonths(day: string, months: number): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return dayAt(Date.UTC(year, month - 1 + months, Math.min(date, last)));
}

export const firstOfMonth = (day: string): string => `${day.slice(0, 8)}01`;
/** 1 on Monday, 7 on Sunday. */
export const weekdayOf = (day: string): number => ((new Date(ms(day)).getUTCDay() + 6) % 7) + 1;
const isFirst = (day: string): boolean => day.endsWith('-01');

/** A named period up to and including today. */
export function rangeOf(period: Exclude<Period, 'custom'>, today: string): Range {
  const month = firstOfMonth(today);
  const tomorrow = addDays(today, 1);
  if (period === 'month') return { start: month, end: tomorrow };
  if (period === 'last-month') return { start: addMonths(month, -1), end: month };
  if (period === 'year') return { start: `${today.slice(0, 4)}-01-01`, end: tomorrow };
  return { start: addMonths(month, -((Number(today.slice(5, 7)) - 1) % 3)), end: tomorrow };
}

/** The range to compare with: the same days of the month, quarter or year before, or as many days just before. */
export function previousOf(range: Range, period: Period): Range {
  const { start, end } = range;
  if (period !== 'custom') return back(range, MONTHS[period]);
  if (!isFirst(start) || !isFirst(end)) return { start: addDays(start, -lengthOf(range)), end: start };
  const months = (Number(end.slice(0, 4)) - Number(start.slice(0, 4))) * 12 + Number(end.slice(5, 7)) - Number(start.slice(5, 7));
  return back(range, months);
}

function back({ start, end }: Range, months: number): Range {
  // A range that ends with a month is compared with one that does, too: all of March with all of February.
  const before = isFirst(end) ? addMonths(end, -months) : addDays(addMonths(addDays(end, -1), -months), 1);
  return { start: addMonths(start, -months), end: before };
}

export function usualBucket(range: Range): Bucket {
  const days = lengthOf(range);
  return days <= MOST_DAILY ? 'day' : days <= MOST_WEEKLY ? 'week' : 'month';
}

/** The parts of a range, cut at its ends as the API cuts them. Weeks begin on Monday. */
export function bucketsOf({ start, end }: Range, bucket: Bucket): Range[] {
  const buckets: Range[] = [];
  for (let at = start; at < end; ) {
    const next = nextBucket(at, bucket);
    buckets.push({ start: at, end: next < end ? next : end });
    at = next;
  }
  return buckets;
}

function nextBucket(day: string, bucket: Bucket): string {
  if (bucket === 'day') return addDays(day, 1);
  if (bucket === 'week') return addDays(day, 8 - weekdayOf(day));
  if (bucket === 'year') return `${String(Number(day.slice(0, 4)) + 1).padStart(4, '0')}-01-01`;
  const month = Number(day.slice(5, 7)) - 1;
  return addMonths(firstOfMonth(day), bucket === 'month' ? 1 : 3 - (month % 3));
}

const style = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' });
const DAY = style({ month: 'short', day: 'numeric', year: 'numeric' });
const SHORT_DAY = style({ month: 'short', day: 'numeric' });
const MONTH = style({ month: 'short', year: 'numeric' });

export const dayName = (day: string): string => DAY.format(ms(day));

/** "Mar 1, 2026 – Mar 31, 2026" */
export function rangeName({ start, end }: Range): string {
  const last = addDays(end, -1);
  return start === last ? dayName(start) : `${dayName(start)} – ${dayName(last)}`;
}

/** "Mar 1 – Mar 31, 2026", for a narrow place. */
function shortRange({ start, end }: Range): string {
  const last = addDays(end, -1);
  return start === last || start.slice(0, 4) !== last.slice(0, 4) ? rangeName({ start, end }) : `${SHORT_DAY.format(ms(start))} – ${dayName(last)}`;
}

/** A range in words, of which either day may be missing, or be none. */
export function daysInWords(from: string, to: string): string {
  if (isDay(from) && isDay(to)) return shortRange({ start: from, end: addDays(to, 1) });
  const name = (day: string): string => (isDay(day) ? dayName(day) : day);
  if (from !== '' && to !== '') return `${name(from)} – ${name(to)}`;
  return from !== '' ? `${name(from)} or later` : to && `${name(to)} or earlier`;
}

/** A bucket's name: "Mar 2026", or its days if the range cuts it off. */
export function bucketName(range: Range, bucket: Bucket): string {
  const { start, end } = range;
  if (bucket === 'month' && isFirst(start) && addMonths(start, 1) === end) return MONTH.format(ms(start));
  if (bucket === 'quarter' && isFirst(start) && addMonths(start, 3) === end) return `Q${Math.ceil(Number(start.slice(5, 7)) / 3)} ${start.slice(0, 4)}`;
  if (bucket === 'year' && start.endsWith('-01-01') && addMonths(start, 12) === end) return start.slice(0, 4);
  return rangeName(range);
}

/** A bucket's name on an axis. */
export const bucketTick = (start: string, bucket: Bucket): string =>
  bucket === 'year' ? start.slice(0, 4) : (bucket === 'month' || bucket === 'quarter' ? MONTH : SHORT_DAY).format(ms(start));
