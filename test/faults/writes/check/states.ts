import type { StoredVisit, VisitEvent } from '../observed.ts';

export interface VisitState {
  readonly revision: string;
  readonly assignments: ReadonlyMap<string, string>;
}

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

export function sameAssignments(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([id, technician]) => b.get(id) === technician);
}
