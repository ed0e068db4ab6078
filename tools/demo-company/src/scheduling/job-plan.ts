import { DAY, HOUR, MINUTE, month, type Calendar, type Zone, weekday } from '../time.ts';
import type { Company, JobCustomer, JobPlan, NightJobs, VisitPlan } from '../company.ts';
import { Rota, drawOf, hash, idOf, stream, type Draw } from '../random.ts';
import type { JobType } from '../reference.ts';
import { accountsAt, contactCount, isCommercial, locationCount, survivorOf } from './customers.ts';
import type { BoardSlot } from './board.ts';
import type { LifecycleStage } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import type { Spelled } from '../shapes/given.ts';

/** A batch: three consecutive jobs of one business, invoiced separately and paid together. Every BATCH_EVERY-th run has one. */
const BATCH_RUN = 16;
const BATCH_EVERY = 3;
const BATCH_FIRST = 5;
export const BATCH_JOBS = 3;

function isBatched(n: number): boolean {
  const place = (n % BATCH_RUN) - BATCH_FIRST;
  return Math.floor(n / BATCH_RUN) % BATCH_EVERY === 0 && place >= 0 && place < BATCH_JOBS;
}

/** Start and end in minutes from the change: across it, from it, in the hour after it, in the hour before it. */
const AROUND = [
  [-90, 90],
  [0, 60],
  [30, 45],
  [-30, -15],
] as const;

/** At every daylight-saving change in the history, the last jobs booked before it are done during that night. */
export function nightJobsOf(zone: Zone, calendar: Calendar, since: number, until: number): NightJobs {
  const jobs = new Map<number, Appointment>();
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

interface Appointment {
  startsAt: number;
  endsAt: number;
}

function appointmentsOf(company: Company, n: number, type: JobType, bookedAt: number, night: Appointment | undefined, draw: Draw): Appointment[] {
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
function windowOf(company: Company, startsAt: number, draw: Draw): readonly [startsAt: number, endsAt: number] {
  const local = company.zone.local(startsAt);
  const midnight = Math.floor(local / DAY) * DAY;
  const hour = Math.floor((local - midnight) / HOUR);
  const [from, to] =
    hour < 8 || hour > 16 || draw.chance(0.5) ? [hour - (hour % 2), hour - (hour % 2) + 2] : draw.chance(0.2) ? [8, 18] : hour < 12 ? [8, 12] : [12, 18];
  return [company.zone.instant(midnight + from * HOUR), company.zone.instant(midnight + to * HOUR)];
}

const TYPES = stream('types of jobs');
const CUSTOMERS = stream('customers of jobs');
const ORIGINALS = stream('original jobs');

/** Chosen so that months with few recorded jobs earn as much as the last month. */
const LARGE_SHARE = 0.075;
const LARGE_LESS = 0.05;

/** Minimum age of a batch, so that it is finished and paid. */
const BATCH_AGE = 150 * DAY;

function batchOf(company: Company, n: number): number | null {
  if (!isBatched(n)) return null;
  const first = n - (n % BATCH_RUN) + BATCH_FIRST;
  const last = first + BATCH_JOBS - 1;
  const finished = last < company.size.jobs && company.calendar.bookedAt(last) < company.until - BATCH_AGE;
  return finished ? first : null;
}

/** Depends on the season. A type that was archived before the booking is replaced by a current one. */
function typeOf(company: Company, n: number): JobType {
  const slot = slotOf(company, n);
  if (slot) return slot.type;
  if (isBatched(n)) return company.jobTypes[n % 2 === 0 ? 2 : 4] as JobType;
  const bookedAt = bookedAtOf(company, n);
  const all = company.seasons[month(company.zone.day(bookedAt))] ?? company.jobTypes;
  const season = company.shape.busy ? keptOf(company, n, bookedAt, all) : all;
  const type = season[hash(company.seed, TYPES, n) % season.length] as JobType;
  return type.archivedAt !== null && bookedAt >= type.archivedAt ? (company.jobTypes[4] as JobType) : type;
}

/** Installations are kept where other jobs are left out, so that each month earns what it would with all of them. */
function keptOf(company: Company, n: number, bookedAt: number, season: readonly JobType[]): readonly JobType[] {
  const large = hash(company.seed, TYPES, n, 1) / 2 ** 32 < LARGE_SHARE / company.calendar.densityAt(bookedAt) - LARGE_LESS;
  return season.filter(({ jobClass }) => (jobClass === 'INSTALL') === large);
}

export function slotOf(company: Company, n: number): BoardSlot | undefined {
  return company.board[n - company.history];
}

function bookedAtOf(company: Company, n: number): number {
  return slotOf(company, n)?.bookedAt ?? company.calendar.bookedAt(n);
}

function jobCustomer(company: Company, n: number, type: JobType): JobCustomer {
  const original = type.jobClass === 'CALLBACK' || type.jobClass === 'WARRANTY' ? originalOf(company, n) : null;
  const draw = drawOf(company, CUSTOMERS, batchOf(company, original ?? n) ?? original ?? n);
  const account = accountOf(company, original ?? n, draw);
  const location = draw.below(locationCount(company, account));
  const contacts = contactCount(company, account);
  const contact = contacts === 0 || draw.chance(0.04) ? -1 : Math.floor(draw.next() ** 2 * contacts);
  return { account, location, contact, original };
}

/** Early accounts are the best customers: a few have hundreds of jobs, most have one or two. */
function accountOf(company: Company, n: number, draw: Draw): number {
  const batch = batchOf(company, n);
  const bound = accountsAt(company, batch ?? n);
  let account = Math.floor(draw.next() ** (company.shape.busy ? 1.2 : 2) * bound);
  for (let step = 0; batch !== null && step < 12 && !isCommercial(company, account); step++) account = (account + 1) % bound;
  return survivorOf(account);
}

function originalOf(company: Company, n: number): number | null {
  const draw = drawOf(company, ORIGINALS, n);
  for (let attempt = 0; attempt < 6; attempt++) {
    const candidate = n - Math.ceil(company.size.jobs * (0.01 + 0.05 * draw.next()));
    if (candidate < 0) continue;
    const { jobClass } = typeOf(company, candidate);
    if (jobClass === 'SERVICE' || jobClass === 'MAINTENANCE' || jobClass === 'INSTALL') return candidate;
  }
  return null;
}

export const JOBS = stream('jobs');
const PLANS = stream('plans of jobs');

type Fate = 'complete' | 'cancel' | 'hold' | 'open';

const FATES = new Rota<Fate>('fates of jobs', { complete: 33, cancel: 3, hold: 2, open: 1 });

export function planJob(company: Company, n: number): JobPlan {
  const draw = drawOf(company, PLANS, n);
  const slot = slotOf(company, n);
  const bookedAt = bookedAtOf(company, n);
  const type = typeOf(company, n);
  const customer = jobCustomer(company, n, type);
  const night = company.nightJobs.get(n);
  const batch = batchOf(company, n);
  const settled = night || batch !== null || boardPlace(company, n) !== null;
  const fate = settled ? 'complete' : FATES.at(company.seed, n);
  const appointments = slot ? [slot] : appointmentsOf(company, n, type, bookedAt, night, draw);
  const stage = stageOf(company, type, fate, appointments, bookedAt, draw);
  const canceledAt = stage === 'CANCELED' ? cancellation(company, bookedAt, appointments, draw) : null;
  const finished = appointments.at(-1)?.endsAt ?? bookedAt + draw.between(60, 5_000) * MINUTE;
  const done = stage === 'COMPLETED' || stage === 'WON' || stage === 'LOST';
  return {
    ...customer,
    n,
    id: idOf(company, JOBS, n),
    number: `${10_001 + n}`,
    type,
    jobType: draw.orNull(0.06, type.ref),
    unit: draw.orNull(0.06, type.unit.ref),
    jobClass: draw.orNull(0.06, type.jobClass),
    lifecycle: type.lifecycle,
    bookedAt,
    stage,
    completedAt: done ? Math.min(finished + draw.below(90 * 60) * 1_000_000, company.until) : null,
    canceledAt,
    visits: visitsOf(company, n, bookedAt, canceledAt, appointments, draw),
    batch,
  };
}

function stageOf(company: Company, type: JobType, fate: Fate, appointments: readonly Appointment[], bookedAt: number, draw: Draw): Spelled<LifecycleStage> {
  const { until } = company;
  const last = appointments.at(-1);
  if (fate === 'cancel') return 'CANCELED';
  if (!last) return bookedAt < until - 10 * DAY && draw.chance(0.6) ? 'COMPLETED' : 'NEW';
  if (appointments.some(({ startsAt, endsAt }) => startsAt <= until && endsAt > until)) return 'IN_PROGRESS';
  if (last.endsAt > until) return (appointments[0] as Appointment).startsAt > until ? 'SCHEDULED' : 'ON_HOLD';
  if (fate === 'hold') return 'ON_HOLD';
  if (fate === 'open') return 'IN_PROGRESS';
  if (type.opportunity) return draw.pick(['WON', 'WON', 'LOST', 'LOST', 'COMPLETED'] as const);
  return 'COMPLETED';
}

function cancellation(company: Company, bookedAt: number, appointments: readonly Appointment[], draw: Draw): number {
  const latest = Math.min(appointments.at(-1)?.startsAt ?? company.until, company.until);
  return bookedAt + Math.floor(draw.next() * Math.max(0, latest - bookedAt));
}

/** Visits after a job's cancellation are canceled; in other jobs, an occasional visit that was moved is. */
function visitsOf(company: Company, n: number, bookedAt: number, canceledAt: number | null, appointments: readonly Appointment[], draw: Draw): VisitPlan[] {
  const first = company.visitDeck.before(n);
  return appointments.map(({ startsAt, endsAt }, k) => {
    const [windowStartsAt, windowEndsAt] = windowOf(company, startsAt, draw);
    const moved = k < appointments.length - 1 && draw.chance(0.1);
    return {
      k,
      index: first + k,
      bookedAt: k === 0 ? bookedAt : Math.min((appointments[k - 1] as Appointment).endsAt, company.until),
      startsAt,
      endsAt,
      windowStartsAt,
      windowEndsAt,
      canceled: canceledAt === null ? moved : startsAt >= canceledAt,
      confirmed: draw.chance(0.8),
    };
  });
}
