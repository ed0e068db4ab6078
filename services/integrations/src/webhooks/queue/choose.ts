// Chooses the new deliveries that are leased to the worker when they are stored.
import type { LeaseRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { DeliveryState } from '../health/rules.ts';

/** An endpoint that may get deliveries. */
export interface FreeSlots {
  id: string;
  /** Free slots of the endpoint; may be negative. */
  free: number;
}

export interface NewlyQueued {
  event: { company_id: string; subject: string };
  endpointId: string;
  state: DeliveryState;
}

/** Chooses as Lease would: the first of each subject, within the free slots of endpoint and company, and companies take turns. */
export function chooseLeased<D extends NewlyQueued>(deliveries: readonly D[], endpoints: readonly FreeSlots[], asked: LeaseRequest): Set<D> {
  const excluded = new Set(asked.excluded_endpoint_ids);
  const free = new Map(endpoints.filter(({ id }) => !excluded.has(id)).map((endpoint) => [endpoint.id, endpoint.free]));
  const busy = new Map(asked.busy_companies.map(({ company_id, max_deliveries }) => [company_id, max_deliveries]));
  const subjects = new Set<string>();
  const turns = new Map<string, number>();
  const chosen: { delivery: D; turn: number }[] = [];
  for (const delivery of deliveries) {
    const { event, endpointId, state } = delivery;
    const subject = `${endpointId} ${event.subject}`;
    if (state !== 'PENDING' || subjects.has(subject)) continue;
    subjects.add(subject);
    const left = free.get(endpointId) ?? 0;
    const turn = (turns.get(event.company_id) ?? 0) + 1;
    if (left <= 0 || turn > (busy.get(event.company_id) ?? asked.max_of_company ?? Infinity)) continue;
    free.set(endpointId, left - 1);
    turns.set(event.company_id, turn);
    chosen.push({ delivery, turn });
  }
  const inTurn = chosen.toSorted((a, b) => a.turn - b.turn);
  return new Set(inTurn.slice(0, asked.max_deliveries).map(({ delivery }) => delivery));
}
