// How far a service has published (docs/adr/0006): said beside its events, by the relay that publishes them.
import { randomUUID } from 'node:crypto';
import { formatInstant, topics } from '@truckroll/contract';
import { Watermark } from '@truckroll/contract/gen/events/v1/watermarks';
import type { Message, RecordMetadata, TopicMessages } from 'kafkajs';
import { withAdmin } from './admin.ts';
import type { KafkaClient } from './kafka.ts';
import type { Topic } from './topics.ts';

/** A watermark is about all companies. */
const NO_COMPANY = '00000000-0000-0000-0000-000000000000';

/** The last messages of a service's topics of state, by topic and partition. */
export class Positions {
  readonly #kafka: KafkaClient;
  readonly #topics: readonly string[];
  #last: Map<string, Map<number, number>> | undefined;

  constructor(kafka: KafkaClient, published: readonly Topic[]) {
    this.#kafka = kafka;
    this.#topics = published.filter(({ keeps }) => keeps === 'latest').map(({ name }) => name);
  }

  /** After what was sent may or may not have arrived, and for whoever begins to publish: Kafka is asked. */
  forget(): void {
    this.#last = undefined;
  }

  /** Notes what Kafka has acknowledged. */
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

/** As an event of ours, so that whoever reads the topic reads it like any other. `at` in microseconds since 1970. */
export function watermarkMessages(prefix: string, source: string, at: number, positions: Watermark['positions']): TopicMessages {
  const headers = {
    'content-type': 'application/protobuf',
    ce_specversion: '1.0',
    ce_id: randomUUID(),
    ce_type: 'watermark',
    ce_source: source,
    ce_subject: source,
    ce_time: formatInstant(at),
    ce_companyid: NO_COMPANY,
    // Milliseconds grow as versions must, in as many digits as those have.
    ce_version: String(Math.floor(at / 1000)),
  };
  const value = Buffer.from(Watermark.encode({ at, positions }).finish());
  return { topic: prefix + topics.watermarks.name, messages: [{ key: source, value, headers }] };
}
