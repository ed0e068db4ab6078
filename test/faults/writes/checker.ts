// Compares the answers that clients got with what is stored and published. Pure: all input is passed in.
import { checkAnswers, type Lives } from './check/answers.ts';
import { attribute, type Effect } from './check/effects.ts';
import { takeEvents } from './check/events.ts';
import { checkNotifications } from './check/notifications.ts';
import { checkOrder } from './check/order.ts';
import { checkRequests } from './check/requests.ts';
import { statesOf } from './check/states.ts';
import { checkStored } from './check/stored.ts';
import { violation, type Violation } from './check/violations.ts';
import { isAcknowledged, isDefinite, type Attempt } from './history.ts';
import type { Observed, StoredVisit, VisitEvent } from './observed.ts';

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly counts: Readonly<Record<string, number>>;
}

export function check(history: readonly Attempt[], observed: Observed): Verdict {
  const [visitEvents, assignmentEvents, requestEvents] = [
    takeEvents(observed.visitEvents),
    takeEvents(observed.assignmentEvents),
    takeEvents(observed.requestEvents),
  ];
  const attempts = Map.groupBy(history, ({ key }) => key);
  const byVisit = new Map([...visitEvents.bySubject.values()].map((events) => [events[0]!.visitId, events]));
  const states = new Map(observed.before.map((visit) => [visit.id, statesOf(visit, byVisit.get(visit.id) ?? [])]));
  const attribution = attribute(attempts, observed.keys, byVisit);
  const lives: Lives = { states, attempts, effects: inOrder(attribution.effects) };
  const violations = [
    ...visitEvents.violations,
    ...assignmentEvents.violations,
    ...requestEvents.violations,
    ...foreign(observed.before, byVisit),
    ...attribution.violations,
    ...checkAnswers(lives, attribution),
    ...checkOrder(lives),
    ...checkStored(observed, states),
    ...checkRequests(observed, states, requestEvents),
    ...checkNotifications(observed.notifications, attribution.effects),
    ...observed.keys.flatMap(({ key, status }) => (status === null ? [violation('key-without-effect', `${key} is stored without an answer`)] : [])),
    ...observed.wrongReadModels.map((text) => violation('read-model-differs', text)),
    ...(observed.unreadable === 0 ? [] : [violation('message-unreadable', `${observed.unreadable} messages are no events`)]),
    ...(observed.unpublished === 0 ? [] : [violation('event-unpublished', `${observed.unpublished} events wait in the outbox`)]),
  ];
  const taken = [visitEvents, assignmentEvents, requestEvents];
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  return {
    violations,
    counts: {
      ...countKeys(attempts, attribution.byKey),
      effects: attribution.effects.length,
      events: sum(taken.map(({ bySubject }) => sum([...bySubject.values()].map((events) => events.length)))),
      duplicates: sum(taken.map(({ duplicates }) => duplicates)),
      service_request_events: observed.requestEvents.length - requestEvents.duplicates,
      notifications: observed.notifications.length,
    },
  };
}

function foreign(before: readonly StoredVisit[], byVisit: ReadonlyMap<string, readonly VisitEvent[]>): Violation[] {
  const known = new Set(before.map(({ id }) => id));
  return [...byVisit.keys()].filter((id) => !known.has(id)).map((id) => violation('event-without-write', `events are about visit ${id}, which there is not`));
}

function inOrder(effects: readonly Effect[]): Map<string, Effect[]> {
  const byVisit = Map.groupBy(effects, ({ event }) => event.visitId);
  for (const line of byVisit.values()) line.sort((a, b) => a.place - b.place);
  return byVisit;
}

/** Counts writes by key. An indefinite one never got a final answer; it may have had its effect. */
function countKeys(attempts: ReadonlyMap<string, readonly Attempt[]>, byKey: ReadonlyMap<string, unknown>): Record<string, number> {
  const keys = [...attempts];
  const answered = ([, all]: [string, readonly Attempt[]]): boolean => all.some(isAcknowledged);
  const refused = ([, all]: [string, readonly Attempt[]]): boolean => !all.some(isAcknowledged) && all.some(isDefinite);
  const indefinite = keys.filter((one) => !answered(one) && !refused(one));
  const all = keys.flatMap(([, of]) => of);
  return {
    writes: keys.length,
    acknowledged: keys.filter(answered).length,
    refused: keys.filter(refused).length,
    indefinite: indefinite.length,
    indefinite_with_effect: indefinite.filter(([key]) => byKey.has(key)).length,
    requests: all.length,
    unanswered_requests: all.filter(({ answer }) => answer === undefined).length,
    unavailable_answers: all.filter(({ answer }) => answer?.status === 503).length,
    replays: all.filter(({ answer }) => answer?.replayed).length,
  };
}
