// The ends of topics, for readers of a whole topic.
import { withAdmin } from './admin.ts';
import type { KafkaClient } from './kafka.ts';
import type { Topic } from './topics.ts';

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
