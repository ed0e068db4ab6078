// How far the owners' news has been applied: each partition's place is stored with what was applied from it, and an owner's
// watermark counts once all places that it names are reached (docs/adr/0006).
import { formatInstant, topics } from '@truckroll/contract';
import { Watermark } from '@truckroll/contract/gen/events/v1/watermarks';
import type { IncomingEvent, Subscription } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/service-kit';
import { COUNTED_TOPICS } from './as-of.ts';

/** Watermarks of an owner that wait to be reached; beyond, the newest takes the place of the one before. */
const MOST_WAITING = 50;

/** Stores how far a partition has been applied, in the transaction that applied it. */
export async function reached(tx: Queryable, topic: string, partition: number, offset: number): Promise<void> {
  if (!COUNTED_TOPICS.includes(topic)) return;
  await tx.query({
    name: 'position_reached',
    text: `insert into positions as p (topic, partition, log_offset) values ($1, $2, $3)
      on conflict (topic, partition) do update set log_offset = excluded.log_offset where p.log_offset < excluded.log_offset`,
    values: [topic, partition, offset],
  });
}

/**
 * Topics are read on from the places that are stored with what was applied, whatever Kafka was told: a replica of the release
 * before, which shares the consumer group, stores none, and would leave its partitions' watermarks unreached for ever.
 */
export async function places(db: Queryable): Promise<(topic: string, partition: number) => number | undefined> {
  const { rows } = await db.query<{ topic: string; partition: number; log_offset: number }>({ name: 'places', text: 'select topic, partition, log_offset from positions' });
  const stored = new Map(rows.map(({ topic, partition, log_offset }) => [`${topic}/${partition}`, log_offset]));
  return (topic, partition) => (COUNTED_TOPICS.includes(topic) ? (stored.get(`${topic}/${partition}`) ?? -1) + 1 : undefined);
}

export const watermarkSubscription: Subscription = {
  topic: topics.watermarks,
  // The latest of each owner; one that comes again changes nothing.
  deduplicate: 'handler',
  async apply(tx, events) {
    for (const event of events) await store(tx, event);
    await advance(tx);
  },
};

async function store(tx: Queryable, { source, payload }: IncomingEvent): Promise<void> {
  if (payload === null) return;
  const { at, positions } = Watermark.decode(payload);
  await tx.query({
    name: 'make_room_for_watermark',
    text: `delete from watermarks where source = $1 and at = (select max(at) from watermarks where source = $1)
      and (select count(*) from watermarks where source = $1) >= ${MOST_WAITING}`,
    values: [source],
  });
  await tx.query({
    name: 'store_watermark',
    text: `insert into watermarks (source, at, positions) values ($1, $2, $3) on conflict do nothing`,
    values: [source, formatInstant(at), JSON.stringify(positions.filter(({ topic }) => COUNTED_TOPICS.includes(topic)))],
  });
}

async function advance(tx: Queryable): Promise<void> {
  await tx.query({
    name: 'watermarks_reached',
    text: `insert into applied_until as a (source, at)
      select w.source, max(w.at) from watermarks w
      where not exists (
        select from jsonb_to_recordset(w.positions) named(topic text, partition integer, "offset" bigint)
        left join positions p on p.topic = named.topic and p.partition = named.partition
        where coalesce(p.log_offset, -1) < named."offset")
      group by w.source
      on conflict (source) do update set at = excluded.at where a.at < excluded.at`,
  });
  await tx.query({ name: 'forget_watermarks', text: 'delete from watermarks w using applied_until a where w.source = a.source and w.at <= a.at' });
}
