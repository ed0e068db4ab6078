// Checks service requests booked for the visits: the first technician sets them to SCHEDULED, losing the last one sets them back to BOOKED.
import type { Observed, RequestEvent, StoredNotification } from '../observed.ts';
import type { Taken } from './events.ts';
import type { VisitState } from './states.ts';
import { violation, type Violation } from './violations.ts';

const [NEW, BOOKED, SCHEDULED] = ['NEW', 'BOOKED', 'SCHEDULED'].map((name) => `SERVICE_REQUEST_STATUS_${name}`) as [string, string, string];

export function checkRequests(observed: Observed, states: ReadonlyMap<string, readonly VisitState[]>, { bySubject }: Taken<RequestEvent>): Violation[] {
  const { requests, notifications } = observed;
  const violations: Violation[] = [];
  const subjects = new Map([...bySubject.values()].map((events) => [events[0]!.subject, events]));
  for (const { id, visitId, status, sequence } of requests) {
    const wrong = (what: string): void => void violations.push(violation('service-request-differs', `service request ${id}: ${what}`));
    const events = subjects.get(id) ?? [];
    subjects.delete(id);
    const expected = eventsAfter(states.get(visitId ?? '') ?? []);
    const found = events.map(({ type, previous, status: now }) => shown(type, now, previous));
    if (found.join() !== expected.join()) wrong(`its ${found.length} events are ${tail(found)} and not ${tail(expected)}`);
    if (sequence !== events.length) wrong(`it counts ${sequence} events, and there are ${events.length}`);
    if (status !== events.at(-1)?.status) wrong(`it is ${status}, and its latest event says ${events.at(-1)?.status}`);
  }
  // A sent notification is an interaction with the same id, which has one event.
  const sent = new Set(notifications.filter((one: StoredNotification) => one.status === 'SENT').map(({ id }) => id));
  for (const [subject, events] of subjects) {
    if (sent.delete(subject) && events.length === 1 && events[0]!.type === 'interaction.completed') continue;
    violations.push(
      violation('service-request-differs', `${events.length} events are about ${subject}, which is neither a service request nor a message that was sent`),
    );
  }
  for (const id of sent) violations.push(violation('notification-differs', `notification ${id} was sent, but no interaction records it`));
  return violations;
}

function eventsAfter(states: readonly VisitState[]): string[] {
  const events = [shown('service_request.created', NEW), shown('service_request.status_changed', BOOKED, NEW), shown('service_request.booked', BOOKED)];
  let status = BOOKED;
  for (const { assignments } of states) {
    const next = assignments.size > 0 ? SCHEDULED : BOOKED;
    if (next === status) continue;
    events.push(shown('service_request.status_changed', next, status));
    status = next;
  }
  return events;
}

function shown(type: string, status: string | undefined, previous?: string): string {
  return `${type} ${previous === undefined ? '' : `${previous} → `}${status}`;
}

function tail(events: readonly string[]): string {
  return `${events.length > 3 ? '… ' : ''}${events.slice(-3).join('; ')}`;
}
