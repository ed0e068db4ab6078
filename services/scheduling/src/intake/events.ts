// The four public events (decisions §6), ready for the outbox.
import { randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import {
  InteractionCompleted,
  ServiceRequestBooked,
  ServiceRequestCreated,
  ServiceRequestStatusChanged,
} from '@truckroll/contract/gen/events/v1/public_events';
import type { Interaction } from '@truckroll/contract/gen/scheduling/v1/interactions';
import type { ServiceRequest, ServiceRequestStatus } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { OutgoingEvent } from '@truckroll/outbox';
import { recordKey } from '@truckroll/record-store';

/** One thing that happened to a service request after it was recorded, and the request right after it. */
export type Step =
  | { type: 'service_request.booked'; data: ServiceRequest }
  | { type: 'service_request.status_changed'; data: ServiceRequest; previous: ServiceRequestStatus };

interface Envelope {
  id: string;
  type: string;
  timestamp: number;
  company_id: string;
  sequence: number;
}

/** Events of a service request, in order; `sequence` is that of the latest event so far. The caller has locked its row. */
export function serviceRequestEvents(companyId: string, sequence: number, at: number, steps: readonly Step[]): OutgoingEvent[] {
  return steps.map((step, index) => outgoing(companyId, step.data.id, step.type, sequence + index + 1, at, (envelope) => encoded(step, envelope)));
}

/**
 * The first event of a service request, encoded before PostgreSQL assigns the number: `head` is the whole body except `data`, up to and
 * including the tag of `data`. The length and `data` are appended to it.
 */
export function serviceRequestCreated(companyId: string, id: string, at: number): { event: OutgoingEvent; head: Buffer } {
  const type = 'service_request.created';
  const event = outgoing(companyId, id, type, 1, at, (envelope) => ServiceRequestCreated.encode({ ...envelope, data: null }).finish());
  return { event, head: Buffer.concat([event.payload as Uint8Array, Buffer.of(DATA_TAG)]) };
}

const DATA_TAG = 0x32;

export function interactionCompleted(companyId: string, data: Interaction, at: number): OutgoingEvent {
  return outgoing(companyId, data.id, 'interaction.completed', 1, at, (envelope) => InteractionCompleted.encode({ ...envelope, data }).finish());
}

function encoded(step: Step, envelope: Envelope): Uint8Array {
  const { data } = step;
  switch (step.type) {
    case 'service_request.booked':
      return ServiceRequestBooked.encode({ ...envelope, data }).finish();
    case 'service_request.status_changed':
      return ServiceRequestStatusChanged.encode({ ...envelope, data: { ...data, previous_status: step.previous } }).finish();
  }
}

function outgoing(companyId: string, subject: string, type: string, sequence: number, at: number, encode: (envelope: Envelope) => Uint8Array): OutgoingEvent {
  const id = randomUUID();
  const payload = encode({ id, type, timestamp: at, company_id: companyId, sequence });
  return { id, topic: topics.serviceRequests.name, key: recordKey(companyId, subject), type, companyId, sequence, payload };
}
