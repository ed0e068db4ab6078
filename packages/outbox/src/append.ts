import { randomUUID } from 'node:crypto';
import { activeTraceparent, binaryArrays, currentRequest, type Queryable, type Statement } from '@truckroll/service-kit';
import type { OutboxRow, OutgoingEvent } from './event.ts';
import { largestPayload } from './topic-limits.ts';

/** Of the outbox, what is stored with an event. */
const COLUMNS = 'event_id, topic, key, type, company_id, sequence, payload, trace, request_id';

/** An event that Kafka would not take: it would hold up all after it, so it is not stored. */
export class EventTooLarge extends RangeError {
  /** What the event tells of. */
  readonly key: string;
  readonly bytes: number;
  readonly most: number;

  constructor({ type, key }: Pick<OutgoingEvent, 'type' | 'key'>, bytes: number, most: number) {
    super(`an event of type ${type} has ${bytes} bytes, ${most} at most`);
    this.key = key;
    this.bytes = bytes;
    this.most = most;
  }
}

/**
 * Stores events in the caller's transaction, in one statement. The caller holds a lock on each subject (the row that
 * it changes), so that ids grow in the order in which the changes of a subject are committed.
 * Throws EventTooLarge for a payload over what the topic takes.
 */
export async function append(tx: Queryable, events: readonly OutgoingEvent[]): Promise<void> {
  if (events.length > 0) await tx.query(appending(events));
}

/** The statement of `append`, for callers that send it with others. Throws EventTooLarge as `append` rejects. */
export function appending(events: readonly OutgoingEvent[]): Statement {
  for (const event of events) refuseLarge(event, event.payload?.length ?? 0);
  return {
    name: 'outbox_append',
    text: `insert into outbox (${COLUMNS})
      select event_id, topic, key, type, company_id, sequence, payload, $8, $9::uuid
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::bigint[], $7::bytea[])
        with ordinality as event (event_id, topic, key, type, company_id, sequence, payload, position)
      order by position`,
    values: [
      binaryArrays.uuid(events.map((event) => event.id ?? randomUUID())),
      binaryArrays.text(events.map((event) => event.topic)),
      binaryArrays.text(events.map((event) => event.key)),
      binaryArrays.text(events.map((event) => event.type)),
      binaryArrays.uuid(events.map((event) => event.companyId)),
      binaryArrays.bigint(events.map((event) => event.sequence)),
      binaryArrays.bytes(events.map((event) => event.payload)),
      activeTraceparent() ?? null,
      currentRequest()?.requestId ?? null,
    ],
  };
}

/** Where in a statement of the caller's the payload of an event is: an expression over the rows of a table or expression. */
export interface MadePayload {
  readonly expression: string;
  readonly from: string;
}

/** Of the outbox, the columns beside the payload and what PostgreSQL sets. */
export type MadeColumns = Omit<OutboxRow, 'id' | 'payload' | 'created_at'>;

/**
 * What is stored with an event whose payload, of `most` bytes at most, is only known to PostgreSQL: it holds what a statement
 * itself gives out, such as a number. Told on behalf of the request that is served now. Throws EventTooLarge as above.
 */
export function madeColumns(event: Omit<OutgoingEvent, 'payload'>, most: number): MadeColumns {
  refuseLarge(event, most);
  const { topic, key, type, companyId: company_id } = event;
  return {
    event_id: event.id ?? randomUUID(),
    topic,
    key,
    type,
    company_id,
    sequence: event.sequence ?? null,
    trace: activeTraceparent() ?? null,
    request_id: currentRequest()?.requestId ?? null,
  };
}

/** The part of a caller's statement that stores such events, which are rows of `from` with these columns, in the order of another one. */
export function appendingRows(from: string, order: string): string {
  return `insert into outbox (${COLUMNS}) select ${COLUMNS} from ${from} order by ${order}`;
}

/** The statement that stores one such event. */
export function appendingMade(
  { event_id, topic, key, type, company_id, sequence, trace, request_id }: MadeColumns,
  { expression, from }: MadePayload,
): Statement {
  return {
    text: `insert into outbox (${COLUMNS})
      select $1::uuid, $2::text, $3::text, $4::text, $5::uuid, $6::bigint, ${expression}, $7::text, $8::uuid from ${from}`,
    values: [event_id, topic, key, type, company_id, sequence, trace, request_id],
  };
}

function refuseLarge(event: Omit<OutgoingEvent, 'payload'>, bytes: number): void {
  const most = largestPayload(event.topic);
  if (bytes > most) throw new EventTooLarge(event, bytes, most);
}
