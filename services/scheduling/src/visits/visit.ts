// What a visit derives from its assignments: order, dispatch status (decisions §1), and the revision that a write must name (decisions §5).
import { createHash } from 'node:crypto';
import { DispatchStatus, type Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { AssignmentStatus, type Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';

const { EN_ROUTE, IN_PROGRESS, PAUSED, COMPLETED, CANCELED } = AssignmentStatus;

/** The first matching row gives the status of a visit that is not canceled, from its assignments that are not canceled. */
const STATES: readonly [status: DispatchStatus, holds: (statuses: readonly AssignmentStatus[]) => boolean][] = [
  [DispatchStatus.UNASSIGNED, (statuses) => statuses.length === 0],
  [DispatchStatus.COMPLETED, (statuses) => statuses.every((status) => status === COMPLETED)],
  [DispatchStatus.IN_PROGRESS, (statuses) => statuses.some((status) => status === IN_PROGRESS || status === PAUSED)],
  [DispatchStatus.DISPATCHED, (statuses) => statuses.some((status) => status === EN_ROUTE || status === COMPLETED)],
  [DispatchStatus.ASSIGNED, () => true],
];

export function dispatchStatusOf(canceled: boolean, assignments: readonly Pick<Assignment, 'status'>[]): DispatchStatus {
  if (canceled) return DispatchStatus.CANCELED;
  const statuses = assignments.map(({ status }) => status).filter((status) => status !== CANCELED);
  const [status] = STATES.find(([, holds]) => holds(statuses)) as (typeof STATES)[number];
  return status;
}

/** The order in which a visit shows its assignments: by starts_at, then id. */
export function inOrder<A extends Pick<Assignment, 'starts_at' | 'id'>>(assignments: readonly A[]): A[] {
  return assignments.toSorted((a, b) => a.starts_at - b.starts_at || (a.id < b.id ? -1 : 1));
}

/**
 * SHA-256 over the recorded columns of the visit and of its assignments, in whatever order these are given. It excludes the company id,
 * names and the job, so that an imported copy has the same revision and a rename does not change it. JSON separates the columns, so no two
 * different visits have the same input.
 */
export function revisionOf(visit: Visit, assignments: readonly Assignment[]): string {
  const own = [
    visit.id,
    visit.number,
    visit.job_id,
    visit.type,
    visit.description,
    visit.window_start_at,
    visit.window_end_at,
    visit.confirmed,
    visit.canceled,
    visit.cancellation_reason ?? null,
    visit.cancellation_note ?? null,
    visit.created_by?.id ?? null,
    visit.created_at,
    visit.updated_at,
    visit.kind,
    visit.starts_at,
    visit.ends_at,
  ];
  const theirs = inOrder(assignments).map((assignment) => [
    assignment.id,
    assignment.job_id,
    assignment.appointment_id,
    assignment.team_member?.id ?? null,
    assignment.starts_at,
    assignment.ends_at,
    assignment.status,
    assignment.status_updated_at,
    assignment.created_at,
    assignment.updated_at ?? null,
  ]);
  return createHash('sha256')
    .update(JSON.stringify([own, theirs]))
    .digest('hex');
}
