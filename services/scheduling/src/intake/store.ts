// Service requests in their table. Every change locks the row first, so that events are stored in order.
import { ServiceRequest } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { append } from '@truckroll/outbox';
import type { Queryable, Transaction } from '@truckroll/postgres';
import { serviceRequestEvents, type Step } from './events.ts';
import { serviceRequests } from './tables.ts';

export interface HeldRequest {
  request: ServiceRequest;
  /** Sequence of the latest event about it. */
  sequence: number;
}

interface Row {
  document: Buffer;
  event_sequence: number;
}

const held = ({ document, event_sequence }: Row): HeldRequest => ({ request: ServiceRequest.decode(document), sequence: event_sequence });

export async function holdServiceRequest(tx: Transaction, companyId: string, id: string): Promise<HeldRequest | undefined> {
  const { rows } = await tx.query<Row>({
    name: 'hold_service_request',
    text: 'select document, event_sequence from service_requests where company_id = $1 and id = $2 for no key update',
    values: [companyId, id],
  });
  return rows[0] && held(rows[0]);
}

/** Locks the service requests booked for a visit. The caller has locked the visit: the visit always comes first. */
export async function holdServiceRequestsOf(tx: Transaction, companyId: string, visitId: string): Promise<HeldRequest[]> {
  const { rows } = await tx.query<Row>({
    name: 'hold_service_requests_of_visit',
    text: `select document, event_sequence from service_requests
      where company_id = $1 and appointment_id = $2 order by id for no key update`,
    values: [companyId, visitId],
  });
  return rows.map(held);
}

export async function readServiceRequest(from: Queryable, companyId: string, id: string): Promise<ServiceRequest | undefined> {
  const { rows } = await from.query<Row>({
    name: 'read_service_request',
    text: 'select document, event_sequence from service_requests where company_id = $1 and id = $2',
    values: [companyId, id],
  });
  return rows[0] && held(rows[0]).request;
}

/** Stores a locked service request with the data of its last step, and appends an event for every step. */
export async function storeSteps(tx: Transaction, companyId: string, { sequence }: HeldRequest, at: number, steps: readonly Step[]): Promise<void> {
  const latest = steps.at(-1)?.data;
  if (latest === undefined) return;
  const { unbooked, status, created_at } = serviceRequests.of(latest);
  await tx.query({
    name: 'store_service_request',
    text: `update service_requests set document = $3, appointment_id = $4, event_sequence = $5, unbooked = $6, status = $7, created_at = $8,
        projection = ${serviceRequests.version}
      where company_id = $1 and id = $2`,
    values: [
      companyId,
      latest.id,
      Buffer.from(ServiceRequest.encode(latest).finish()),
      latest.appointment_id ?? null,
      sequence + steps.length,
      unbooked,
      status,
      created_at,
    ],
  });
  await append(tx, serviceRequestEvents(companyId, sequence, at, steps));
}
