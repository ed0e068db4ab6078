import type { Timesheet, TimesheetStatus } from '@truckroll/contract/gen/scheduling/v1/timesheets';
import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { hash, stream } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { DAY, HOUR, MINUTE, dateText, weekday } from '../time/instant.ts';
import type { Member } from './team-members.ts';
import type { Spelled } from '../shapes/given.ts';
import { makerOf } from '../shapes/maker.ts';

const make = makerOf<Timesheet>('timesheets');
const TIMESHEETS = stream('timesheets');
const MISSING = stream('entries without a timesheet');

/** Days per timesheet. Only technicians hand them in; office and sales are salaried. */
const PERIOD_DAYS = 14;

/** Statuses of the sheets of finished periods; the latest one is not approved yet. */
const STATUSES = new Rota<Spelled<TimesheetStatus>>('timesheets', [
  ['APPROVED', 22],
  ['SUBMITTED', 2],
  ['OPEN', 1],
]);

/** Local day number of a period's first Monday; period 0 contains the start of the history. */
export function periodStart(company: Company, period: number): number {
  const first = company.zone.day(company.clockedSince);
  return first - weekday(first) + period * PERIOD_DAYS;
}

function periodOf(company: Company, at: number): number {
  return Math.floor((company.zone.day(at) - periodStart(company, 0)) / PERIOD_DAYS);
}

/** Number of periods with a sheet: up to today, or to the day that the member left. */
export function periodCount(company: Company, member: Member): number {
  return periodOf(company, Math.min(company.until, member.leftAt)) + 1;
}

/** The sheet that an entry is on; null for salaried members, and for a few entries that are on no sheet. */
export function timesheetFor(company: Company, member: Member, at: number): string | null {
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
  return make(company, period * company.size.members + member.n, {
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
  });
}
