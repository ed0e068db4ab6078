// How the relay reads a batch of the outbox.
import { instantOf, uuidOf, wholeNumberOf, type BinaryRow } from '@truckroll/service-kit';
import type { OutboxRow } from './event.ts';

/** A batch stays well under Kafka's limit of 1 MB per request and partition. */
export const BATCH_ROWS = 500;
const BATCH_BYTES = 700_000;

export interface ReadRow extends OutboxRow {
  /** Rows from the floor on, of which this is one; BATCH_ROWS at most. */
  readonly found: number;
}

/** From the columns of READ_BATCH, in their order. */
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
    created_at: instantOf(created!),
    found: wholeNumberOf(found!),
  };
}

/** The lowest rows from a floor on, as many as one request may carry: at least one, and no more than BATCH_BYTES otherwise. Nothing behind them is read. */
export const READ_BATCH = {
  name: 'outbox_read',
  text: `select id, event_id, topic, key, type, company_id, sequence, trace, request_id, payload, created_at, found
    from (
      select *, count(*) over () as found, sum(coalesce(octet_length(payload), 0)) over (order by id rows unbounded preceding) as bytes
      from (select * from outbox where id >= $1 order by id limit ${BATCH_ROWS}) first
    ) lowest
    where bytes <= ${BATCH_BYTES} or bytes = coalesce(octet_length(payload), 0)
    order by id`,
};
