// Where topics begin and end, for readers of a whole topic, and how a group is moved there.
import { withAdmin } from './admin.ts';
import { disconnectQuietly } from './disconnect-quietly.ts';
import type { KafkaClient } from './kafka.ts';
import type { Topic } from './topics.ts';

/** Offset of each partition, by topic. Missing topics are left out. */
export type Offsets = ReadonlyMap<string, readonly { readonly partition: number; readonly offset: string }[]>;

/** The offsets of the first messages that topics still have. */
export function beginningsOf(kafka: KafkaClient, topics: readonly Topic[]): Promise<Offsets> {
  return offsetsOf(kafka, topics, 'low');
}

/** The offsets after the last messages. */
export function endsOf(kafka: KafkaClient, topics: readonly Topic[]): Promise<Offsets> {
  return offsetsOf(kafka, topics, 'high');
}

function offsetsOf(kafka: KafkaClient, topics: readonly Topic[], which: 'low' | 'high'): Promise<Offsets> {
  return withAdmin(kafka, async (admin) => {
    const existing = new Set(await admin.listTopics());
    const offsets = new Map<string, { partition: number; offset: string }[]>();
    for (const { name } of topics) {
      if (!existing.has(kafka.prefix + name)) continue;
      const found = await admin.fetchTopicOffsets(kafka.prefix + name);
      offsets.set(
        name,
        found.map(({ partition, [which]: offset }) => ({ partition, offset })),
      );
    }
    return offsets;
  });
}

/** Whether the group has committed at least these offsets, as far as the topics still have messages before them. */
export function hasPassed(kafka: KafkaClient, group: string, offsets: Offsets): Promise<boolean> {
  return withAdmin(kafka, async (admin) => {
    const topics = [...offsets.keys()].map((name) => kafka.prefix + name);
    const committed = await admin.fetchOffsets({ groupId: kafka.prefix + group, topics });
    for (const [name, ends] of offsets) {
      const reached = committed.find(({ topic }) => topic === kafka.prefix + name)?.partitions ?? [];
      const kept = await admin.fetchTopicOffsets(kafka.prefix + name);
      for (const { partition, offset } of ends) {
        const { low, high } = kept.find((each) => each.partition === partition) ?? { low: '0', high: '0' };
        // A topic that was lost and made again ends before.
        const end = Math.min(Number(offset), Number(high));
        if (end > Number(low) && Number(reached.find((each) => each.partition === partition)?.offset ?? -1) < end) return false;
      }
    }
    return true;
  });
}

/** Moves a group that has no members. Joins it once for all topics: kafkajs' admin joins it for each, which takes seconds. */
export async function moveGroup(kafka: KafkaClient, group: string, to: Offsets): Promise<void> {
  if (to.size === 0) return;
  const consumer = kafka.consumer({ groupId: kafka.prefix + group, maxWaitTimeInMs: 100, allowAutoTopicCreation: false });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [...to.keys()].map((name) => kafka.prefix + name) });
    // Only members may commit, and only running consumers are members.
    await consumer.run({ autoCommit: false, eachBatch: () => Promise.resolve() });
    await consumer.commitOffsets([...to].flatMap(([name, partitions]) => partitions.map((each) => ({ topic: kafka.prefix + name, ...each }))));
  } finally {
    await disconnectQuietly(consumer);
  }
}

/** Converts the share read of one topic (0 to 1) to the share read of all, weighed by end offsets. Call the result once per topic, in reading order. */
export function overallOf(ends: Offsets): (topic: string) => (share: number) => number {
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
