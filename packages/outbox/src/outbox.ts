import { topics as known } from '@truckroll/contract';
import type { BackgroundPart, Database, Logger, Metrics, Session, Transaction } from '@truckroll/service-kit';
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
  /** The topics that this service publishes on; created when they are missing. */
  readonly topics: readonly Topic[];
  /**
   * Whether everything that is committed has been appended: while it has not, no watermark is published (docs/adr/0006). Runs on
   * the relay's session, after the moment that the watermark would name.
   */
  readonly complete?: (session: Pick<Session, 'query'>) => Promise<boolean>;
  /** Whether watermarks are published: false for a service whose records no report is made of. Default true. */
  readonly announces?: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** A service's outbox and the relay that empties it. Nothing is published any other way. */
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

  /** Stores events in the transaction, as `append`, and notifies the relay when it commits. */
  async append(tx: Transaction, events: readonly OutgoingEvent[]): Promise<void> {
    if (events.length === 0) return;
    await append(tx, events);
    tx.afterCommit(() => this.#relay.poke());
  }

  /** For callers that use `append` itself: call after the commit. Without it, events leave at the relay's next look. */
  poke(): void {
    this.#relay.poke();
  }

  /** Resolves at once: writes do not wait for Kafka. */
  async start(): Promise<void> {
    const { kafka, topics, announces = true, log } = this.#options;
    // The relay does not wait for the topics: it also measures what waits while Kafka is away.
    this.#creating = ensureTopics(kafka, announces ? [...topics, known.watermarks] : topics, log, this.#stopping.signal).catch(() => undefined);
    await this.#relay.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#creating;
    await this.#relay.stop();
  }
}
