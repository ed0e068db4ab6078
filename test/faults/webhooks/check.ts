// Compares what arrived at endpoints with what was published for them. Pure.
import { violation, type Violation } from './violations.ts';

export interface Published {
  readonly id: string;
  readonly type: string;
  readonly companyId: string;
  readonly subject: string;
  readonly sequence: number;
}

export interface Endpoint {
  readonly name: string;
  readonly companyId: string;
  readonly eventTypes: readonly string[];
}

export interface Arrival {
  readonly endpoint: string;
  readonly eventId: string;
  readonly subject: string;
  readonly sequence: number;
  readonly problem?: string | undefined;
  readonly status: number;
  /** Whether it contains data that the previous release does not know. */
  readonly unknownToOlder?: boolean;
}

export interface Delivered {
  readonly violations: readonly Violation[];
  readonly counts: { readonly events: number; readonly deliveries: number; readonly requests: number; readonly refused: number; readonly duplicates: number };
}

const isSuccess = ({ status }: Arrival): boolean => status >= 200 && status < 300;

/** `published` holds each event once. A duplicate is an event that arrives again after the endpoint accepted it. */
export function checkDeliveries(published: readonly Published[], endpoints: readonly Endpoint[], arrivals: readonly Arrival[]): Delivered {
  const violations: Violation[] = [];
  let [deliveries, duplicates, refused] = [0, 0, 0];
  const byEndpoint = Map.groupBy(arrivals, ({ endpoint }) => endpoint);
  for (const endpoint of endpoints) {
    const wanted = new Map(
      published.filter((event) => event.companyId === endpoint.companyId && endpoint.eventTypes.includes(event.type)).map((event) => [event.id, event]),
    );
    const came = byEndpoint.get(endpoint.name) ?? [];
    deliveries += wanted.size;
    const byEvent = Map.groupBy(came, ({ eventId }) => eventId);
    for (const { id, type, subject, sequence } of wanted.values()) {
      const requests = byEvent.get(id) ?? [];
      const what = `${endpoint.name}: ${type} ${id}, number ${sequence} of ${subject},`;
      if (!requests.some(isSuccess)) violations.push(violation('lost', `${what} ${requests.length === 0 ? 'never came' : 'was given up'}`));
      const first = requests.findIndex(isSuccess);
      duplicates += first < 0 ? 0 : requests.length - 1 - first;
    }
    for (const [id, requests] of byEvent) {
      refused += requests.filter((request) => !isSuccess(request)).length;
      if (!wanted.has(id)) violations.push(violation('unasked', `${endpoint.name}: ${id} came, which it had not asked for, or which never happened`));
      for (const { problem } of requests) if (problem !== undefined) violations.push(violation('not-verified', `${endpoint.name}: ${id}: ${problem}`));
    }
    violations.push(...disorder(endpoint.name, came));
  }
  return { violations, counts: { events: published.length, deliveries, requests: arrivals.length, refused, duplicates } };
}

function disorder(endpoint: string, came: readonly Arrival[]): Violation[] {
  const seen = new Set<string>();
  const latest = new Map<string, number>();
  const violations: Violation[] = [];
  for (const { eventId, subject, sequence } of came) {
    if (seen.has(eventId)) continue;
    seen.add(eventId);
    const before = latest.get(subject) ?? 0;
    if (sequence < before)
      violations.push(violation('out-of-order', `${endpoint}: number ${sequence} of ${subject} came for the first time after number ${before}`));
    latest.set(subject, Math.max(before, sequence));
  }
  return violations;
}
