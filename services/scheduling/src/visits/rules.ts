// Rules of the two scheduling writes (decisions §5). The caller determines the order of the checks: state, window, revision.
import { ApiError, type ErrorDetail } from '@truckroll/contract';
import type { AddAssignmentRequest } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { AssignmentStatus, type Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import { TeamMemberStatus, type TeamMember } from '@truckroll/contract/gen/scheduling/v1/team_members';
import { dispatchStatusOf, inOrder, revisionOf } from './visit.ts';

type Refusal = ApiError | undefined;

const LOCKS: Partial<Record<AssignmentStatus, 'ACTIVE' | 'COMPLETED'>> = {
  [AssignmentStatus.EN_ROUTE]: 'ACTIVE',
  [AssignmentStatus.IN_PROGRESS]: 'ACTIVE',
  [AssignmentStatus.PAUSED]: 'ACTIVE',
  [AssignmentStatus.COMPLETED]: 'COMPLETED',
};
const LOCK_MESSAGES = {
  ACTIVE: 'The technician is on the way or at work: an active assignment cannot be removed.',
  COMPLETED: 'The technician is done: a completed assignment cannot be removed.',
};

/** If false, the writes answer 404, as for an unknown team member (decisions §5). */
export function canBeAssigned({ status, assignable }: Pick<TeamMember, 'status' | 'assignable'>): boolean {
  return status === TeamMemberStatus.ACTIVE && assignable;
}

/** Checks the state of the visit. A technician whose assignment is canceled may be added again. */
export function refuseAdding(visit: Pick<Visit, 'canceled' | 'assignments'>, teamMemberId: string): Refusal {
  if (visit.canceled) return conflict('ASSIGNMENT_CONFLICT', 'appointment_id', 'VISIT_CANCELED', 'The visit is canceled: no team member can be added to it.');
  if (!technicians(visit).includes(teamMemberId)) return undefined;
  return conflict('ASSIGNMENT_CONFLICT', 'team_member_id', 'ALREADY_ASSIGNED', 'The technician is on the visit already.');
}

type Times = Pick<AddAssignmentRequest, 'starts_at' | 'ends_at' | 'allow_outside_window'>;

/** Both times must lie within the window, bounds included. */
export function refuseOutsideWindow(visit: Pick<Visit, 'window_start_at' | 'window_end_at'>, times: Times): Refusal {
  if (times.allow_outside_window) return undefined;
  const outside = [
    ['starts_at', times.starts_at < visit.window_start_at || times.starts_at > visit.window_end_at],
    ['ends_at', times.ends_at > visit.window_end_at || times.ends_at < visit.window_start_at],
  ] as const;
  const details = outside
    .filter(([, is]) => is)
    .map(([field]): ErrorDetail => {
      const message = 'Give a time inside the visit’s arrival window, or set allow_outside_window to true.';
      return { location: 'body', field, code: 'OUTSIDE_ARRIVAL_WINDOW', message };
    });
  return details.length === 0 ? undefined : ApiError.invalid(details);
}

/** Only the assignment's own status matters: assignments of a canceled visit may be removed. */
export function refuseRemoving({ status }: Pick<Assignment, 'status'>): Refusal {
  const reason = LOCKS[status];
  return reason && conflict('ASSIGNMENT_LOCKED', 'id', reason, LOCK_MESSAGES[reason]);
}

/** 409 STALE_REVISION if the visit is not at the expected revision; its detail carries `current_revision`. */
export function refuseStale({ revision }: Pick<Visit, 'revision'>, expected: string): Refusal {
  if (revision === expected) return undefined;
  const message = 'The visit has changed since it was read: read it again, and send its revision.';
  const detail: ErrorDetail = { location: 'body', field: 'expected_revision', code: 'STALE_REVISION', message, current_revision: revision };
  return new ApiError('STALE_REVISION', message, { details: [detail] });
}

function conflict(code: 'ASSIGNMENT_CONFLICT' | 'ASSIGNMENT_LOCKED', field: string, reason: string, message: string): ApiError {
  return new ApiError(code, message, { details: [{ location: field === 'id' ? 'path' : 'body', field, code, message, reason }] });
}

/** The visit with other assignments, and the fields derived from them. Its own columns stay unchanged. */
export function withAssignments(visit: Visit, assignments: readonly Assignment[]): Visit {
  const own = inOrder(assignments);
  return { ...visit, assignments: own, dispatch_status: dispatchStatusOf(visit.canceled, own), revision: revisionOf(visit, own) };
}

/** Ids of the team members on a visit, without those whose assignments are canceled (decisions §11). */
export function technicians({ assignments }: Pick<Visit, 'assignments'>): string[] {
  return assignments.filter(({ status }) => status !== AssignmentStatus.CANCELED).flatMap(({ team_member }) => team_member?.id ?? []);
}
