import { randomUUID } from 'node:crypto';
import type { KafkaMessage } from 'kafkajs';
import { eventOf, type IncomingEvent } from './event.ts';
import type { KafkaClient } from './kafka.ts';
import { goodbye } from './limit.ts';
import type { Topic } from './topics.ts';
import { watch } from './vital-signs.ts';

export interface Replay {
  readonly kafka: KafkaClient;
  readonly topic: Topic;
  /** Gets events of one partition in order; what it throws ends the replay. */
  apply(events: readonly IncomingEvent[]): Promise<void>;
  readonly signal?: AbortSignal;
}

/**
 * Reads a topic from its beginning to where it ends now, apart from every consumer group's place: to build tables anew.
 * What is published meanwhile is left to the subscriber. Returns the number of events. Rejects when Kafka fails or the
 * signal aborts; replaying again is safe where apply recognises repeats.
 */
export async function replay({ kafka, topic, apply, signal }: Replay): Promise<number> {
  const groupId = `${kafka.prefix}truckroll-replay-${randomUUID()}`;
  const ends = await endOffsets(kafka, topic);
  if (ends.size === 0) return 0;
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100, allowAutoTopicCreation: false });
  const watched = watch(consumer);
  let count = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      watched.failed.then(reject, reject);
      // Raised for batches without messages too: those that compaction has emptied still move the place on.
      consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, lastOffset } }) => {
        if (BigInt(lastOffset) + 1n >= (ends.get(partition) ?? 0n)) ends.delete(partition);
        if (ends.size === 0) resolve();
      });
      const read = async () => {
        await consumer.connect();
        await consumer.subscribe({ topics: [kafka.prefix + topic.name], fromBeginning: true });
        await consumer.run({
          autoCommit: false,
          eachBatch: async ({ batch: { partition, messages } }) => {
            const end = ends.get(partition);
            if (end === undefined) return;
            const events = eventsBefore(end, topic.name, partition, messages);
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
    await goodbye(consumer);
    await forgetGroup(kafka, groupId);
  }
  return count;
}

/** The offset after the last message of each partition that has any. */
async function endOffsets(kafka: KafkaClient, topic: Topic): Promise<Map<number, bigint>> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const offsets = await admin.fetchTopicOffsets(kafka.prefix + topic.name);
    const filled = offsets.filter(({ low, high }) => BigInt(low) < BigInt(high));
    return new Map(filled.map(({ partition, high }) => [partition, BigInt(high)]));
  } finally {
    await goodbye(admin);
  }
}

async function forgetGroup(kafka: KafkaClient, groupId: string): Promise<void> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    await admin.deleteGroups([groupId]);
  } catch {
    // Left behind it costs nothing: it holds no offsets, and Kafka drops empty groups.
  } finally {
    await goodbye(admin);
  }
}

function eventsBefore(end: bigint, topic: string, partition: number, messages: readonly KafkaMessage[]): IncomingEvent[] {
  return messages.flatMap((message) => (BigInt(message.offset) < end ? (eventOf(topic, partition, message) ?? []) : []));
}
