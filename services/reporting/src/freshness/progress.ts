// Each partition's offset is stored with the changes from its events. An owner's watermark counts once all offsets that it names are reached (docs/adr/0006).
import { formatInstant, topics } from '@truckroll/contract';
import { Watermark } from '@truckroll/contract/gen/events/v1/watermarks';
import type { AppliedTo, Subscription } from '@truckroll/outbox';
import { binaryArrays, type Database, type Queryable, type Transaction } from '@truckroll/postgres';
import type { Logger } from '@truckroll/telemetry';
import { COUNTED_TOPICS } from './as-of.ts';

const STORED_TOPICS = [...COUNTED_TOPICS, topics.names.name];
/** Maximum pending watermarks per owner; beyond that, the newest replaces its predecessor. */
const MOST_WAITING = 50;

/**
 * Resumes each topic at the offsets stored here, not those committed to Kafka: a replica of the previous release shares the
 * consumer group but stores none.
 */
export async function storedOffsets(db: Queryable): Promise<AppliedTo> {
  const applied = await appliedTo(db);
  return (topic, partition) => (COUNTED_TOPICS.includes(topic) ? (applied(topic, partition) ?? 0) : undefined);
}

/** The next offsets after those up to which partitions have been applied, also of names, which are read again from the committed offset. */
export async function appliedTo(db: Queryable): Promise<AppliedTo> {
  const { rows } = await db.query<{ topic: string; partition: number; log_offset: number }>({
    name: 'places',
    text: 'select topic, partition, log_offset from positions',
  });
  const stored = new Map(rows.map(({ topic, partition, log_offset }) => [`${topic}/${partition}`, log_offset + 1]));
  return (topic, partition) => stored.get(`${topic}/${partition}`);
}

export interface FactProgress {
  /** Stores how far partitions of a topic have been applied, in the transaction that applied them. */
  reached(tx: Transaction, topic: string, offsets: ReadonlyMap<number, number>): Promise<void>;
  readonly watermarks: Subscription;
}

/** Keeps offsets and watermarks, from which `as_of` follows. A look that fails is only logged, because the next watermark looks again. */
export function followProgress(database: Database, log: Logger): FactProgress {
  let looking = false;
  let again = false;
  /** Checks whether pending watermarks are reached: the events that they name may have been applied while they were being stored. */
  function look(): void {
    again = looking;
    if (looking) return;
    looking = true;
    void advance(database, [])
      .catch((error: unknown) => log.debug({ error }, 'pending watermarks were not checked; they are checked again when the next one arrives'))
      .finally(() => {
        looking = false;
        if (again) look();
      });
  }

  return {
    async reached(tx, topic, offsets) {
      if (!STORED_TOPICS.includes(topic)) return;
      const sorted = [...offsets].sort(([a], [b]) => a - b);
      const { rows } = await tx.query<{ waiting: boolean }>({
        name: 'positions_reached',
        text: `insert into positions as p (topic, partition, log_offset) select $1, * from unnest($2::integer[], $3::bigint[])
          on conflict (topic, partition) do update set log_offset = excluded.log_offset where p.log_offset < excluded.log_offset
          returning exists (select from watermarks) as waiting`,
        values: [topic, binaryArrays.integer(sorted.map(([partition]) => partition)), binaryArrays.bigint(sorted.map(([, offset]) => offset))],
      });
      if (rows[0]?.waiting === true) tx.afterCommit(look);
    },
    watermarks: {
      topic: topics.watermarks,
      // Only the latest watermark of each owner matters, so a redelivered one changes nothing.
      deduplicate: 'handler',
      async apply(tx, events) {
        const published = events.flatMap(({ source, payload }) => (payload === null ? [] : [{ source, ...Watermark.decode(payload) }]));
        if (!(await advance(tx, published))) return;
        await makeRoom(tx);
        tx.afterCommit(look);
      },
    },
  };
}

/** Stores new watermarks and applies all that are reached, in one round trip: nearly all are reached on arrival. Returns whether any must wait. */
async function advance(tx: Queryable, published: readonly (Watermark & { source: string })[]): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'advance_watermarks',
    text: `with given as (
        select * from unnest($1::text[], $2::timestamptz[], $3::jsonb[]) g (source, at, positions)),
      reached as (
        select w.source, max(w.at) as at from (select source, at, positions from watermarks union all select * from given) w
        where not exists (
          select from jsonb_to_recordset(w.positions) named(topic text, partition integer, "offset" bigint)
          left join positions p on p.topic = named.topic and p.partition = named.partition
          where coalesce(p.log_offset, -1) < named."offset")
        group by w.source),
      applied as (
        insert into applied_until as a (source, at) select source, at from reached
        on conflict (source) do update set at = excluded.at where a.at < excluded.at),
      forgotten as (
        delete from watermarks w using reached r where w.source = r.source and w.at <= r.at)
      insert into watermarks (source, at, positions)
      select source, at, positions from given g
      where not exists (select from reached r where r.source = g.source and r.at >= g.at)
        and not exists (select from applied_until a where a.source = g.source and a.at >= g.at)
      on conflict do nothing`,
    values: [
      published.map(({ source }) => source),
      published.map(({ at }) => formatInstant(at)),
      published.map(({ positions }) => JSON.stringify(positions.filter(({ topic }) => COUNTED_TOPICS.includes(topic)))),
    ],
  });
  return rowCount > 0;
}

async function makeRoom(tx: Queryable): Promise<void> {
  await tx.query({
    name: 'make_room_for_watermarks',
    text: `delete from watermarks w using (
        select source, at, row_number() over (partition by source order by at) as rank, max(at) over (partition by source) as newest from watermarks) kept
      where w.source = kept.source and w.at = kept.at and kept.rank >= ${MOST_WAITING} and kept.at < kept.newest`,
  });
}
