import type { ICustomPartitioner, Message, Producer, TopicMessages } from 'kafkajs';
import { messageOf, type OutboxRow } from './event.ts';
import type { KafkaClient } from './kafka.ts';
import { goodbye, limited } from './limit.ts';
import { partitionByKey } from './partitioner.ts';
import type { Topic } from './topics.ts';
import { Positions, watermarkMessages } from './watermark.ts';

/** Hands rows to Kafka. Resolves when all are acknowledged; after a rejection any part of them may have arrived. */
export interface Publisher {
  publish(rows: readonly OutboxRow[]): Promise<void>;
  /** Tells that everything committed before an instant is published. Microseconds since 1970. */
  announce?(at: number): Promise<void>;
  close(): Promise<void>;
}

/** Beyond the time limits of kafkajs itself, should those fail. Milliseconds. */
const PUBLISH_MS = 60_000;

/**
 * An idempotent producer (acks=all, one request at a time) per run of success: the broker drops what kafkajs sends
 * twice while it retries, and keeps the order.
 *
 * After a failed send the producer is thrown away. kafkajs winds the sequence number of a partition back when a request
 * fails, also when the broker had stored it and only the answer was lost. A later, different batch of equal length
 * would then carry numbers that the broker knows, and be dropped as a duplicate while kafkajs reports success: an event
 * lost. A new producer id cannot collide; the price is that events may be repeated, which consumers remove by event id.
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
    await goodbye(old);
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
      positions.sent(topicMessages, await limited(sending, PUBLISH_MS, 'publishing'), (message) => partitions.get(message));
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
