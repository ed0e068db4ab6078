/** Instants are whole microseconds since 1970 in UTC: exact in a number until the year 2255. Days count from 1970. */

export const SECOND = 1_000_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const dates = new Map<number, string>();

/** Day number to `YYYY-MM-DD`. */
export function dateText(day: number): string {
  let text = dates.get(day);
  if (text === undefined) {
    text = new Date(day * 86_400_000).toISOString().slice(0, 10);
    dates.set(day, text);
  }
  return text;
}

export function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 86_400_000;
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

/** `2026-03-01T15:04:05.123456Z`: six digits, or none when they are zero. */
export function instantText(at: number): string {
  const day = Math.floor(at / DAY);
  const seconds = Math.floor((at - day * DAY) / SECOND);
  const micros = at - day * DAY - seconds * SECOND;
  const clock = `${TWO[Math.floor(seconds / 3600)]}:${TWO[Math.floor(seconds / 60) % 60]}:${TWO[seconds % 60]}`;
  const fraction = micros === 0 ? '' : `.${String(micros).padStart(6, '0')}`;
  return `${dateText(day)}T${clock}${fraction}Z`;
}

export function instantTextOrNull(at: number | null): string | null {
  return at === null ? null : instantText(at);
}

const FORM = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?Z$/;

/** Reads what instantText writes (fractions of one to six digits); throws RangeError on anything else. */
export function parseInstant(text: string): number {
  const match = FORM.exec(text);
  const day = match ? dayOf(match[1] as string) : Number.NaN;
  if (!match || Number.isNaN(day)) throw new RangeError(`not an instant in UTC: ${text}`);
  const [, , hours, minutes, seconds, fraction = ''] = match;
  const clock = Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND;
  return day * DAY + clock + Number(fraction.padEnd(6, '0'));
}
