// DELETE /v1/job-assignments/{id}: removes a technician from a visit (decisions §5).
import { ApiError } from '@truckroll/contract';
import { RemoveAssignmentRequest } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import type { CallContext } from '@truckroll/grpc';
import { eventsOf } from './events.ts';
import { refuseRemoving, refuseStale, withAssignments } from '../visits/rules.ts';
import { REMOVING, holdVisitOf, removingValues, type HeldVisit } from './store.ts';
import { perform, type PlannedChange, type Write, type WriteServices } from './write.ts';

const REMOVE: Write<RemoveAssignmentRequest, HeldVisit> = {
  name: 'RemoveAssignment',
  encode: (command) => RemoveAssignmentRequest.encode(command),
  find: (tx, key, companyId, { id }) => holdVisitOf(tx, key, companyId, id),
  plan,
};

/** Returns RemoveAssignmentResponse. Errors: as `perform`. */
export function removeAssignment(services: WriteServices, request: RemoveAssignmentRequest, context: CallContext): Promise<Buffer> {
  return perform(services, REMOVE, request, context);
}

function plan(companyId: string, request: RemoveAssignmentRequest, held: HeldVisit | undefined): PlannedChange {
  // Another write may have removed it while this one waited for the visit.
  const assignment = held?.visit.assignments.find(({ id }) => id === request.id);
  if (held === undefined || assignment === undefined) throw ApiError.notFound('assignment');
  const { visit } = held;
  return {
    storing: REMOVING,
    held,
    next: withAssignments(
      visit,
      visit.assignments.filter(({ id }) => id !== assignment.id),
    ),
    *refusals() {
      yield refuseRemoving(assignment);
      yield refuseStale(visit, request.expected_revision);
    },
    status: 200,
    location: null,
    audited: { action: 'assignment.removed', assignment, is: 'before' },
    store: (changed) => ({
      values: removingValues(companyId, changed, assignment),
      events: eventsOf(companyId, changed, assignment, null),
    }),
  };
}
