import { JsonBuffer, JsonWriter, codec, firstUnknown, publicEvents } from '@truckroll/contract';
import type { PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { IncomingEvent } from '@truckroll/outbox';

/** Fields of all messages in public_events.proto. */
interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly timestamp: number;
  readonly company_id: string;
  readonly sequence: number;
  readonly data: Subject;
}

/** The fields by which people search for a delivery. */
interface Subject {
  readonly number?: string;
  readonly account?: { readonly name: string } | null;
  readonly contact_name?: string | null;
}

const shapes = new Map(publicEvents.map(({ type, body }) => [type, body]));
const writer = new JsonWriter();
const out = new JsonBuffer();

/**
 * Encodes an event for storing and sending. The body is encoded only once, so that every attempt and endpoint gets the same bytes.
 * Throws if the event is invalid or this release does not know all its fields, which receivers would otherwise never get.
 */
export function publicEvent(event: IncomingEvent): PublicEvent {
  if (event.payload === null) throw new Error('the event has no payload');
  const shape = shapes.get(event.type);
  if (shape === undefined) throw new Error('this release does not know the type');
  const unknown = firstUnknown(shape, event.payload);
  if (unknown !== undefined) throw new Error(`this release does not know ${unknown}`);
  const { id, type, timestamp, company_id, sequence, data } = codec(shape.typeName).decode(event.payload) as Envelope;
  if (type !== event.type || company_id !== event.companyId) throw new Error('the event is not what its headers say');
  out.length = 0;
  writer.write(shape, event.payload, 0, event.payload.length, out);
  const { requestId: request_id, trace: traceparent } = event;
  return {
    id,
    type,
    company_id,
    subject: subjectOf(event.key),
    sequence,
    timestamp,
    body: Buffer.from(out.view()),
    request_id,
    traceparent,
    people: event.people,
    ...peopleSay(data),
  };
}

function peopleSay({ number, account, contact_name: contact }: Subject): Pick<PublicEvent, 'subject_number' | 'customer_name'> {
  return { subject_number: number || null, customer_name: account?.name ?? contact ?? null };
}

/** Keys have the form `<company>/<service request or interaction>`. */
function subjectOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}
