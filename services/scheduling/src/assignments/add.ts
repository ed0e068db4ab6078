// POST /v1/job-assignments: adds a technician to a visit (decisions §5).
import { randomUUID } from 'node:crypto';
import { ApiError, checkRanges, now, refuseBroken, shapeNamed } from '@truckroll/contract';
import { AddAssignmentRequest } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { Assignment, AssignmentStatus } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import type { TeamMember } from '@truckroll/contract/gen/scheduling/v1/team_members';
import type { CallContext } from '@truckroll/grpc';
import { nameInReference } from '@truckroll/record-store';
import { eventsOf } from './events.ts';
import { canBeAssigned, refuseAdding, refuseOutsideWindow, refuseStale, withAssignments } from '../visits/rules.ts';
import { ADDING, addingValues, holdVisit, type HeldVisit } from './store.ts';
import { perform, type PlannedChange, type Write, type WriteServices } from './write.ts';

interface Found {
  held: HeldVisit;
  member?: TeamMember;
}

const REQUEST = shapeNamed('truckroll.scheduling.v1.AddAssignmentRequest');

const ADD: Write<AddAssignmentRequest, Found> = {
  name: 'AddAssignment',
  encode: (command) => AddAssignmentRequest.encode(command),
  find: (tx, key, companyId, { appointment_id, team_member_id }) => holdVisit(tx, key, companyId, appointment_id, team_member_id),
  plan,
};

/** Returns AddAssignmentResponse. Errors: as `perform`. */
export async function addAssignment(services: WriteServices, request: AddAssignmentRequest, context: CallContext): Promise<Buffer> {
  refuseBroken(checkRanges(REQUEST, request));
  return perform(services, ADD, request, context);
}

function plan(companyId: string, request: AddAssignmentRequest, found: Found | undefined): PlannedChange {
  if (found === undefined) throw ApiError.notFound('visit');
  const { held, member } = found;
  if (member === undefined || !canBeAssigned(member)) throw ApiError.notFound('assignable team member');
  const { visit } = held;
  const at = now();
  const assignment: Assignment = {
    id: randomUUID(),
    job_id: visit.job_id,
    appointment_id: visit.id,
    team_member: { id: member.id, name: nameInReference(member.name) },
    starts_at: request.starts_at,
    ends_at: request.ends_at,
    status: AssignmentStatus.TO_DO,
    status_updated_at: at,
    created_at: at,
    updated_at: undefined,
  };
  return {
    storing: ADDING,
    held,
    next: withAssignments(visit, [...visit.assignments, assignment]),
    *refusals() {
      yield refuseAdding(visit, member.id);
      yield refuseOutsideWindow(visit, request);
      yield refuseStale(visit, request.expected_revision);
    },
    status: 201,
    location: `/v1/job-assignments/${assignment.id}`,
    audited: { action: 'assignment.added', assignment, is: 'after' },
    store(changed) {
      const document = Assignment.encode(assignment).finish();
      return { values: addingValues(companyId, changed, assignment, document), events: eventsOf(companyId, changed, assignment, document) };
    },
  };
}
