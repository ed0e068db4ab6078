// Where bars are on the board, and which technicians run late. Times are in ms since 1970.
import type { Visit } from '../../api/business.ts';
import type { Assignment } from '../../api/schedule.ts';

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Axis extends Span {
  readonly hours: readonly number[];
}

/** Hours that the axis shows on every day; it grows for earlier and later work. */
const FIRST_HOUR = 8;
const LAST_HOUR = 18;
/** Shortest work in percent of the axis that is drawn, so that it can be pointed at. */
const NARROWEST = 3;
const MINUTE_MS = 60_000;

export const spanOf = ({ starts_at: from, ends_at: to }: Pick<Assignment, 'starts_at' | 'ends_at'>): Span => ({ from: Date.parse(from), to: Date.parse(to) });

/** An axis with every span in it. `hourAt` is the instant of an hour of the day, 0 to 24: on some days an hour is missing or there twice. */
export function axisOf(spans: readonly Span[], hourAt: (hour: number) => number): Axis {
  let first = FIRST_HOUR;
  let last = LAST_HOUR;
  while (first > 0 && spans.some(({ from }) => from < hourAt(first))) first--;
  while (last < 24 && spans.some(({ to }) => to > hourAt(last))) last++;
  const hours = Array.from({ length: last - first + 1 }, (_, index) => hourAt(first + index));
  return { from: hours[0]!, to: hours.at(-1)!, hours };
}

/** The share of the axis in percent that is left of an instant. */
export const leftOf = (at: number, { from, to }: Span): number => (100 * (at - from)) / (to - from);

/** Where a span is drawn, in percent. Undefined if it is outside the axis. */
export function placeOf({ from, to }: Span, axis: Span): { left: number; width: number } | undefined {
  if (to <= axis.from || from >= axis.to) return undefined;
  const left = Math.min(leftOf(Math.max(from, axis.from), axis), 100 - NARROWEST);
  return { left, width: Math.max(NARROWEST, leftOf(Math.min(to, axis.to), axis) - left) };
}

/** A lane for each bar, so that bars of one lane do not overlap: as few lanes as possible, earlier bars above. */
export function stack<T extends Span>(bars: readonly T[]): { readonly bar: T; readonly lane: number }[] {
  const ends: number[] = [];
  return [...bars]
    .sort((a, b) => a.from - b.from || a.to - b.to)
    .map((bar) => {
      const free = ends.findIndex((end) => end <= bar.from);
      const lane = free < 0 ? ends.length : free;
      ends[lane] = bar.to;
      return { bar, lane };
    });
}

type Times = Pick<Assignment, 'starts_at' | 'ends_at'>;
type Arrival = Pick<Visit, 'window_start_at' | 'window_end_at'>;

/** Whether work begins or ends outside the arrival window, which the API refuses without `allow_outside_window`. */
export const isOutside = ({ starts_at: from, ends_at: to }: Times, { window_start_at: first, window_end_at: last }: Arrival): boolean =>
  Date.parse(from) < Date.parse(first) || Date.parse(to) > Date.parse(last);

/** The part of a visit's times within its arrival window, or else the whole window. */
export function withinArrival({ starts_at: from, ends_at: to, window_start_at: first, window_end_at: last }: Times & Arrival): Times {
  const [starts_at, ends_at] = [Date.parse(from) < Date.parse(first) ? first : from, Date.parse(to) > Date.parse(last) ? last : to];
  return Date.parse(starts_at) < Date.parse(ends_at) ? { starts_at, ends_at } : { starts_at: first, ends_at: last };
}

/** Other visits on which the technician works at this time. Work that ends when other work begins does not overlap it. */
export function overlaps(visits: readonly Visit[], visitId: string, technicianId: string, times: Times): { visit: Visit; work: Assignment }[] {
  const wanted = spanOf(times);
  return visits
    .filter(({ id, canceled }) => id !== visitId && !canceled)
    .flatMap((visit) => visit.assignments.map((work) => ({ visit, work })))
    .filter(({ work }) => work.team_member.id === technicianId && work.status !== 'CANCELED' && work.status !== 'COMPLETED')
    .filter(({ work }) => spanOf(work).from < wanted.to && spanOf(work).to > wanted.from)
    .sort((a, b) => a.work.starts_at.localeCompare(b.work.starts_at));
}

/** Whether the API removes the assignment: it keeps technicians who have begun or completed their work. */
export const isRemovable = ({ status }: Pick<Assignment, 'status'>): boolean => status === 'TO_DO' || status === 'CANCELED';

export interface Lateness {
  readonly minutes: number;
  /** Whether the work has begun, and should have ended. */
  readonly begun: boolean;
}

/** How late a technician is: to begin what was planned earlier, or to end it. Undefined if in time, or if nothing is left to do. */
export function lateness(
  { status, starts_at: starts, ends_at: ends }: Pick<Assignment, 'status' | 'starts_at' | 'ends_at'>,
  now: number,
): Lateness | undefined {
  if (status === 'COMPLETED' || status === 'CANCELED') return undefined;
  const begun = status === 'IN_PROGRESS' || status === 'PAUSED';
  const minutes = Math.floor((now - Date.parse(begun ? ends : starts)) / MINUTE_MS);
  return minutes > 0 ? { minutes, begun } : undefined;
}

/** "25 min", "1 h 5 min" */
const spell = (minutes: number): string =>
  [minutes >= 60 && `${Math.floor(minutes / 60)} h`, minutes % 60 > 0 && `${minutes % 60} min`].filter(Boolean).join(' ');

/** "25 min late", "1 h 5 min over" */
export const lateInWords = ({ minutes, begun }: Lateness): string => `${spell(minutes)} ${begun ? 'over' : 'late'}`;

export interface Late extends Lateness {
  readonly visit: Visit;
  readonly assignment: Assignment;
}

/** Assignments that are late now, the latest first. */
export function lateOf(visits: readonly Visit[], now: number): Late[] {
  return visits
    .filter(({ canceled }) => !canceled)
    .flatMap((visit) =>
      visit.assignments.flatMap((assignment) => {
        const late = lateness(assignment, now);
        return late === undefined ? [] : [{ ...late, visit, assignment }];
      }),
    )
    .sort((a, b) => b.minutes - a.minutes);
}

type Compared = Pick<Visit, 'starts_at' | 'ends_at' | 'window_start_at' | 'window_end_at' | 'description' | 'canceled' | 'confirmed' | 'assignments'>;

/** The differences between a visit that was shown and its current state, in sentences. `time` writes an instant. */
export function changesOf(before: Compared, now: Compared, time: (at: string) => string): string[] {
  const changes: string[] = [];
  const range = (from: string, to: string): string => `${time(from)} – ${time(to)}`;
  const was = new Map(before.assignments.map((each) => [each.id, each]));
  const is = new Set(now.assignments.map(({ id }) => id));
  if (now.canceled && !before.canceled) changes.push('The visit was canceled.');
  if (before.canceled && !now.canceled) changes.push('The visit is no longer canceled.');
  if (before.starts_at !== now.starts_at || before.ends_at !== now.ends_at) changes.push(`It was moved to ${range(now.starts_at, now.ends_at)}.`);
  if (before.window_start_at !== now.window_start_at || before.window_end_at !== now.window_end_at)
    changes.push(`Its arrival window is now ${range(now.window_start_at, now.window_end_at)}.`);
  for (const {
    id,
    team_member: { name },
  } of before.assignments)
    if (!is.has(id)) changes.push(`${name} was removed.`);
  for (const each of now.assignments) {
    const old = was.get(each.id);
    const { name } = each.team_member;
    if (old === undefined) changes.push(`${name} was added for ${range(each.starts_at, each.ends_at)}.`);
    else {
      if (old.starts_at !== each.starts_at || old.ends_at !== each.ends_at) changes.push(`${name} now works ${range(each.starts_at, each.ends_at)}.`);
      if (old.status !== each.status) changes.push(`${name} is now ${each.status.toLowerCase().replaceAll('_', ' ')}.`);
    }
  }
  if (before.confirmed !== now.confirmed) changes.push(now.confirmed ? 'The customer confirmed it.' : 'It is no longer confirmed.');
  if (before.description !== now.description) changes.push('Its description was changed.');
  return changes.length === 0 ? ['Something was changed that is not shown here.'] : changes;
}
