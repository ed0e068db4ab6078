import { instantOf, uuidOf, wholeNumberOf, type BinaryRow } from '@truckroll/postgres';
import type { OutboxRow } from './event.ts';

/** Limits of a batch, well under 1 MB, Kafka's default limit for one request and partition. If a topic allows less, the relay sends fewer rows. */
export const BATCH_ROWS = 500;
const BATCH_BYTES = 700_000;

export interface ReadRow extends OutboxRow {
  /** Number of rows from the floor on, counted up to BATCH_ROWS. */
  readonly found: number;
}

export function readRow([
  id,
  event,
  topic,
  key,
  type,
  company,
  sequence = null,
  trace = null,
  request = null,
  payload = null,
  people = null,
  created,
  found,
]: BinaryRow): ReadRow {
  return {
    id: wholeNumberOf(id!),
    event_id: uuidOf(event!),
    topic: topic!.toString(),
    key: key!.toString(),
    type: type!.toString(),
    company_id: uuidOf(company!),
    sequence: sequence && wholeNumberOf(sequence),
    trace: trace && trace.toString(),
    request_id: request && uuidOf(request),
    payload,
    people: people && people.toString(),
    created_at: instantOf(created!),
    found: wholeNumberOf(found!),
  };
}

/** The lowest rows from a floor ($1) on, up to BATCH_ROWS rows and BATCH_BYTES; the first row may exceed the bytes. */
export const READ_BATCH = {
  name: 'outbox_read',
  text: `select id, event_id, topic, key, type, company_id, sequence, trace, request_id, payload, people, created_at, found
    from (
      select *, count(*) over () as found, sum(coalesce(octet_length(payload), 0)) over (order by id rows unbounded preceding) as bytes
      from (select * from outbox where id >= $1 order by id limit ${BATCH_ROWS}) first
    ) lowest
    where bytes <= ${BATCH_BYTES} or bytes = coalesce(octet_length(payload), 0)
    order by id`,
};
