// Checks every answer: an acknowledged write was made, one key always gets the same answer, and a refusal was justified at that time.
import { isAcknowledged, type Answer, type Attempt } from '../history.ts';
import type { Attribution, Effect } from './effects.ts';
import type { VisitState } from './states.ts';
import { violation, type Violation } from './violations.ts';

export interface Lives {
  readonly states: ReadonlyMap<string, readonly VisitState[]>;
  readonly effects: ReadonlyMap<string, readonly Effect[]>;
  readonly attempts: ReadonlyMap<string, readonly Attempt[]>;
}

/** Answers that a correct system may give at any time: they only mean "not now". */
const PASSING = new Set([429, 503]);

export function checkAnswers(lives: Lives, { byKey }: Attribution): Violation[] {
  const violations: Violation[] = [];
  for (const [key, attempts] of lives.attempts) {
    const effects = byKey.get(key) ?? [];
    violations.push(...checkAcknowledged(key, attempts.filter(isAcknowledged), effects));
    for (const attempt of attempts) {
      if (attempt.answer === undefined || isAcknowledged(attempt) || PASSING.has(attempt.answer.status)) continue;
      const problem = refusalProblem(lives, attempt, attempt.answer, effects);
      if (problem !== undefined) violations.push(problem);
    }
  }
  return violations;
}

function checkAcknowledged(key: string, acknowledged: readonly Attempt[], effects: readonly Effect[]): Violation[] {
  const violations: Violation[] = [];
  const [first] = acknowledged;
  if (first === undefined) return [];
  const answers = new Set(acknowledged.map(({ answer }) => JSON.stringify([answer?.status, answer?.location, answer?.said])));
  if (answers.size > 1) violations.push(violation('answers-differ', `${key} was answered in ${answers.size} ways`));
  const originals = acknowledged.filter(({ answer }) => !answer?.replayed).length;
  if (originals > 1) violations.push(violation('executed-twice', `${key} was answered ${originals} times as if for the first time`));
  for (const { write, answer } of acknowledged) {
    if (answer?.status !== (write.kind === 'add' ? 201 : 200)) violations.push(violation('unexpected-answer', `${key}: ${answer?.status} for ${write.kind}`));
    if (effects.some(({ event }) => event.revision === answer?.revision && event.visitId === write.visitId)) continue;
    violations.push(violation('answer-differs-from-effect', `${key} was answered with revision ${answer?.revision}, which none of its events has`));
  }
  return violations;
}

/** A refusal must be justified by a state that the visit had during the attempt, before the key had its own effect. */
function refusalProblem(lives: Lives, attempt: Attempt, answer: Answer, effects: readonly Effect[]): Violation | undefined {
  const { write, key } = attempt;
  const text = `${write.kind} by ${key} on visit ${write.visitId}: ${answer.status} ${answer.code} ${answer.reason ?? ''}`.trim();
  // Another request with the key was in progress.
  if (answer.code === 'IDEMPOTENCY_IN_PROGRESS') return undefined;
  if (answer.code === 'IDEMPOTENCY_KEY_REUSED') {
    return effects.some((effect) => effect.write !== write) ? undefined : violation('refusal-unexplained', `${text}, and no other write had the key`);
  }
  const refuses = refusing(attempt, answer);
  if (refuses === undefined) return violation('unexpected-answer', text);
  const [from, to] = placesDuring(lives, attempt, effects);
  const states = lives.states.get(write.visitId) ?? [];
  if (states.slice(from, to + 1).some(refuses)) return undefined;
  return violation('refusal-unexplained', `${text}, which holds in no state of the visit from ${from} to ${to}`);
}

function refusing({ write }: Attempt, { status, code, reason, currentRevision }: Answer): ((state: VisitState) => boolean) | undefined {
  if (status === 409 && code === 'STALE_REVISION') return ({ revision }) => revision === currentRevision && revision !== write.expectedRevision;
  if (status === 409 && code === 'ASSIGNMENT_CONFLICT' && reason === 'ALREADY_ASSIGNED' && write.kind === 'add') {
    return ({ assignments }) => [...assignments.values()].includes(write.technicianId);
  }
  if (status === 404 && code === 'NOT_FOUND' && write.kind === 'remove') return ({ assignments }) => !assignments.has(write.assignmentId);
  return undefined;
}

function placesDuring({ effects, attempts, states }: Lives, attempt: Attempt, own: readonly Effect[]): [number, number] {
  const { visitId, expectedRevision } = attempt.write;
  const known = states.get(visitId) ?? [];
  // The client had already seen that revision, so earlier states do not count.
  let from = Math.max(
    0,
    known.findIndex(({ revision }) => revision === expectedRevision),
  );
  let to = known.length - 1;
  for (const { place, key, write } of effects.get(visitId) ?? []) {
    const theirs = (attempts.get(key) ?? []).filter((one) => one.write === write);
    if (theirs.some((one) => isAcknowledged(one) && one.endedAt < attempt.invokedAt)) from = Math.max(from, place);
    if (theirs.every((one) => one.invokedAt > attempt.endedAt)) to = Math.min(to, place - 1);
  }
  for (const { place, event } of own) if (event.visitId === visitId) to = Math.min(to, place - 1);
  return [from, to];
}
