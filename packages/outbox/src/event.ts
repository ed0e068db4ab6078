import { formatInstant, isUuid, parseInstant } from '@truckroll/contract';
import { readRequestId, readTraceparent } from '@truckroll/telemetry';
import type { IHeaders, KafkaMessage, Message } from 'kafkajs';

/** What a service publishes. `key` is the subject: events of one subject stay in commit order. */
export interface OutgoingEvent {
  readonly topic: string;
  readonly key: string;
  readonly type: string;
  readonly companyId: string;
  /** An encoded protobuf message, or null to delete the key from a compacted topic. */
  readonly payload: Uint8Array | null;
  /** Grows by one per subject, for receivers that must detect gaps. */
  readonly sequence?: number;
  /** UUID. Default: a new one. Set it when the caller uses the id elsewhere. */
  readonly id?: string;
  /** Ids of people that texts of the payload name without a reference, with a space between two. */
  readonly people?: string | undefined;
}

export interface OutboxRow {
  readonly id: number;
  readonly event_id: string;
  readonly topic: string;
  readonly key: string;
  readonly type: string;
  readonly company_id: string;
  readonly sequence: number | null;
  readonly trace: string | null;
  readonly request_id: string | null;
  readonly payload: Buffer | null;
  readonly people?: string | null;
  /** Microseconds since 1970. */
  readonly created_at: number;
}

export interface IncomingEvent {
  readonly id: string;
  readonly type: string;
  /** Publishing service, such as `/truckroll/billing`. */
  readonly source: string;
  readonly companyId: string;
  readonly key: string;
  /** Start of the transaction that made the change, in microseconds since 1970. */
  readonly time: number;
  readonly sequence: number | undefined;
  /** Later events of a subject have greater versions. */
  readonly version: number;
  readonly payload: Buffer | null;
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  /** W3C trace context. */
  readonly trace: string | undefined;
  /** The request that caused it; undefined if there was none or the publisher is an older release. */
  readonly requestId: string | undefined;
  /** As in OutgoingEvent; undefined if there are none or the publisher is an older release. */
  readonly people?: string | undefined;
}

/** CloudEvents 1.0 in the Kafka binding's binary mode: attributes are headers, the value is the data. */
export function messageOf(row: OutboxRow, source: string): Message {
  const headers: IHeaders = {
    'content-type': 'application/protobuf',
    ce_specversion: '1.0',
    ce_id: row.event_id,
    ce_type: row.type,
    ce_source: source,
    ce_subject: row.key,
    ce_time: formatInstant(row.created_at),
    ce_companyid: row.company_id,
    ce_version: String(row.id),
  };
  if (row.sequence !== null) headers.ce_sequence = String(row.sequence);
  if (row.trace !== null) headers.traceparent = row.trace;
  if (row.request_id !== null) headers.ce_requestid = row.request_id;
  if (row.people != null) headers.ce_people = row.people;
  return { key: row.key, value: row.payload, headers };
}

/** Undoes `messageOf`. Undefined if the key or a required attribute is missing or malformed; a malformed optional one is left out. */
export function eventOf(topic: string, partition: number, message: KafkaMessage): IncomingEvent | undefined {
  const header = (name: string) => text(message.headers?.[name]);
  const [id, type, source, companyId] = [header('ce_id'), header('ce_type'), header('ce_source'), header('ce_companyid')];
  const time = parseInstant(header('ce_time') ?? '');
  const version = wholeNumber(header('ce_version'));
  const sequence = wholeNumber(header('ce_sequence'));
  if (id === undefined || type === undefined || source === undefined || companyId === undefined) return undefined;
  if (time === undefined || version === undefined || message.key === null || !isUuid(id)) return undefined;
  return {
    id,
    type,
    source,
    companyId,
    time,
    version,
    sequence,
    topic,
    partition,
    key: message.key.toString(),
    payload: message.value,
    offset: message.offset,
    trace: readTraceparent(header('traceparent')),
    requestId: readRequestId(header('ce_requestid')),
    people: header('ce_people'),
  };
}

function text(value: IHeaders[string]): string | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  return first?.toString();
}

function wholeNumber(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
