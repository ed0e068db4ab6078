import { isContention, isUnavailable, type Database, type Transaction } from '@truckroll/postgres';
import type { BackgroundPart, PeriodicTask } from '@truckroll/process';
import {
  ATTR_MESSAGING_BATCH_MESSAGE_COUNT,
  ATTR_MESSAGING_DESTINATION_NAME,
  ATTR_MESSAGING_SYSTEM,
  MESSAGING_SYSTEM_VALUE_KAFKA,
  onBehalfOf,
  requestOf,
  withBatchSpan,
  type Logger,
  type Metrics,
} from '@truckroll/telemetry';
import { Consumer, type StoredOffsets } from './consumer.ts';
import { withoutErased } from './erased.ts';
import type { IncomingEvent } from './event.ts';
import { notOlder, unseen, type Deduplication } from './inbox.ts';
import type { KafkaClient } from './kafka.ts';
import { versionRetention } from './retention.ts';
import { deadLetterOf, deleteDeadLetters, storeDeadLetter, takeDeadLetter } from './dead-letters.ts';
import type { Topic } from './topics.ts';

export interface Subscription {
  readonly topic: Topic;
  readonly deduplicate: Deduplication;
  /** Applies new events in the transaction that marks them as seen. Those of one partition are in order. */
  apply(tx: Transaction, events: readonly IncomingEvent[]): Promise<void>;
}

export interface SubscriberOptions {
  readonly database: Database;
  readonly kafka: KafkaClient;
  /** Consumer group, and the consumer's name in the inbox and dead letter tables, such as `billing`. */
  readonly group: string;
  readonly subscriptions: readonly Subscription[];
  /** Called in each transaction that applies events or stores a dead letter, with the last handled offset of each partition. */
  readonly reached?: (tx: Transaction, topic: string, offsets: ReadonlyMap<number, number>) => Promise<void>;
  /** As in ConsumerOptions, for subscribers whose `reached` stores the offsets. */
  readonly storedOffsets?: StoredOffsets;
  /** As in ConsumerOptions. */
  readonly gathers?: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Attempts to apply one event on its own before it becomes a dead letter. */
const TRIES = 3;
const MOST_TOGETHER = 2000;
const TOPICS_AT_ONCE = 2;
/** Partitions that the client may pass on at once: high, so that they queue here and those of one topic share a transaction. */
const PARTITIONS_AT_ONCE = 64;

interface Waiting {
  readonly events: readonly IncomingEvent[];
  readonly applied: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Applies the queued batches of all partitions of a topic in one transaction. If it fails, each batch gets its own, then each
 * event. An event that still fails becomes a dead letter. While PostgreSQL is unavailable, batches wait.
 */
export class Subscriber implements BackgroundPart {
  readonly name: string;
  readonly #options: SubscriberOptions;
  readonly #byTopic: ReadonlyMap<string, Subscription>;
  readonly #consumer: Consumer;
  readonly #retention: PeriodicTask;
  readonly #events;
  readonly #waiting: Waiting[] = [];
  readonly #busy = new Set<string>();

  constructor(options: SubscriberOptions) {
    this.#options = options;
    const { group, subscriptions, database, metrics, reached } = options;
    this.name = `subscriber ${group}`;
    this.#retention = versionRetention(database, group, options.log);
    this.#byTopic = new Map(subscriptions.map((subscription) => [subscription.topic.name, subscription]));
    this.#events = metrics.counter('consumer_events_total', 'Events by what became of them', ['group', 'topic', 'result']);
    this.#consumer = new Consumer({
      ...options,
      topics: subscriptions.map((subscription) => subscription.topic),
      handle: (events) => this.handle(events),
      concurrency: PARTITIONS_AT_ONCE,
      ...(reached && { passed: (topic, partition, offset) => database.transaction((tx) => reached(tx, topic, new Map([[partition, offset]]))) }),
      unreadable: async (topic, partition, { key, value, headers, offset }) => {
        const readable = Object.fromEntries(Object.entries(headers ?? {}).map(([name, header]) => [`header ${name}`, String(header)]));
        const message = { topic, partition, offset, key: key?.toString() ?? null, headers: readable, payload: value };
        const ofCompany = { companyId: readable['header ce_companyid'] ?? '' };
        if ((await withoutErased(database, [ofCompany])).length > 0) await storeDeadLetter(database, group, message, 'the message is no event');
      },
    });
  }

  async start(): Promise<void> {
    await this.#consumer.start();
    this.#retention.start();
  }

  async stop(): Promise<void> {
    await this.#retention.stop();
    await this.#consumer.stop();
  }

  /** As that of Consumer. */
  commit(): Promise<void> {
    return this.#consumer.commit();
  }

  /** Applies events of one partition together with queued batches of the same topic. Rejects only if retrying may help. */
  async handle(events: readonly IncomingEvent[]): Promise<void> {
    if (events.length === 0) return;
    const { promise, resolve: applied, reject: failed } = Promise.withResolvers<void>();
    this.#waiting.push({ events, applied, failed });
    // After the other partitions of the same fetch response have been queued.
    setImmediate(() => this.#next());
    await promise;
  }

  #next(): void {
    while (this.#busy.size < TOPICS_AT_ONCE) {
      const topic = this.#waiting.find(({ events: [first] }) => !this.#busy.has(first!.topic))?.events[0]?.topic;
      if (topic === undefined) return;
      this.#busy.add(topic);
      void this.#applyTogether(this.#take(topic)).finally(() => {
        // After the partitions just applied have queued their next batches.
        setImmediate(() => {
          this.#busy.delete(topic);
          this.#next();
        });
      });
    }
  }

  #take(topic: string): Waiting[] {
    const taken: Waiting[] = [];
    let count = 0;
    for (const each of this.#waiting.filter(({ events: [first] }) => first!.topic === topic)) {
      count += each.events.length;
      if (taken.length > 0 && count > MOST_TOGETHER) break;
      taken.push(each);
      this.#waiting.splice(this.#waiting.indexOf(each), 1);
    }
    return taken;
  }

  async #applyTogether(batches: readonly Waiting[]): Promise<void> {
    if (batches.length > 1) {
      const all = batches.map(({ events }) => events);
      try {
        await this.#applyAll(all);
        for (const { applied } of batches) applied();
        return;
      } catch (error) {
        if (isPassing(error)) return batches.forEach(({ failed }) => failed(error));
      }
    }
    for (const { events, applied, failed } of batches) await this.#applyApart(events).then(applied, failed);
  }

  /** Rejects only if retrying may help. */
  async #applyApart(events: readonly IncomingEvent[]): Promise<void> {
    // Writes caused by several events belong to no single request.
    const [only] = events.length === 1 ? events : [];
    try {
      await onBehalfOf(only && requestOf(only.requestId, only.trace), () => this.#applyAll([events]));
    } catch (error) {
      if (isPassing(error)) throw error;
      for (const event of events) await onBehalfOf(requestOf(event.requestId, event.trace), () => this.#applyOne(event));
    }
  }

  /**
   * Applies the oldest dead letter with an id above `after` again, in its own transaction; with `version` deduplication only if no newer
   * event of its key was applied since. Returns its id; undefined if there is none. Rejects with the error of its handler.
   */
  retryDeadLetter(after: number): Promise<number | undefined> {
    const { database, group } = this.#options;
    return database.transaction(async (tx) => {
      const letter = await takeDeadLetter(tx, group, after);
      if (letter === undefined) return undefined;
      const subscription = this.#subscription(letter.event);
      const events = subscription.deduplicate === 'version' ? await notOlder(tx, group, [letter.event]) : await withoutErased(tx, [letter.event]);
      if (events.length > 0) await subscription.apply(tx, events);
      await deleteDeadLetters(tx, group, [letter.id]);
      return letter.id;
    });
  }

  async #applyAll(batches: readonly (readonly IncomingEvent[])[]): Promise<void> {
    const events = batches.flat();
    const first = events[0];
    if (first === undefined) return;
    const { database, group } = this.#options;
    const subscription = this.#subscription(first);
    const attributes = {
      [ATTR_MESSAGING_SYSTEM]: MESSAGING_SYSTEM_VALUE_KAFKA,
      [ATTR_MESSAGING_DESTINATION_NAME]: first.topic,
      [ATTR_MESSAGING_BATCH_MESSAGE_COUNT]: events.length,
    };
    const traces = events.map(({ trace }) => trace);
    const applied = await withBatchSpan(traces, `consume ${first.topic}`, 'CONSUMER', attributes, () =>
      database.transaction(
        async (tx) => {
          const fresh = await unseen(tx, group, subscription.deduplicate, events);
          if (fresh.length > 0) await subscription.apply(tx, fresh);
          await this.#reached(
            tx,
            batches.map((batch) => batch.at(-1) as IncomingEvent),
          );
          return fresh.length;
        },
        { retryContention: true },
      ),
    );
    const labels = { group, topic: first.topic };
    if (applied > 0) this.#events.inc({ ...labels, result: 'applied' }, applied);
    if (applied < events.length) this.#events.inc({ ...labels, result: 'repeated' }, events.length - applied);
  }

  async #applyOne(event: IncomingEvent): Promise<void> {
    const { database, group, log } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#applyAll([[event]]);
      } catch (error) {
        if (isPassing(error)) throw error;
        if (tries < TRIES) continue;
        log.error({ error, group, topic: event.topic, id: event.id, type: event.type }, 'an event could not be applied and became a dead letter');
        await database.transaction(async (tx) => {
          await unseen(tx, group, this.#subscription(event).deduplicate, [event]);
          await storeDeadLetter(tx, group, deadLetterOf(event), String(error));
          await this.#reached(tx, [event]);
        });
        this.#events.inc({ group, topic: event.topic, result: 'parked' });
        return;
      }
    }
  }

  async #reached(tx: Transaction, last: readonly IncomingEvent[]): Promise<void> {
    const offsets = new Map(last.map(({ partition, offset }) => [partition, Number(offset)]));
    await this.#options.reached?.(tx, (last[0] as IncomingEvent).topic, offsets);
  }

  #subscription(event: IncomingEvent): Subscription {
    const found = this.#byTopic.get(event.topic);
    if (found === undefined) throw new Error(`no subscription for ${event.topic}`);
    return found;
  }
}

function isPassing(error: unknown): boolean {
  return isUnavailable(error) || isContention(error);
}
