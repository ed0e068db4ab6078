// Times in the company's time zone, in which the company counts its days, and so do all its records.
import { session } from '../state/session.ts';

const TIME = { hour: 'numeric', minute: '2-digit' } as const;
const STYLES = {
  thisYear: { month: 'short', day: 'numeric', ...TIME },
  otherYear: { year: 'numeric', month: 'short', day: 'numeric', ...TIME },
  second: { ...TIME, second: '2-digit' },
  minute: TIME,
  day: { weekday: 'short', month: 'short', day: 'numeric' },
  date: { month: 'short', day: 'numeric' },
  otherDate: { year: 'numeric', month: 'short', day: 'numeric' },
  weekday: { weekday: 'short', ...TIME },
} as const;

export const zone = (): string => session.value.me?.company.timezone ?? 'UTC';

const formats = new Map<string, Intl.DateTimeFormat>();

function format(style: keyof typeof STYLES, at: Date): string {
  const key = `${style} ${zone()}`;
  let made = formats.get(key);
  if (made === undefined) formats.set(key, (made = new Intl.DateTimeFormat(undefined, { ...STYLES[style], timeZone: zone() })));
  return made.format(at);
}

/** The wall clock as `2026-03-01 14:02:11`. */
const wall = (at: Date): string => at.toLocaleString('sv-SE', { timeZone: zone() });

/** The day in the company's time zone: `2026-03-01`. */
export const dayOf = (at: Date | string): string => wall(new Date(at)).slice(0, 10);

export const today = (): string => dayOf(new Date());

function inWords(at: Date): string {
  return format(sameYear(at) ? 'thisYear' : 'otherYear', at);
}

/** The title shows UTC with the API's full precision. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${at.replace('T', ' ').replace(/Z$/, '')} UTC`}>
      {inWords(new Date(at))}
    </time>
  );
}

const DAY_MS = 86_400_000;
const sameYear = (at: Date): boolean => wall(at).slice(0, 4) === wall(new Date()).slice(0, 4);

/** "Today 2:30 PM", "Tue 2:30 PM" within six days, "Dec 16", and the year if it is another. The title has the exact time. */
export function whenInWords(at: Date): string {
  const days = Math.round((Date.parse(wall(at).slice(0, 10)) - Date.parse(today())) / DAY_MS);
  if (days === 0) return `Today ${format('minute', at)}`;
  if (Math.abs(days) < 7) return format('weekday', at);
  return format(sameYear(at) ? 'date' : 'otherDate', at);
}

export function When({ at }: { at: string }) {
  return (
    <time dateTime={at} title={format('otherYear', new Date(at))}>
      {whenInWords(new Date(at))}
    </time>
  );
}

/** The date alone, where the time of day says nothing. A day such as 2026-03-01 belongs to no time zone. */
export function Day({ at }: { at: string }) {
  const date = new Date(at.length === 10 ? instantOf(`${at}T12:00`) : at);
  return (
    <time dateTime={at} title={at.length === 10 ? at : format('otherYear', date)}>
      {format(sameYear(date) ? 'date' : 'otherDate', date)}
    </time>
  );
}

/** "8:00 AM" */
export const timeOfDay = (at: string): string => format('minute', new Date(at));

/** "8:00 AM", and the day if it is another than that of an instant beside it: "Sun, Mar 1, 8:00 AM". */
export const timeBeside = (at: string, beside: string): string =>
  dayOf(at) === dayOf(beside) ? timeOfDay(at) : `${tick(new Date(at), true)}, ${timeOfDay(at)}`;

/** An instant with any offset. The title shows the text unchanged. */
export function Instant({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {inWords(new Date(at))}
    </time>
  );
}

export function TimeOr({ at, otherwise }: { at: string | null; otherwise: string }) {
  return at === null ? <span class="soft">{otherwise}</span> : <Time at={at} />;
}

/** "2:47:05 PM" */
export const clock = (at: Date): string => format('second', at);

/** "2:47 PM"; with seconds within two minutes from now, and with the date on another day. */
export function until(at: Date): string {
  if (wall(at).slice(0, 10) !== wall(new Date()).slice(0, 10)) return inWords(at);
  return format(Math.abs(at.getTime() - Date.now()) < 120_000 ? 'second' : 'minute', at);
}

/** A time on an axis: the time of day, or the date if the axis shows days. */
export const tick = (at: Date, days: boolean): string => format(days ? 'day' : 'minute', at);

/** "35 ms", "14.2 s" */
export const milliseconds = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${Number((ms / 1000).toFixed(1))} s`);

export const duration = (from: string, to: string): string => milliseconds(Math.max(0, Date.parse(to) - Date.parse(from)));

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** How long ago: "3 d 4 h", "29 min", "0 s". */
export function age(at: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(at)) / 1000));
  const first = UNITS.findIndex(([, length]) => seconds >= length);
  if (first < 0) return '0 s';
  const [unit, length] = UNITS[first]!;
  const next = first < 2 ? UNITS[first + 1] : undefined;
  const rest = next === undefined ? 0 : Math.floor((seconds % length) / next[1]);
  return `${Math.floor(seconds / length)} ${unit}${rest === 0 ? '' : ` ${rest} ${next![0]}`}`;
}

/** The value for an input of type datetime-local, to the minute. */
export const localInput = (at: Date): string => wall(at).slice(0, 16).replace(' ', 'T');

/** The value for an input of type datetime-local, to the second. */
export const localMoment = (at: Date): string => wall(at).replace(' ', 'T');

/** An input of a day and a time. Browsers report a year that is typed in part, such as 0202. */
export const MOMENT = { type: 'datetime-local', min: '1900-01-01T00:00', max: '9998-12-31T23:59' } as const;

/** The instant of such an input's value in the company's time zone, or an empty text if the year is far from ours. When clocks go back, one of the two possible instants. */
export function instantOf(local: string): string {
  const shown = Date.parse(`${local}Z`);
  const offset = (at: number): number => Date.parse(`${wall(new Date(at)).replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000;
  const at = shown - offset(shown - offset(shown));
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}
