import { topics } from '@truckroll/contract';
import { VisitAssignmentChanged } from '@truckroll/contract/gen/events/v1/visit_events';
import type { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import type { OutgoingEvent } from '@truckroll/outbox';
import { recordKey } from '@truckroll/record-store';
import type { ChangedVisit } from './store.ts';

/** A write's events: the visit's change and the assignment's state (null: removed). The visit is locked, so its events are in sequence order. */
export function eventsOf(companyId: string, { visit, sequence }: ChangedVisit, assignment: Assignment, document: Uint8Array | null): OutgoingEvent[] {
  const { id: visit_id, revision, dispatch_status } = visit;
  return [
    {
      topic: topics.scheduling.name,
      key: recordKey(companyId, visit_id),
      type: document === null ? 'visit.assignment_removed' : 'visit.assignment_added',
      companyId,
      sequence,
      payload: VisitAssignmentChanged.encode({ visit_id, assignment, revision, dispatch_status }).finish(),
    },
    {
      topic: topics.assignments.name,
      key: recordKey(companyId, assignment.id),
      type: document === null ? 'assignment.removed' : 'assignment.changed',
      companyId,
      payload: document,
    },
  ];
}
