import type { Assignment, AssignmentStatus } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { MINUTE } from '../time/instant.ts';
import type { Member } from './team-members.ts';
import { VISITS } from './visits.ts';
import { slotOf } from './job-customer.ts';
import { boardPlace } from './visit-plan.ts';
import type { JobPlan, VisitPlan } from '../plans.ts';
import type { Spelled } from '../shapes/given.ts';
import { makerOf } from '../shapes/maker.ts';

const make = makerOf<Assignment>('job-assignments');
const ASSIGNMENTS = stream('assignments');
const MOST = 8;
const CREWS = stream('crews');

export interface AssignmentPlan {
  readonly id: string;
  readonly member: Member;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly status: Spelled<AssignmentStatus>;
  readonly statusAt: number;
  readonly assignedAt: number;
  readonly editedAt: number | null;
}

type Status = AssignmentPlan['status'];

const PAST = new Rota<Status>('past assignments', [
  ['COMPLETED', 34],
  ['CANCELED', 2],
  ['TO_DO', 1],
]);
const PRESENT = new Rota<Status>('present assignments', [
  ['EN_ROUTE', 3],
  ['IN_PROGRESS', 4],
  ['PAUSED', 2],
  ['COMPLETED', 1],
  ['TO_DO', 1],
]);

/** The crew of a visit. Members listed first in the job's business unit are sent most often. */
export function crewOf(company: Company, plan: JobPlan, visit: VisitPlan): AssignmentPlan[] {
  const draw = drawOf(company, CREWS, visit.index);
  const slot = slotOf(company, plan.n);
  if (slot) return slot.crew.map((member, m) => assignmentOf(company, plan.n, visit, m, member, draw));
  const size = company.crewSizes.at(company.seed, visit.index);
  if (size === 0) return [];
  const pool = company.members.crews[plan.type.unit.n] ?? company.members.technicians;
  const first = Math.floor(draw.next() ** 2 * pool.length);
  const crew: AssignmentPlan[] = [];
  for (let step = 0; step < pool.length && crew.length < size; step++) {
    const member = pool[(first + step) % pool.length] as Member;
    if (member.leftAt > visit.startsAt) crew.push(assignmentOf(company, plan.n, visit, crew.length, member, draw));
  }
  return crew;
}

function assignmentOf(company: Company, job: number, visit: VisitPlan, m: number, member: Member, draw: Draw): AssignmentPlan {
  const { until } = company;
  const assignedAt = Math.min(until, visit.bookedAt + draw.below(120 * 60 * 1_000_000));
  const [status, statusAt] = statusOf(company, job, visit, m, draw);
  const late = m > 0 && draw.chance(0.2) && visit.endsAt - visit.startsAt > 60 * MINUTE;
  const happenedAt = Math.max(statusAt ?? assignedAt, assignedAt);
  return {
    id: idOf(company, ASSIGNMENTS, visit.index, m),
    member,
    startsAt: late ? visit.startsAt + 30 * MINUTE : visit.startsAt,
    endsAt: visit.endsAt,
    status,
    statusAt: happenedAt,
    assignedAt,
    editedAt: statusAt === null && draw.chance(0.7) ? null : happenedAt,
  };
}

function statusOf(company: Company, job: number, visit: VisitPlan, m: number, draw: Draw): readonly [Status, number | null] {
  const { until, seed } = company;
  if (visit.canceled) return draw.chance(0.3) ? ['TO_DO', null] : ['CANCELED', Math.min(until, visit.startsAt)];
  if (visit.startsAt > until) return ['TO_DO', null];
  if (visit.endsAt <= until) {
    const status = PAST.at(seed, visit.index * 2 + m);
    return status === 'TO_DO' ? [status, null] : [status, Math.min(until, visit.endsAt + draw.between(-9, 20) * MINUTE + draw.below(1_000_000))];
  }
  const status = PRESENT.at(seed, (boardPlace(company, job) ?? job) + m);
  return status === 'TO_DO' ? [status, null] : [status, until - Math.floor(draw.next() * (until - visit.startsAt))];
}

export function* buildAssignments(company: Company, plan: JobPlan) {
  for (const visit of plan.visits) {
    const crew = crewOf(company, plan, visit);
    if (crew.length === 0) continue;
    const appointmentId = idOf(company, VISITS, visit.index);
    for (const [m, assignment] of crew.entries()) {
      yield make(
        company,
        visit.index * MOST + m,
        {
          id: assignment.id,
          appointment_id: appointmentId,
          team_member: assignment.member.ref,
          starts_at: assignment.startsAt,
          ends_at: assignment.endsAt,
          status: assignment.status,
          status_updated_at: assignment.statusAt,
          created_at: assignment.assignedAt,
          updated_at: assignment.editedAt,
        },
        plan,
      );
    }
  }
}
