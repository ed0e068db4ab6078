import type { ParkedEvent } from '@truckroll/contract/gen/events/v1/parking';
import type { Queryable } from '@truckroll/postgres';
import type { IncomingEvent } from './event.ts';

/** A message that could not be applied. The table parked_event and the protocol use the older name, "parked". */
export interface DeadLetter {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: string | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload: Buffer | null;
}

/** Stores a dead letter, unless it is stored already. */
export async function storeDeadLetter(tx: Queryable, consumer: string, message: DeadLetter, reason: string): Promise<void> {
  await tx.query({
    name: 'store_dead_letter',
    text: `insert into parked_event (consumer, topic, partition, log_offset, key, headers, payload, reason)
      values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    values: [consumer, message.topic, message.partition, message.offset, message.key, JSON.stringify(message.headers), message.payload, reason.slice(0, 2000)],
  });
}

/** The event as a dead letter, with its attributes as headers, so that it can be applied later. */
export function deadLetterOf(event: IncomingEvent): DeadLetter {
  const { key, payload, topic, partition, offset, ...headers } = event;
  return { key, payload, topic, partition, offset, headers };
}

/** The oldest dead letter with an id above `after` that holds an event and is not locked; locks it until the transaction ends. */
export async function takeDeadLetter(tx: Queryable, consumer: string, after: number): Promise<{ id: number; event: IncomingEvent } | undefined> {
  const { rows } = await tx.query<StoredLetter>({
    name: 'take_dead_letter',
    text: `select id, topic, partition, log_offset, key, headers, payload from parked_event
      where consumer = $1 and id > $2 and headers ? 'id' order by id limit 1 for update skip locked`,
    values: [consumer, after],
  });
  return rows.map(eventOfLetter)[0];
}

/** The oldest `most` dead letters of a consumer, without payloads, and the number of all. */
export async function listDeadLetters(db: Queryable, consumer: string, most: number): Promise<{ events: ParkedEvent[]; count: number }> {
  const [{ rows: events }, { rows: counts }] = await Promise.all([
    db.query<ParkedEvent>({
      name: 'list_dead_letters',
      text: `select topic, coalesce(key, '') as key, coalesce(headers ->> 'type', '') as type, reason, parked_at
        from parked_event where consumer = $1 order by id limit $2`,
      values: [consumer, most],
    }),
    db.query<{ count: number }>({ name: 'count_dead_letters', text: 'select count(*) from parked_event where consumer = $1', values: [consumer] }),
  ]);
  return { events, count: counts[0]?.count ?? 0 };
}

/** In the transaction that applied them. Ids of other consumers, and those already gone, are skipped. */
export async function deleteDeadLetters(tx: Queryable, consumer: string, ids: readonly number[]): Promise<void> {
  await tx.query({ name: 'delete_dead_letters', text: 'delete from parked_event where consumer = $1 and id = any($2::bigint[])', values: [consumer, ids] });
}

/** Dead letters with an id above `after`, without those of companies that are frozen or about to be, oldest first, within the limits of `most`; a single one may exceed the bytes. */
export async function deadLettersAfter(
  db: Queryable,
  consumer: string,
  after: number,
  most: { events: number; bytes: number },
): Promise<{ id: number; event: IncomingEvent; reason: string }[]> {
  const { rows } = await db.query<StoredLetter & { reason: string }>({
    name: 'dead_letters_after',
    text: `with next as (
        select id, row_number() over found as ordinal, sum(octet_length(payload)) over found as bytes
        from (select id, payload from parked_event where consumer = $1 and id > $2 and headers ? 'id'
            and not exists (select from frozen_companies f where f.company_id::text = headers ->> 'companyId') order by id limit $3) p window found as (order by id))
      select e.id, e.topic, e.partition, e.log_offset, e.key, e.headers, e.payload, e.reason from next n join parked_event e on e.id = n.id
      where n.ordinal = 1 or coalesce(n.bytes, 0) <= $4 order by e.id`,
    values: [consumer, after, most.events, most.bytes],
  });
  return rows.map(({ reason, ...row }) => ({ reason, ...eventOfLetter(row) }));
}

/** Numbers the company's dead letters anew, in their order: a reader that has passed them while the company was frozen comes to them again. */
export async function renewDeadLetters(tx: Queryable, consumer: string, companyId: string): Promise<void> {
  await tx.query({
    name: 'renew_dead_letters',
    text: `with gone as (delete from parked_event where consumer = $1 and headers ->> 'companyId' = $2 returning *)
      insert into parked_event (consumer, topic, partition, log_offset, key, headers, payload, reason, parked_at)
      select consumer, topic, partition, log_offset, key, headers, payload, reason, parked_at from gone order by id`,
    values: [consumer, companyId],
  });
}

interface StoredLetter extends Omit<DeadLetter, 'offset'> {
  readonly id: number;
  readonly log_offset: number;
}

/** Undoes `deadLetterOf`. */
function eventOfLetter({ id, headers, log_offset, ...rest }: StoredLetter): { id: number; event: IncomingEvent } {
  return { id, event: { ...headers, ...rest, offset: String(log_offset) } as unknown as IncomingEvent };
}

/** Deletes dead letters older than `days`: their events are lost. Resolves to their number. */
export async function forgetDeadLetters(db: Queryable, consumer: string, days: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'forget_dead_letters',
    text: `delete from parked_event where consumer = $1 and parked_at < now() - $2 * interval '1 day'`,
    values: [consumer, days],
  });
  return rowCount;
}
