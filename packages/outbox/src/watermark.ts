// Watermarks (docs/adr/0006): how far a service has published. The relay publishes them between its events.
import { randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { Watermark } from '@truckroll/contract/gen/events/v1/watermarks';
import type { Message, RecordMetadata, TopicMessages } from 'kafkajs';
import { withAdmin } from './admin.ts';
import { NO_COMPANY } from './audit.ts';
import { messageOf } from './event.ts';
import type { KafkaClient } from './kafka.ts';
import type { Topic } from './topics.ts';

/** Offsets of the last messages in a service's topics of state, by topic and partition. */
export class Positions {
  readonly #kafka: KafkaClient;
  readonly #topics: readonly string[];
  #last: Map<string, Map<number, number>> | undefined;

  constructor(kafka: KafkaClient, published: readonly Topic[]) {
    this.#kafka = kafka;
    this.#topics = published.filter(({ keeps }) => keeps === 'latest').map(({ name }) => name);
  }

  /** Makes the next `all` read the offsets from Kafka: after a failed send, whose messages may have arrived. */
  forget(): void {
    this.#last = undefined;
  }

  sent(batches: readonly TopicMessages[], acknowledged: readonly RecordMetadata[], partitionOf: (message: Message) => number | undefined): void {
    const { prefix } = this.#kafka;
    for (const { topic, messages } of batches) {
      const last = this.#last?.get(topic.slice(prefix.length));
      if (last === undefined) continue;
      for (const [partition, { length }] of Map.groupBy(messages, partitionOf)) {
        const base = acknowledged.find((part) => part.topicName === topic && part.partition === partition)?.baseOffset;
        if (partition === undefined || base === undefined || !/^\d+$/.test(base)) return this.forget();
        last.set(partition, Number(base) + length - 1);
      }
    }
  }

  async all(): Promise<{ topic: string; partition: number; offset: number }[]> {
    this.#last ??= await this.#ask();
    return [...this.#last].flatMap(([topic, ofTopic]) => [...ofTopic].map(([partition, offset]) => ({ topic, partition, offset })));
  }

  async #ask(): Promise<Map<string, Map<number, number>>> {
    return withAdmin(this.#kafka, async (admin) => {
      const asked = this.#topics.map(async (topic) => {
        const ends = await admin.fetchTopicOffsets(this.#kafka.prefix + topic);
        return [topic, new Map(ends.flatMap(({ partition, high }) => (high === '0' ? [] : [[partition, Number(high) - 1] as const])))] as const;
      });
      return new Map(await Promise.all(asked));
    });
  }
}

/** A watermark as a normal event, so that consumers can decode it like any other. `at` is in microseconds since 1970. */
export function watermarkMessages(prefix: string, source: string, at: number, positions: Watermark['positions']): TopicMessages {
  const topic = topics.watermarks.name;
  const row = {
    // Versions must grow and have at most 15 digits, which milliseconds satisfy.
    id: Math.floor(at / 1000),
    event_id: randomUUID(),
    topic,
    key: source,
    type: 'watermark',
    // Watermarks cover all companies.
    company_id: NO_COMPANY,
    sequence: null,
    trace: null,
    request_id: null,
    payload: Buffer.from(Watermark.encode({ at, positions }).finish()),
    created_at: at,
  };
  return { topic: prefix + topic, messages: [messageOf(row, source)] };
}
