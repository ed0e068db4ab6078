import { randomUUID } from 'node:crypto';
import { binaryArrays, type Queryable, type Statement } from '@truckroll/postgres';
import { activeTraceparent, currentRequest } from '@truckroll/telemetry';
import type { OutboxRow, OutgoingEvent } from './event.ts';
import { largestPayload } from './topic-limits.ts';

const COLUMNS = 'event_id, topic, key, type, company_id, sequence, payload, trace, request_id';

/** An event larger than its topic accepts. It is not stored, because it would block every event after it. */
export class EventTooLarge extends RangeError {
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

/** Stores events in the caller's transaction, which must hold a lock on each subject, so that its ids are in commit order. Throws EventTooLarge. */
export async function append(tx: Queryable, events: readonly OutgoingEvent[]): Promise<void> {
  if (events.length > 0) await tx.query(appending(events));
}

/** The statement of `append`, for callers that batch it with other statements. Throws EventTooLarge. */
export function appending(events: readonly OutgoingEvent[]): Statement {
  return { name: 'outbox_append', text: APPEND, values: appendingValues(events) };
}

/** Text of `appending` for a part of a larger statement, in which `first` is the number of the first of `appendingValues`. */
export function appendingText(first: number): string {
  const $ = (n: number): string => `$${first + n}`;
  return `insert into outbox (${COLUMNS}, people)
      select event_id, topic, key, type, company_id, sequence, payload, ${$(8)}, ${$(9)}::uuid, people
      from unnest(${$(0)}::uuid[], ${$(1)}::text[], ${$(2)}::text[], ${$(3)}::text[], ${$(4)}::uuid[], ${$(5)}::bigint[], ${$(6)}::bytea[], ${$(7)}::text[])
        with ordinality as event (event_id, topic, key, type, company_id, sequence, payload, people, position)
      order by position`;
}
const APPEND = appendingText(1);

/** Throws EventTooLarge. */
export function appendingValues(events: readonly OutgoingEvent[]): unknown[] {
  for (const event of events) refuseLarge(event, (event.payload?.length ?? 0) + (event.people?.length ?? 0));
  return [
    binaryArrays.uuid(events.map((event) => event.id ?? randomUUID())),
    binaryArrays.text(events.map((event) => event.topic)),
    binaryArrays.text(events.map((event) => event.key)),
    binaryArrays.text(events.map((event) => event.type)),
    binaryArrays.uuid(events.map((event) => event.companyId)),
    binaryArrays.bigint(events.map((event) => event.sequence)),
    binaryArrays.bytea(events.map((event) => event.payload)),
    binaryArrays.text(events.map((event) => event.people ?? null)),
    activeTraceparent() ?? null,
    currentRequest()?.requestId ?? null,
  ];
}

/** COLUMNS without the payload. */
export type MadeColumns = Omit<OutboxRow, 'id' | 'payload' | 'people' | 'created_at'>;

/**
 * Columns of an event whose payload PostgreSQL computes, for example because it contains a number that the same statement assigns.
 * `most` is the maximum size of the payload in bytes. Throws EventTooLarge.
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

/** SQL that stores such events from the rows of `from`, in the order of the column `order`. `from` must have all of COLUMNS. */
export function appendingRows(from: string, order: string): string {
  return `insert into outbox (${COLUMNS}) select ${COLUMNS} from ${from} order by ${order}`;
}

function refuseLarge(event: Omit<OutgoingEvent, 'payload'>, bytes: number): void {
  const most = largestPayload(event.topic);
  if (bytes > most) throw new EventTooLarge(event, bytes, most);
}
