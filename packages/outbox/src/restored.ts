// A service's part in the recovery after PostgreSQL was restored to an earlier moment than its topics (docs/adr/0007).
import type { Queryable } from '@truckroll/postgres';
import type { OutgoingEvent } from './event.ts';
import type { KafkaClient } from './kafka.ts';
import { withAdmin } from './admin.ts';
import type { Topic } from './topics.ts';

export interface PublishedState {
  readonly topic: Topic;
  readonly removed: string;
  missing(db: Queryable, keys: readonly string[]): Promise<string[]>;
}

export interface ReadModelKeys {
  readonly topic: Topic;
  keys(db: Queryable): AsyncIterable<readonly string[]>;
}

export interface Restored {
  readonly schema: string;
  readonly states: readonly PublishedState[];
  readonly readModels: readonly ReadModelKeys[];
  /** Consumer groups. With `again` they read their topics from the beginning, otherwise they continue after the messages published before. */
  readonly groups: readonly { readonly group: string; readonly topics: readonly Topic[]; readonly again?: boolean }[];
  /** Publishes everything that the service holds again, some of it perhaps only once the service runs. */
  renew(tx: Queryable): Promise<void>;
}

/** End offset (after the last message) of each partition, by topic. Missing topics are left out. */
export type Ends = ReadonlyMap<string, readonly { readonly partition: number; readonly offset: string }[]>;

export async function endsOf(kafka: KafkaClient, topics: readonly Topic[]): Promise<Ends> {
  return withAdmin(kafka, async (admin) => {
    const existing = new Set(await admin.listTopics());
    const ends = new Map<string, { partition: number; offset: string }[]>();
    for (const { name } of topics) {
      if (!existing.has(kafka.prefix + name)) continue;
      const found = await admin.fetchTopicOffsets(kafka.prefix + name);
      ends.set(
        name,
        found.map(({ partition, high }) => ({ partition, offset: high })),
      );
    }
    return ends;
  });
}

/** Converts the share read of one topic (0 to 1) to the share read of all, weighed by end offsets. Call the result once per topic, in reading order. */
export function overallOf(ends: Ends): (topic: string) => (share: number) => number {
  const sizes = new Map([...ends].map(([name, partitions]) => [name, partitions.reduce((sum, { offset }) => sum + Number(offset), 0)]));
  const whole = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  let begun = 0;
  return (topic) => {
    const before = begun;
    const size = sizes.get(topic) ?? 0;
    begun += size;
    return (share) => (whole === 0 ? 0 : (before + size * share) / whole);
  };
}

export async function groupsAtWork(kafka: KafkaClient, groups: readonly string[]): Promise<string[]> {
  return withAdmin(kafka, async (admin) => {
    const { groups: found } = await admin.describeGroups(groups.map((group) => kafka.prefix + group));
    return found.filter(({ members }) => members.length > 0).map(({ groupId }) => groupId.slice(kafka.prefix.length));
  });
}

export async function moveGroup(kafka: KafkaClient, group: string, ends: Ends): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    for (const [topic, partitions] of ends) await admin.setOffsets({ groupId: kafka.prefix + group, topic: kafka.prefix + topic, partitions: [...partitions] });
  });
}

/** Resets a group to the beginning of the topics. The group must have no members. */
export async function rewindGroup(kafka: KafkaClient, group: string, topics: readonly Topic[]): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    const existing = new Set(await admin.listTopics());
    for (const topic of topics.map(({ name }) => kafka.prefix + name).filter((name) => existing.has(name)))
      await admin.resetOffsets({ groupId: kafka.prefix + group, topic, earliest: true });
  });
}

export interface Placed {
  readonly version: number;
  readonly event: OutgoingEvent & { readonly id: string };
}

export async function takeWaiting(tx: Queryable): Promise<Placed[]> {
  const { rows } = await tx.query<{
    id: number;
    event_id: string;
    topic: string;
    key: string;
    type: string;
    company_id: string;
    sequence: number | null;
    payload: Buffer | null;
  }>({
    text: 'delete from outbox returning id, event_id, topic, key, type, company_id, sequence, payload',
  });
  return rows.map(({ id, event_id, topic, key, type, company_id, sequence, payload }) => ({
    version: id,
    event: { id: event_id, topic, key, type, companyId: company_id, payload, ...(sequence === null ? {} : { sequence }) },
  }));
}
