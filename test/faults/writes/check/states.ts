// The states that a visit went through, one after each event.
import type { StoredVisit, VisitEvent } from '../observed.ts';

export interface VisitState {
  readonly revision: string;
  /** Technicians by assignment id. */
  readonly assignments: ReadonlyMap<string, string>;
}

/** The state before the first event, and that after each. */
export function statesOf(before: StoredVisit, events: readonly VisitEvent[]): VisitState[] {
  const states: VisitState[] = [{ revision: before.revision, assignments: before.assignments }];
  for (const { added, assignmentId, technicianId, revision } of events) {
    const assignments = new Map(states.at(-1)!.assignments);
    if (added) assignments.set(assignmentId, technicianId);
    else assignments.delete(assignmentId);
    states.push({ revision, assignments });
  }
  return states;
}

/** Whether two visits show the same technicians by the same assignments. */
export function sameAssignments(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([id, technician]) => b.get(id) === technician);
}
