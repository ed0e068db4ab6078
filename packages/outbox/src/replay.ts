import { randomUUID } from 'node:crypto';
import { retrying } from '@truckroll/process';
import type { KafkaJSError, KafkaMessage } from 'kafkajs';
import { withAdmin } from './admin.ts';
import { eventOf, type IncomingEvent } from './event.ts';
import type { KafkaClient } from './kafka.ts';
import { disconnectQuietly } from './disconnect-quietly.ts';
import type { Topic } from './topics.ts';
import { watch } from './driver/vital-signs.ts';

export interface Replay {
  readonly kafka: KafkaClient;
  readonly topic: Topic;
  /** Receives events of one partition in order. An error ends the replay. */
  apply(events: readonly IncomingEvent[]): Promise<void>;
  readonly signal?: AbortSignal;
  progress?(share: number): void;
}

interface Extent {
  readonly low: bigint;
  /** The offset after the last message. */
  readonly high: bigint;
}

/** Kafka refuses some requests for a moment, while a leader or the group's coordinator begins. */
const TRIES = 5;

/**
 * Reads a topic from its beginning to its current end, to rebuild tables; later events are left to the subscriber. Returns the number of
 * events. Begins again when Kafka asks for that, so `apply` must recognise repeats. Rejects when Kafka fails, `apply` rejects or the signal
 * aborts.
 */
export async function replay(options: Replay): Promise<number> {
  const again = (error: unknown, failures: number): boolean => (error as Partial<KafkaJSError>).retriable === true && failures < TRIES;
  return await retrying(() => readToEnd(options), again, options.signal ?? new AbortController().signal);
}

async function readToEnd({ kafka, topic, apply, signal, progress }: Replay): Promise<number> {
  const groupId = `${kafka.prefix}truckroll-replay-${randomUUID()}`;
  const extents = await extentsOf(kafka, topic);
  if (extents.size === 0) return 0;
  const unread = new Map(extents);
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100, allowAutoTopicCreation: false });
  const watched = watch(consumer);
  let count = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      watched.failed.then(reject, reject);
      // Also raised for batches that compaction has emptied, which move the position on too.
      consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, lastOffset } }) => {
        const { low, high } = extents.get(partition) ?? { low: 0n, high: 0n };
        const next = BigInt(lastOffset) + 1n;
        if (next >= high) unread.delete(partition);
        else unread.set(partition, { low: next > low ? next : low, high });
        progress?.(1 - Number(sizeOf(unread)) / Number(sizeOf(extents)));
        if (unread.size === 0) resolve();
      });
      const read = async () => {
        await consumer.connect();
        await consumer.subscribe({ topics: [kafka.prefix + topic.name], fromBeginning: true });
        await consumer.run({
          autoCommit: false,
          eachBatch: async ({ batch: { partition, messages } }) => {
            const extent = unread.get(partition);
            if (extent === undefined) return;
            const events = eventsBefore(extent.high, topic.name, partition, messages);
            try {
              await apply(events);
            } catch (error) {
              reject(error);
              throw error;
            }
            count += events.length;
          },
        });
      };
      read().catch(reject);
    });
  } finally {
    watched.stop();
    await disconnectQuietly(consumer);
    await forgetGroup(kafka, groupId);
  }
  return count;
}

function sizeOf(extents: ReadonlyMap<number, Extent>): bigint {
  return [...extents.values()].reduce((sum, { low, high }) => sum + high - low, 0n);
}

async function extentsOf(kafka: KafkaClient, topic: Topic): Promise<Map<number, Extent>> {
  const offsets = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(kafka.prefix + topic.name));
  const extents = offsets.map(({ partition, low, high }) => [partition, { low: BigInt(low), high: BigInt(high) }] as const);
  return new Map(extents.filter(([, { low, high }]) => low < high));
}

/** Never rejects: a leftover group has no offsets, and Kafka deletes empty groups. */
async function forgetGroup(kafka: KafkaClient, groupId: string): Promise<void> {
  await withAdmin(kafka, (admin) => admin.deleteGroups([groupId])).catch(() => undefined);
}

function eventsBefore(end: bigint, topic: string, partition: number, messages: readonly KafkaMessage[]): IncomingEvent[] {
  return messages.flatMap((message) => (BigInt(message.offset) < end ? (eventOf(topic, partition, message) ?? []) : []));
}
