// Where topics begin and end, for readers of a whole topic, and how a group is moved there.
import { withAdmin, type UseAdmin } from './admin.ts';
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
export function endsOf(kafka: KafkaClient, topics: readonly Topic[], use: UseAdmin = withAdmin): Promise<Offsets> {
  return offsetsOf(kafka, topics, 'high', use);
}

function offsetsOf(kafka: KafkaClient, topics: readonly Topic[], which: 'low' | 'high', use = withAdmin): Promise<Offsets> {
  return use(kafka, async (admin) => {
    const existing = new Set(await admin.listTopics());
    const offsets = new Map<string, { partition: number; offset: string }[]>();
    const asked = topics.filter(({ name }) => existing.has(kafka.prefix + name));
    const found = await Promise.all(asked.map(({ name }) => admin.fetchTopicOffsets(kafka.prefix + name)));
    for (const [i, { name }] of asked.entries()) {
      offsets.set(
        name,
        found[i]!.map(({ partition, [which]: offset }) => ({ partition, offset })),
      );
    }
    return offsets;
  });
}

/** The offset after the last message of which it is known that it was applied; undefined if none is known. */
export type AppliedTo = (topic: string, partition: number) => number | undefined;

/**
 * Whether the group has applied messages up to these offsets, as far as the topics still have messages before them: it has committed that, or
 * stores itself what it has applied, which is known earlier.
 */
export function hasPassed(
  kafka: KafkaClient,
  group: string,
  offsets: Offsets,
  applied: AppliedTo = () => undefined,
  use: UseAdmin = withAdmin,
): Promise<boolean> {
  return use(kafka, async (admin) => {
    const topics = [...offsets.keys()].map((name) => kafka.prefix + name);
    const [committed, ...all] = await Promise.all([
      admin.fetchOffsets({ groupId: kafka.prefix + group, topics }),
      ...topics.map((topic) => admin.fetchTopicOffsets(topic)),
    ]);
    for (const [i, [name, ends]] of [...offsets].entries()) {
      const reached = committed.find(({ topic }) => topic === kafka.prefix + name)?.partitions ?? [];
      const kept = all[i]!;
      for (const { partition, offset } of ends) {
        const { low, high } = kept.find((each) => each.partition === partition) ?? { low: '0', high: '0' };
        // A topic that was lost and made again ends before.
        const end = Math.min(Number(offset), Number(high));
        const stored = applied(name, partition) ?? -1;
        const passed = Math.max(Number(reached.find((each) => each.partition === partition)?.offset ?? -1), stored <= Number(high) ? stored : -1);
        if (end > Number(low) && passed < end) return false;
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
