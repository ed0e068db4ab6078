import type { Timesheet, TimesheetStatus } from '@truckroll/contract/gen/scheduling/v1/timesheets';
import type { Company, JobPlan } from '../company.ts';
import { Rota, drawOf, hash, idOf, stream, type Draw } from '../random.ts';
import { DAY, HOUR, MINUTE, dateText, weekday } from '../time.ts';
import type { Member } from './team-members.ts';
import { makerOf, type Given, type Spelled } from '../shapes/maker.ts';
import type { TimeEntry, TimeEntryActivity, TimeEntrySource } from '@truckroll/contract/gen/scheduling/v1/time_entries';
import { TIME_NOTES } from '../words/phrases.ts';
import { VISITS, crewOf, type AssignmentPlan } from './visits.ts';
import { planJob } from './job-plan.ts';

const makeSheet = makerOf<Timesheet>('timesheets');
const TIMESHEETS = stream('timesheets');
const MISSING = stream('entries without a timesheet');

/** Days per timesheet. Only technicians hand them in; office and sales are salaried. */
const PERIOD_DAYS = 14;

/** Statuses of the sheets of finished periods; the latest one is not approved yet. */
const STATUSES = new Rota<Spelled<TimesheetStatus>>('timesheets', { APPROVED: 22, SUBMITTED: 2, OPEN: 1 });

/** Local day number of a period's first Monday; period 0 contains the start of the history. */
function periodStart(company: Company, period: number): number {
  const first = company.zone.day(company.clockedSince);
  return first - weekday(first) + period * PERIOD_DAYS;
}

function periodOf(company: Company, at: number): number {
  return Math.floor((company.zone.day(at) - periodStart(company, 0)) / PERIOD_DAYS);
}

/** Number of periods with a sheet: up to today, or to the day that the member left. */
function periodCount(company: Company, member: Member): number {
  return periodOf(company, Math.min(company.until, member.leftAt)) + 1;
}

/** The sheet that an entry is on; null for salaried members, and for a few entries that are on no sheet. */
function timesheetFor(company: Company, member: Member, at: number): string | null {
  if (member.role !== 'TECHNICIAN' || hash(company.seed, MISSING, member.n, Math.floor(at / MINUTE) % 4_294_967_296) % 25 === 0) return null;
  const period = periodOf(company, at);
  return period >= 0 && period < periodCount(company, member) ? idOf(company, TIMESHEETS, member.n, period) : null;
}

export function* buildTimesheets(company: Company) {
  for (const member of company.members.technicians) {
    const periods = periodCount(company, member);
    for (let period = 0; period < periods; period++) yield buildTimesheet(company, member, period);
  }
}

/** Leaves out the totals, which are derived from the entries. */
function buildTimesheet(company: Company, member: Member, period: number) {
  const { zone, until, members } = company;
  const draw = drawOf(company, TIMESHEETS, member.n, period);
  const start = periodStart(company, period);
  const end = start + PERIOD_DAYS;
  const card = STATUSES.at(company.seed, member.n * 53 + period);
  const status = end > company.today ? 'OPEN' : end + PERIOD_DAYS > company.today && card === 'APPROVED' ? 'SUBMITTED' : card;
  const createdAt = zone.startOfDay(start);
  const submittedAt = status === 'OPEN' ? null : Math.min(until, zone.instant(end * DAY + 7 * HOUR + draw.below(9 * HOUR)));
  const approvedAt = status === 'APPROVED' && submittedAt !== null ? Math.min(until, submittedAt + draw.between(10, 60) * HOUR) : null;
  return makeSheet(
    { company, n: period * company.size.members + member.n },
    {
      id: idOf(company, TIMESHEETS, member.n, period),
      team_member: member.ref,
      period_start: dateText(start),
      period_end: dateText(end),
      status,
      submitted_at: submittedAt,
      approved_at: approvedAt,
      approved_by: approvedAt === null ? null : draw.orNull(0.05, draw.pick(members.office).ref),
      created_at: createdAt,
      updated_at: approvedAt ?? submittedAt ?? createdAt,
    },
  );
}

const makeEntry = makerOf<TimeEntry>('time-entries');
const ON_VISITS = stream('time entries on visits');
const ELSEWHERE = stream('time entries elsewhere');

type Activity = Spelled<TimeEntryActivity>;

type Span = readonly [activity: Activity, startsAt: number, endsAt: number | null];

const ODD_HOURS = new Rota<Activity | null>('odd hours', [
  [null, 4],
  ['TRAINING', 2],
  ['SHOP', 3],
  ['TIME_OFF', 2],
  ['OTHER', 1],
  ['BREAK', 1],
]);
const SOURCES = new Rota<Spelled<TimeEntrySource>>('sources of time', { CLOCK: 8, MANUAL: 2, AUTOMATIC: 2 });

const NOWHERE = { job_id: null, appointment_id: null, assignment_id: null, source: 'MANUAL' } as const;

const ENTRIES = 8;
/** More periods than a member has. Numbers from FIRST_ELSEWHERE on are for entries without a visit; 33 million visits stay below it. */
const PERIODS = 128;
const FIRST_ELSEWHERE = 2 ** 31;

/** Work on visits, then the technicians' meetings, training and absences. */
export function* buildTimeEntries(company: Company) {
  for (let n = 0; n < company.size.jobs; n++) {
    const plan = planJob(company, n);
    for (const visit of plan.visits) {
      if (visit.startsAt > company.until || visit.startsAt < company.clockedSince) continue;
      const appointmentId = idOf(company, VISITS, visit.index);
      for (const [m, assignment] of crewOf(company, plan, visit).entries()) {
        const draw = drawOf(company, ON_VISITS, visit.index, m);
        for (const [e, span] of spansOf(company, assignment, draw).entries()) {
          /** A few entries name only the job. */
          const jobOnly = e === 0 && draw.chance(0.05);
          const own = {
            id: idOf(company, ON_VISITS, visit.index, m * ENTRIES + e),
            job_id: plan.id,
            appointment_id: jobOnly ? null : appointmentId,
            assignment_id: jobOnly ? null : assignment.id,
            source: SOURCES.at(company.seed, visit.index + e),
          };
          yield buildEntry(company, (visit.index * ENTRIES + m) * ENTRIES + e, assignment.member, span, own, draw, plan);
        }
      }
    }
  }
  for (const member of company.members.technicians) {
    const periods = periodCount(company, member);
    for (let period = 0; period < periods; period++) yield* entriesElsewhere(company, member, period);
  }
}

/** Travel and work, with a meal break on a long day. The last span of an active assignment is running. */
function spansOf(company: Company, assignment: AssignmentPlan, draw: Draw): Span[] {
  const { status, statusAt } = assignment;
  const way = draw.between(10, 45) * MINUTE;
  const running = status === 'EN_ROUTE' || status === 'IN_PROGRESS';
  const end = running ? company.until : Math.min(statusAt, company.until);
  const start = Math.min(assignment.startsAt + draw.below(4 * MINUTE), end - MINUTE);
  if (status === 'EN_ROUTE') return [['TRAVEL', statusAt, null]];
  const travel: Span = ['TRAVEL', start - way, start];
  if (status === 'IN_PROGRESS') return [travel, ['WORK', start, null]];
  if (status === 'PAUSED') return [travel, ['WORK', start, end], ['BREAK', end, null]];
  if (status !== 'COMPLETED') return [];
  if (end - start < 5 * HOUR) return [travel, ['WORK', start, end]];
  const noon = start + 4 * HOUR;
  return [travel, ['WORK', start, noon], ['MEAL', noon, noon + 30 * MINUTE], ['WORK', noon + 30 * MINUTE, end]];
}

function* entriesElsewhere(company: Company, member: Member, period: number) {
  const draw = drawOf(company, ELSEWHERE, member.n, period);
  const monday = periodStart(company, period);
  const at = (day: number, local: number) => company.zone.instant((monday + day) * DAY + local);
  const spans: Span[] = [['MEETING', at(0, 7 * HOUR), at(0, 7 * HOUR + 30 * MINUTE)]];
  const odd = ODD_HOURS.at(company.seed, member.n * 53 + period);
  if (odd !== null) spans.push([odd, at(3, 13 * HOUR), at(3, 13 * HOUR + draw.between(1, 16) * 15 * MINUTE)]);
  for (const [e, span] of spans.entries()) {
    const [, startsAt, endsAt] = span;
    if (endsAt === null || endsAt > company.until || startsAt < company.clockedSince || endsAt > member.leftAt) continue;
    const id = idOf(company, ELSEWHERE, member.n, period * ENTRIES + e);
    yield buildEntry(company, FIRST_ELSEWHERE + (member.n * PERIODS + period) * ENTRIES + e, member, span, { id, ...NOWHERE }, draw);
  }
}

function buildEntry(company: Company, n: number, member: Member, [activity, startsAt, endsAt]: Span, own: Given<TimeEntry>, draw: Draw, job?: JobPlan) {
  const edited = draw.chance(0.12);
  const last = endsAt ?? startsAt;
  return makeEntry(
    { company, n, job },
    {
      ...own,
      team_member: member.ref,
      timesheet_id: timesheetFor(company, member, startsAt),
      activity,
      starts_at: startsAt,
      ends_at: endsAt,
      duration_minutes: endsAt === null ? null : Math.floor((endsAt - startsAt) / MINUTE),
      paid: activity === 'MEAL' ? false : activity === 'TIME_OFF' || activity === 'BREAK' ? draw.chance(0.6) : true,
      note: draw.orNull(0.88, draw.pick(TIME_NOTES)),
      edited_by: edited ? draw.pick(company.members.office).ref : null,
      created_at: own.source === 'MANUAL' ? last : startsAt,
      updated_at: edited ? Math.min(company.until, last + draw.between(1, 40) * HOUR) : last,
    },
  );
}
