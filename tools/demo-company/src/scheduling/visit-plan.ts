import type { Company } from '../company.ts';
import type { Draw } from '../random/keyed.ts';
import type { JobType } from '../reference/job-types.ts';
import { DAY, HOUR, MINUTE, weekday } from '../time/instant.ts';
import type { NightWork } from './night-jobs.ts';

const LEAD_DAYS = {
  SERVICE: [0, 2],
  MAINTENANCE: [3, 14],
  ESTIMATE_REPAIR: [1, 5],
  ESTIMATE_REPLACE: [1, 5],
  INSTALL: [5, 21],
  WARRANTY: [1, 4],
  CALLBACK: [0, 3],
  SALES: [1, 6],
  UNKNOWN: [0, 7],
} as const;

const START_HOURS = [8, 8, 9, 10, 11, 13, 13, 14, 15, 16];

/**
 * The last jobs keep the dispatch board filled: of every three, two are in progress and one is planned for the next two weeks.
 * Returns the place counted from the last job, or null for all other jobs.
 */
export function boardPlace(company: Company, n: number): number | null {
  const { jobs } = company.size;
  if (company.shape.busy) return null;
  const place = jobs - 1 - n;
  return place < Math.min(Math.ceil(jobs / 4), Math.max(36, Math.ceil(jobs / 1000))) ? place : null;
}

export interface Appointment {
  startsAt: number;
  endsAt: number;
}

export function appointmentsOf(company: Company, n: number, type: JobType, bookedAt: number, night: NightWork | undefined, draw: Draw): Appointment[] {
  const count = company.visitDeck.count(n);
  const place = boardPlace(company, n);
  const [least, most] = LEAD_DAYS[type.jobClass];
  const appointments: Appointment[] = [];
  let after = bookedAt;
  for (let k = 0; k < count; k++) {
    const leadDays = k === 0 ? draw.between(least, most) : draw.between(1, 12);
    const minutes = Math.round((type.minutes * draw.pick([0.75, 1, 1, 1.25, 1.5])) / 15) * 15;
    const hour = type.minutes > 200 ? 8 : draw.pick(START_HOURS);
    const local = workday(company.zone.day(after) + leadDays, type) * DAY + hour * HOUR + draw.below(3) * 15 * MINUTE;
    let startsAt = company.zone.instant(local);
    if (startsAt < after + HOUR) startsAt = company.zone.instant(workday(Math.floor(local / DAY) + 1, type) * DAY + (local % DAY));
    let endsAt = startsAt + minutes * MINUTE;
    if (k === 0 && night) ({ startsAt, endsAt } = night);
    else if (k === 0 && place !== null) {
      startsAt = wholeMinute(Math.max(company.until - draw.between(5, 80) * MINUTE, bookedAt));
      endsAt = wholeMinute(company.until) + draw.between(30, 150) * MINUTE;
      if (place % 3 === 2) {
        startsAt = company.zone.instant(workday(company.today + draw.between(1, 14), type) * DAY + hour * HOUR);
        endsAt = startsAt + minutes * MINUTE;
      }
    }
    if (endsAt > company.planned) break;
    appointments.push({ startsAt, endsAt });
    after = endsAt;
  }
  return appointments;
}

function wholeMinute(at: number): number {
  return Math.ceil(at / MINUTE) * MINUTE;
}

/** No work on Sundays, and only repairs on Saturdays. */
function workday(day: number, type: JobType): number {
  const free = weekday(day) === 6 ? 1 : weekday(day) === 5 && type.jobClass !== 'SERVICE' ? 2 : 0;
  return day + free;
}

/** An arrival window of two hours from an even hour, half a day, or a whole day, in company-local time. */
export function windowOf(company: Company, startsAt: number, draw: Draw): readonly [startsAt: number, endsAt: number] {
  const local = company.zone.local(startsAt);
  const midnight = Math.floor(local / DAY) * DAY;
  const hour = Math.floor((local - midnight) / HOUR);
  const [from, to] =
    hour < 8 || hour > 16 || draw.chance(0.5) ? [hour - (hour % 2), hour - (hour % 2) + 2] : draw.chance(0.2) ? [8, 18] : hour < 12 ? [8, 12] : [12, 18];
  return [company.zone.instant(midnight + from * HOUR), company.zone.instant(midnight + to * HOUR)];
}
