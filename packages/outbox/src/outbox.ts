import { topics as known } from '@truckroll/contract';
import type { Database, DatabaseSession, Transaction } from '@truckroll/postgres';
import type { BackgroundPart } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { append } from './append.ts';
import type { OutgoingEvent } from './event.ts';
import type { KafkaClient } from './kafka.ts';
import { createPublisher } from './publisher.ts';
import { Relay } from './relay.ts';
import { ensureTopics, type Topic } from './topics.ts';

export interface OutboxOptions {
  readonly database: Database;
  readonly kafka: KafkaClient;
  /** CloudEvents source: `/truckroll/billing`. */
  readonly source: string;
  /** Topics that this service publishes to; created if missing. */
  readonly topics: readonly Topic[];
  /** Whether every change committed before the watermark's time has been appended; none is published otherwise (docs/adr/0006). Runs on the relay's session. */
  readonly complete?: (session: Pick<DatabaseSession, 'query'>) => Promise<boolean>;
  /** Whether to publish watermarks. Default true; false for a service whose records are in no report. */
  readonly announces?: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** A service's outbox and the relay that empties it: the only way to publish. */
export class Outbox implements BackgroundPart {
  readonly name = 'outbox';
  readonly #options: OutboxOptions;
  readonly #relay: Relay;
  readonly #stopping = new AbortController();
  #creating: Promise<void> = Promise.resolve();

  constructor(options: OutboxOptions) {
    this.#options = options;
    const { announce, ...publisher } = createPublisher(options.kafka, options.source, options.topics);
    this.#relay = new Relay({ ...options, publisher: { ...publisher, ...(options.announces !== false && { announce }) } });
  }

  /** Stores events in the transaction as `append` does, and notifies the relay after the commit. */
  async append(tx: Transaction, events: readonly OutgoingEvent[]): Promise<void> {
    if (events.length === 0) return;
    await append(tx, events);
    tx.afterCommit(() => this.#relay.poke());
  }

  /** Call after the commit if you use `append` directly. Otherwise events wait for the relay's next poll. */
  poke(): void {
    this.#relay.poke();
  }

  /** Does not wait for Kafka, because writes do not need it. */
  async start(): Promise<void> {
    const { kafka, topics, announces = true, log } = this.#options;
    // The relay starts before the topics exist, so that it reports the backlog while Kafka is down.
    this.#creating = ensureTopics(kafka, announces ? [...topics, known.watermarks] : topics, log, this.#stopping.signal).catch(() => undefined);
    await this.#relay.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#creating;
    await this.#relay.stop();
  }
}
