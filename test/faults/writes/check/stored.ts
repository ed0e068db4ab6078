import type { Observed } from '../observed.ts';
import { sameAssignments, type VisitState } from './states.ts';
import { violation, type Violation } from './violations.ts';

export function checkStored(observed: Observed, states: ReadonlyMap<string, readonly VisitState[]>): Violation[] {
  return [...checkVisits(observed, states), ...checkAssignments(observed, states), ...checkTopic(observed)];
}

function checkVisits({ before, visits }: Observed, states: ReadonlyMap<string, readonly VisitState[]>): Violation[] {
  const violations: Violation[] = [];
  const wrong = (id: string, what: string): void => void violations.push(violation('visit-differs-from-events', `visit ${id}: ${what}`));
  const sequences = new Map(before.map(({ id, sequence }) => [id, sequence]));
  for (const { id, revision, sequence, assignments } of visits) {
    const line = states.get(id);
    if (line === undefined) {
      wrong(id, 'it was not there before');
      continue;
    }
    const last = line.at(-1)!;
    if (sequence !== sequences.get(id)! + line.length - 1) wrong(id, `it counts ${sequence} events, and there are ${line.length - 1}`);
    if (revision !== last.revision) wrong(id, `its revision is ${revision}, and that of its latest event ${last.revision}`);
    if (!sameAssignments(assignments, last.assignments))
      wrong(id, `it shows ${assignments.size} technicians that are not the ${last.assignments.size} of its events`);
  }
  for (const { id } of before) if (!visits.some((visit) => visit.id === id)) wrong(id, 'it is gone');
  return violations;
}

function checkAssignments({ assignments }: Observed, states: ReadonlyMap<string, readonly VisitState[]>): Violation[] {
  const expected = new Map(
    [...states].flatMap(([visitId, line]) => [...line.at(-1)!.assignments].map(([id, technicianId]) => [id, `${visitId} ${technicianId}`])),
  );
  const stored = new Map(assignments.map(({ id, visitId, technicianId }) => [id, `${visitId} ${technicianId}`]));
  const all = new Set([...expected.keys(), ...stored.keys()]);
  return [...all].flatMap((id) =>
    expected.get(id) === stored.get(id)
      ? []
      : [
          violation(
            'assignment-differs-from-events',
            `assignment ${id} is stored as ${stored.get(id) ?? 'nothing'}, and its events make ${expected.get(id) ?? 'nothing'}`,
          ),
        ],
  );
}

/** The latest message of each key, which compaction keeps, must be the stored document, or a deletion when nothing is stored. */
function checkTopic({ assignments, assignmentEvents }: Observed): Violation[] {
  const stored = new Map(assignments.map(({ id, document }) => [id, document]));
  const violations: Violation[] = [];
  // Includes repeats: a repeat that arrived after a newer event would overwrite it permanently.
  for (const [key, latest] of new Map(assignmentEvents.map(({ key, payload }) => [key, payload]))) {
    const id = key.slice(key.indexOf('/') + 1);
    if (latest !== (stored.get(id) ?? null)) violations.push(violation('state-topic-differs', `the topic's latest of assignment ${id} is not what is stored`));
    stored.delete(id);
  }
  for (const id of stored.keys()) violations.push(violation('state-topic-differs', `assignment ${id} is stored and not on its topic`));
  return violations;
}
