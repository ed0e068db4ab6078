import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import { makerOf } from '../shapes/maker.ts';
import { CANCEL_NOTES, CANCEL_REASONS, VISIT_NOTES } from '../words/phrases.ts';
import type { JobPlan, VisitPlan } from '../plans.ts';

const make = makerOf<Visit>('job-appointments');
export const VISITS = stream('visits');
const DETAILS = stream('visit details');

export function* buildVisits(company: Company, plan: JobPlan) {
  for (const visit of plan.visits) yield buildVisit(company, plan, visit);
}

/** Leaves out the fields derived from other records: job, assignments, dispatch_status and revision. */
function buildVisit(company: Company, plan: JobPlan, visit: VisitPlan) {
  const draw = drawOf(company, DETAILS, visit.index);
  const editable = Math.max(visit.bookedAt, Math.min(visit.startsAt, company.until));
  return make(
    company,
    visit.index,
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
    plan,
  );
}
