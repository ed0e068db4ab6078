import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import type { Company, JobPlan, VisitPlan } from '../company.ts';
import { Rota, drawOf, idOf, stream, type Draw } from '../random.ts';
import { makerOf, type Spelled } from '../shapes/maker.ts';
import { CANCEL_NOTES, CANCEL_REASONS, VISIT_NOTES } from '../words/phrases.ts';
import type { Assignment, AssignmentStatus } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import { MINUTE } from '../time.ts';
import type { Member } from './team-members.ts';
import { boardPlace, slotOf } from './job-plan.ts';

const make = makerOf<Visit>('job-appointments');
export const VISITS = stream('visits');
const DETAILS = stream('visit details');

/** Leaves out the fields derived from other records: job, assignments, dispatch_status and revision. */
export function buildVisit(company: Company, plan: JobPlan, visit: VisitPlan) {
  const draw = drawOf(company, DETAILS, visit.index);
  const editable = Math.max(visit.bookedAt, Math.min(visit.startsAt, company.until));
  return make(
    { company, n: visit.index, job: plan },
    {
      id: idOf(company, VISITS, visit.index),
      number: `${plan.number}-${visit.k + 1}`,
      type: visit.k === 0 ? plan.type.ref.name : 'Follow-up',
      description: draw.pick(VISIT_NOTES),
      window_start_at: visit.windowStartsAt,
      window_end_at: visit.windowEndsAt,
      confirmed: visit.confirmed,
      canceled: visit.canceled,
      cancellation_reason: visit.canceled ? draw.orNull(0.1, draw.pick(CANCEL_REASONS)) : null,
      cancellation_note: visit.canceled ? draw.orNull(0.5, draw.pick(CANCEL_NOTES)) : null,
      created_by: draw.pick(company.members.office).ref,
      created_at: visit.bookedAt,
      updated_at: visit.bookedAt + Math.floor(draw.next() * (editable - visit.bookedAt)),
      kind: 'APPOINTMENT',
      starts_at: visit.startsAt,
      ends_at: visit.endsAt,
    },
  );
}

const makeAssignment = makerOf<Assignment>('job-assignments');
const ASSIGNMENTS = stream('assignments');
const MOST = 8;
const CREWS = stream('crews');

export type AssignmentPlan = ReturnType<typeof assignmentOf>;
type Status = Spelled<AssignmentStatus>;

const PAST = new Rota<Status>('past assignments', { COMPLETED: 34, CANCELED: 2, TO_DO: 1 });
const PRESENT = new Rota<Status>('present assignments', { EN_ROUTE: 3, IN_PROGRESS: 4, PAUSED: 2, COMPLETED: 1, TO_DO: 1 });

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

function assignmentOf(company: Company, job: number, visit: VisitPlan, m: number, member: Member, draw: Draw) {
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
      yield makeAssignment(
        { company, n: visit.index * MOST + m, job: plan },
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
      );
    }
  }
}
