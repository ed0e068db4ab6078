import type { Calendar } from '../time/calendar.ts';
import { DAY, HOUR, MINUTE } from '../time/instant.ts';
import type { Zone } from '../time/zone.ts';
import { isBatched } from './batches.ts';

export interface NightWork {
  readonly startsAt: number;
  readonly endsAt: number;
}

export type NightJobs = ReadonlyMap<number, NightWork>;

/** Start and end in minutes from the change: across it, from it, in the hour after it, in the hour before it. */
const AROUND = [
  [-90, 90],
  [0, 60],
  [30, 45],
  [-30, -15],
] as const;

/** At every daylight-saving change in the history, the last jobs booked before it are done during that night. */
export function nightJobsOf(zone: Zone, calendar: Calendar, since: number, until: number): NightJobs {
  const jobs = new Map<number, NightWork>();
  for (const { at } of zone.transitions) {
    if (at < since + 20 * DAY || at > until - 10 * DAY) continue;
    let n = calendar.bookedBefore(at - 3 * HOUR) - 1;
    for (const [start, end] of AROUND) {
      while (isBatched(n)) n--;
      if (n >= 0) jobs.set(n, { startsAt: at + start * MINUTE, endsAt: at + end * MINUTE });
      n--;
    }
  }
  return jobs;
}
