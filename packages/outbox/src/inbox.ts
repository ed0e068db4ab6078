import { binaryArrays, type Queryable } from '@truckroll/postgres';
import { isErased, withoutErased } from './erased.ts';
import type { IncomingEvent } from './event.ts';

/**
 * How repeats are recognised. In both cases only the latest event of each key in a batch is applied.
 * `version`: applies only events newer than the last applied one of their key. For compacted topics.
 * `handler`: the handler compares versions with those in its own tables, which must keep the versions of deleted records.
 */
export type Deduplication = 'version' | 'handler';

/** The events that are new to the consumer, in order, without those of deleted companies. With `version`, marks them as applied in the transaction. */
export async function unseen(tx: Queryable, consumer: string, how: Deduplication, events: readonly IncomingEvent[]): Promise<IncomingEvent[]> {
  if (how === 'handler') return latestByKey(await withoutErased(tx, events));
  return await newerThanStored(tx, consumer, latestByKey(events));
}

function latestByKey(events: readonly IncomingEvent[]): IncomingEvent[] {
  const latest = new Map<string, IncomingEvent>();
  for (const event of events) {
    const known = latest.get(event.key);
    if (known === undefined || known.version < event.version) latest.set(event.key, event);
  }
  return events.filter((event) => latest.get(event.key) === event);
}

/** For events read again: the latest of each key, unless the consumer has applied a newer one or the company was deleted. A rebuild so undoes nothing that a subscriber applies. */
export async function notOlder(tx: Queryable, consumer: string, events: readonly IncomingEvent[]): Promise<IncomingEvent[]> {
  return newerThanStored(tx, consumer, latestByKey(events), true);
}

/** Without those of deleted companies. */
async function newerThanStored(tx: Queryable, consumer: string, events: readonly IncomingEvent[], orEqual = false): Promise<IncomingEvent[]> {
  if (events.length === 0) return [];
  const topic = events[0]?.topic;
  const sorted = events.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const { rows } = await tx.query<{ key: string }>({
    name: orEqual ? 'inbox_version_upsert_again' : 'inbox_version_upsert',
    text: `insert into inbox_version as seen (consumer, topic, key, version)
      select $1, $2, g.key, g.version from unnest($3::text[], $4::bigint[], $5::text[]) g (key, version, company_id) where not ${isErased('lower(g.company_id)')}
      on conflict (consumer, topic, key) do update set version = excluded.version, applied_at = now() where seen.version ${orEqual ? '<=' : '<'} excluded.version
      returning key`,
    values: [
      consumer,
      topic,
      binaryArrays.text(sorted.map((event) => event.key)),
      binaryArrays.bigint(sorted.map((event) => event.version)),
      binaryArrays.text(sorted.map((event) => event.companyId)),
    ],
  });
  const fresh = new Set(rows.map((row) => row.key));
  return events.filter((event) => fresh.has(event.key));
}
