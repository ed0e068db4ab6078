// What a service takes part in when PostgreSQL was restored to an earlier moment than its topics (docs/adr/0007).
import type { Queryable } from '@truckroll/service-kit';
import type { OutgoingEvent } from './event.ts';
import type { KafkaClient } from './kafka.ts';
import { withAdmin } from './admin.ts';
import type { Topic } from './topics.ts';

/** A topic of state, as its owner sees it. */
export interface State {
  readonly topic: Topic;
  /** Of the event that removes a key. */
  readonly removed: string;
  /** Which of these keys the owner does not hold. */
  missing(db: Queryable, keys: readonly string[]): Promise<string[]>;
}

/** Keys that a read model holds, by the topic that it is a read model of. */
export interface ReadModelKeys {
  readonly topic: Topic;
  keys(db: Queryable): AsyncIterable<readonly string[]>;
}

export interface Restored {
  readonly schema: string;
  readonly states: readonly State[];
  readonly readModels: readonly ReadModelKeys[];
  /** Consumer groups, by what they read. They go on behind what was published before, or read all of it again. */
  readonly groups: readonly { readonly group: string; readonly topics: readonly Topic[]; readonly again?: boolean }[];
  /** Has everything that the service holds published anew, some of it perhaps by the service itself once it runs. */
  renew(tx: Queryable): Promise<void>;
}

/** After the last message of each partition, by topic. Topics that are not there have none. */
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

/**
 * For topics that are read one after the other, each in its turn: how much of one was read, from 0 to 1, as how much of all of them. What
 * a topic ever held is taken for what it holds.
 */
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

/** Groups that have members: somebody consumes. */
export async function groupsAtWork(kafka: KafkaClient, groups: readonly string[]): Promise<string[]> {
  return withAdmin(kafka, async (admin) => {
    const { groups: found } = await admin.describeGroups(groups.map((group) => kafka.prefix + group));
    return found.filter(({ members }) => members.length > 0).map(({ groupId }) => groupId.slice(kafka.prefix.length));
  });
}

/** Sets the place of a group that has no members: it goes on there. */
export async function moveGroup(kafka: KafkaClient, group: string, ends: Ends): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    for (const [topic, partitions] of ends) await admin.setOffsets({ groupId: kafka.prefix + group, topic: kafka.prefix + topic, partitions: [...partitions] });
  });
}

/** Has a group that has no members read these topics from their beginning. */
export async function rewindGroup(kafka: KafkaClient, group: string, topics: readonly Topic[]): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    const existing = new Set(await admin.listTopics());
    for (const topic of topics.map(({ name }) => kafka.prefix + name).filter((name) => existing.has(name)))
      await admin.resetOffsets({ groupId: kafka.prefix + group, topic, earliest: true });
  });
}

/** An event with the place that it had among its owner's. */
export interface Placed {
  readonly version: number;
  readonly event: OutgoingEvent & { readonly id: string };
}

/** Takes out what waits in the outbox. */
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
