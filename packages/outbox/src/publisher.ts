import { withTimeout } from '@truckroll/process';
import type { ICustomPartitioner, Message, Producer, TopicMessages } from 'kafkajs';
import { messageOf, type OutboxRow } from './event.ts';
import type { KafkaClient } from './kafka.ts';
import { disconnectQuietly } from './disconnect-quietly.ts';
import { partitionByKey } from './driver/partitioner.ts';
import type { Topic } from './topics.ts';
import { Positions, watermarkMessages } from './watermark.ts';

export interface Publisher {
  /** Sends rows to Kafka. Resolves when all are acknowledged; after a rejection any of them may have arrived. */
  publish(rows: readonly OutboxRow[]): Promise<void>;
  /** Publishes a watermark: everything committed before `at`, in microseconds since 1970, is published. */
  announce?(at: number): Promise<void>;
  close(): Promise<void>;
}

/** Whether Kafka refused messages as larger together than a topic or broker allows. */
export function isTooLarge(error: unknown): boolean {
  const { type } = error as { type?: string };
  return type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE';
}

/** Maximum time for one send, in ms: a backstop for kafkajs's own, shorter timeouts. */
const PUBLISH_MS = 60_000;

/**
 * Uses an idempotent producer: the broker drops what kafkajs sends twice while it retries, and keeps the order.
 *
 * Replaces the producer after a failed send, because kafkajs then resets the partition's sequence number even if the broker has stored
 * the batch and only the response was lost. The broker would drop a different batch of equal length as a duplicate, kafkajs would
 * report success, and events would be lost. With a new producer id they may only be published twice, and consumers recognise repeats.
 */
export function createPublisher(kafka: KafkaClient, source: string, topics: readonly Topic[] = []): Publisher {
  let producer: Producer | undefined;
  const positions = new Positions(kafka, topics);
  const partitions = new WeakMap<Message, number>();
  const createPartitioner: ICustomPartitioner = () => {
    const partitioner = partitionByKey();
    return (args) => {
      const partition = partitioner(args);
      partitions.set(args.message, partition);
      return partition;
    };
  };

  async function discard(): Promise<void> {
    const old = producer;
    producer = undefined;
    positions.forget();
    await disconnectQuietly(old);
  }

  async function connected(): Promise<Producer> {
    const fresh = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner,
      retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 3 },
    });
    producer = fresh;
    await fresh.connect();
    return fresh;
  }

  async function send(topicMessages: TopicMessages[]): Promise<void> {
    try {
      const sending = (producer ?? (await connected())).sendBatch({ acks: -1, timeout: 10_000, topicMessages });
      positions.sent(topicMessages, await withTimeout(sending, PUBLISH_MS, 'publishing'), (message) => partitions.get(message));
    } catch (error) {
      await discard();
      throw error;
    }
  }

  return {
    async publish(rows) {
      const byTopic = new Map<string, TopicMessages>();
      for (const row of rows) {
        let topic = byTopic.get(row.topic);
        if (topic === undefined) byTopic.set(row.topic, (topic = { topic: kafka.prefix + row.topic, messages: [] }));
        topic.messages.push(messageOf(row, source));
      }
      await send([...byTopic.values()]);
    },
    announce: async (at) => send([watermarkMessages(kafka.prefix, source, at, await positions.all())]),
    close: discard,
  };
}
