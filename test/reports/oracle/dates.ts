// Days and periods by the calendar alone: Intl for zones, Date in UTC for arithmetic. Uses no product code.

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Longer than any zone ever turned its clocks back, including date-line changes. */
const LOOK_BACK_MS = 26 * 60 * MINUTE_MS;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local date at an instant, and the local time to the minute as if it were UTC. */
function wall(ms: number, timeZone: string): { date: string; clock: number } {
  let format = formats.get(timeZone);
  if (format === undefined) {
    const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    format = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', { timeZone, ...digits });
    formats.set(timeZone, format);
  }
  const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const date = `${String(part['year']).padStart(4, '0')}-${part['month']}-${part['day']}`;
  return { date, clock: Date.parse(`${date}T${part['hour']}:${part['minute']}:00Z`) };
}

/** The instant in milliseconds, rounded down. A day never begins between two milliseconds. */
export function millis(instant: string): number {
  return Date.parse(instant.replace(/\.(\d{3})\d*Z$/, '.$1Z'));
}

const known = new Map<string, string>();

/** The latest date whose first instant is not after this one (decisions §13): when clocks go back across midnight, the new day has already begun. */
export function localDate(instant: string, timeZone: string): string {
  const key = `${timeZone} ${instant}`;
  let date = known.get(key);
  if (date === undefined) known.set(key, (date = latestShown(millis(instant), timeZone)));
  return date;
}

function latestShown(ms: number, timeZone: string): string {
  const now = wall(ms, timeZone);
  const before = wall(ms - LOOK_BACK_MS, timeZone);
  if (now.clock - before.clock >= LOOK_BACK_MS) return now.date;
  let latest = now.date;
  for (let at = Math.floor(ms / MINUTE_MS) * MINUTE_MS; at > ms - LOOK_BACK_MS; at -= MINUTE_MS) {
    const { date } = wall(at, timeZone);
    if (date > latest) latest = date;
  }
  return latest;
}

export function firstMillisecond(date: string, timeZone: string): number {
  let low = Date.parse(`${date}T00:00:00Z`) - 2 * DAY_MS;
  let high = low + 4 * DAY_MS;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (latestShown(middle, timeZone) >= date) high = middle;
    else low = middle;
  }
  return high;
}

export function addDays(date: string, days: number): string {
  return text(new Date(utc(date).getTime() + days * DAY_MS));
}

export type Bucket = 'day' | 'week' | 'month' | 'quarter' | 'year';

/** The first day of every period and the day after its last, cut to the range. */
export function periodsOf(start: string, end: string, bucket: Bucket): [start: string, end: string][] {
  const periods: [string, string][] = [];
  for (let from = start; from < end; ) {
    const next = following(from, bucket);
    const to = next < end ? next : end;
    periods.push([from, to]);
    from = to;
  }
  return periods;
}

function following(date: string, bucket: Bucket): string {
  const at = utc(date);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  if (bucket === 'day') return addDays(date, 1);
  // getUTCDay counts from Sunday; weeks start on Monday.
  if (bucket === 'week') return addDays(date, 7 - ((at.getUTCDay() + 6) % 7));
  const months = { month: month + 1, quarter: (Math.floor(month / 3) + 1) * 3, year: 12 }[bucket];
  const first = new Date(0);
  first.setUTCFullYear(year, months, 1);
  return text(first);
}

function utc(date: string): Date {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  return at;
}

/** Years beyond 9999 only need to sort after all others. */
function text(date: Date): string {
  const year = date.getUTCFullYear();
  return year > 9999 ? '9999-99-99' : `${String(year).padStart(4, '0')}-${date.toISOString().slice(-19, -14)}`;
}
