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

/** Whether the group has committed at least these offsets. */
export function hasPassed(kafka: KafkaClient, group: string, offsets: Offsets): Promise<boolean> {
  const inKafka = new Map([...offsets].map(([name, partitions]) => [kafka.prefix + name, partitions]));
  return withAdmin(kafka, async (admin) => {
    const committed = await admin.fetchOffsets({ groupId: kafka.prefix + group, topics: [...inKafka.keys()] });
    return committed.every(({ topic, partitions }) =>
      partitions.every(({ partition, offset }) => {
        const end = inKafka.get(topic)?.find((each) => each.partition === partition)?.offset ?? '0';
        return end === '0' || Number(offset) >= Number(end);
      }),
    );
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
