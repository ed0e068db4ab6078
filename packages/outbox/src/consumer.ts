import { once } from 'node:events';
import { backoffMs, handled, logOutage, pause, retrying, type BackgroundPart } from '@truckroll/process';
import { durations, type Logger, type Metrics } from '@truckroll/telemetry';
import type { Consumer as KafkaConsumer, EachBatchPayload, KafkaMessage, TopicOffsets } from 'kafkajs';
import { Backlog, CHUNK, type ReadMessage } from './backlog.ts';
import { eventOf, type IncomingEvent } from './event.ts';
import type { KafkaClient } from './kafka.ts';
import { disconnectQuietly } from './disconnect-quietly.ts';
import { ensureTopics, type Topic } from './topics.ts';
import { watch } from './driver/vital-signs.ts';

/** Loads the offset to continue from, by topic and partition; undefined if none is stored. */
export type StoredOffsets = () => Promise<(topic: string, partition: number) => number | undefined>;

export interface ConsumerOptions {
  readonly kafka: KafkaClient;
  /** Name of the consumer group: one per service and purpose; replicas share it. */
  readonly group: string;
  readonly topics: readonly Topic[];
  /**
   * Applies events of one partition, in order, and resolves when they are stored durably. If it rejects it is called again, so it must
   * recognise repeats and make dead letters of events that can never be applied. `signal` aborts when the partition moves to another replica.
   */
  handle(events: readonly IncomingEvent[], signal: AbortSignal): Promise<void>;
  /** Maximum partitions handled at the same time. Default 2. */
  readonly concurrency?: number;
  /** Receives messages that are not events of ours, after they were logged and counted. Without it they are only skipped. */
  unreadable?(topic: string, partition: number, message: KafkaMessage): Promise<void>;
  /**
   * For handlers that store their offsets with the data they write. Called after each rebalance. Partitions with a stored offset are
   * read ahead; others continue from the committed offset. Events may repeat: the previous owner may have stored none, or one that is older
   * than the committed offset.
   */
  readonly storedOffsets?: StoredOffsets;
  passed?(topic: string, partition: number, offset: number): Promise<void>;
  /** For events that no client waits for: a fetch waits up to WAIT_MS for more of them, because larger batches cost less. Default false. */
  readonly gathers?: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Maximum time a fetch waits at the broker, in ms. A heartbeat follows each fetch, so a session of 6 s has three. */
const WAIT_MS = 2000;
const GATHERED_BYTES = 1_000_000;
const RETRY = { firstMs: 50, mostMs: 2000 };
/** Maximum time from applying events to committing their offsets, in ms. A commit costs as much as a few events; a crash repeats this time's events. */
const COMMIT_MS = 500;
const COMMIT_STORED_MS = 5000;
/** Pause between fetches of a partition that is read ahead, in ms, unless its batch is applied sooner: fewer, larger fetches. */
const AHEAD_MS = 50;

/** Reads topics in a consumer group; a new group starts at the beginning. Connects in the background, again whenever kafkajs gives up. */
export class Consumer implements BackgroundPart {
  readonly name: string;
  readonly #options: ConsumerOptions;
  readonly #stopping = new AbortController();
  readonly #stopped = once(this.#stopping.signal, 'abort');
  readonly #lag;
  readonly #unreadable;
  readonly #retries;
  readonly #handled;
  #running: Promise<void> = Promise.resolve();
  readonly #backlog = new Backlog((...chunk) => this.#chunk(...chunk));
  /** Partitions with a stored offset, which are read ahead, as `topic/partition` with the topic's name in Kafka. */
  readonly #ahead = new Set<string>();
  #reached = new Map<string, Map<number, string>>();
  #commit: ((topics: TopicOffsets[]) => Promise<void>) | undefined;
  #commitTimer: NodeJS.Timeout | undefined;
  /** Pending while the consumer moves to the stored offsets after a rebalance; undefined otherwise. */
  #sought: Promise<void> | undefined;

  constructor(options: ConsumerOptions) {
    this.#options = options;
    this.name = `consumer ${options.group}`;
    const { metrics } = options;
    this.#lag = metrics.gauge('consumer_lag', 'Messages between the last one applied and the end of the partition', ['group', 'topic', 'partition']);
    this.#unreadable = metrics.counter('consumer_unreadable_total', 'Messages that are no events', ['group', 'topic']);
    this.#handled = durations(
      metrics,
      'messaging_process_duration_seconds',
      'Batches of events of a partition that were applied; error_type is empty or `failed`, and then they are tried again',
      ['messaging_consumer_group_name', 'messaging_destination_name', 'error_type'],
    );
    this.#retries = metrics.counter('consumer_retries_total', 'Batches that could not be applied at once', ['group', 'topic']);
  }

  async start(): Promise<void> {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Commits the offsets of applied events now, without waiting for COMMIT_MS. Never rejects. */
  async commit(): Promise<void> {
    await this.#commitNow();
  }

  async #run(): Promise<void> {
    const { kafka, topics, log, group, gathers = false } = this.#options;
    for (let failures = 0; !this.#stopping.signal.aborted; ) {
      const consumer = kafka.consumer({
        groupId: kafka.prefix + group,
        // The broker answers when it has that many bytes; the time is limited because heartbeats are sent between fetches.
        maxWaitTimeInMs: WAIT_MS,
        minBytes: gathers ? GATHERED_BYTES : 1,
        sessionTimeout: 6000,
        heartbeatInterval: 1000,
        rebalanceTimeout: 20_000,
        allowAutoTopicCreation: false,
        retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 8, restartOnFailure: async () => false },
      });
      const watched = watch(consumer);
      const ended = new AbortController();
      consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberAssignment } }) => {
        failures = 0;
        this.#reached = new Map();
        const { storedOffsets } = this.#options;
        if (storedOffsets === undefined) return;
        const sought = this.#dropBacklog().then(() =>
          this.#seek(consumer, memberAssignment, storedOffsets, AbortSignal.any([this.#stopping.signal, ended.signal])),
        );
        this.#sought = sought;
        void sought.then(() => {
          if (this.#sought === sought) this.#sought = undefined;
        });
      });
      consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { topic, partition, lastOffset, batchSize } }) => {
        if (batchSize === 0) this.#passed(topic, partition, lastOffset);
      });
      try {
        await ensureTopics(kafka, topics, log, this.#stopping.signal);
        const failed = watched.failed.then((error) => Promise.reject(error));
        await Promise.race([failed, this.#consume(consumer).then(() => this.#stopped)]);
      } catch (error) {
        if (!this.#stopping.signal.aborted) {
          failures += 1;
          logOutage(log, 'a consumer lost its connection to Kafka and restarts', failures, error, { group });
          await pause(backoffMs(failures), this.#stopping.signal);
        }
      } finally {
        ended.abort();
        watched.stop();
        await this.#backlog.drop(new Error('the consumer has ended'));
        await this.#commitNow();
        this.#reached = new Map();
        await disconnectQuietly(consumer);
        this.#commit = undefined;
      }
    }
  }

  async #consume(consumer: KafkaConsumer): Promise<void> {
    await consumer.connect();
    const { kafka, topics, concurrency = 2 } = this.#options;
    await consumer.subscribe({ topics: topics.map((topic) => kafka.prefix + topic.name), fromBeginning: true });
    await consumer.run({
      eachBatchAutoResolve: false,
      autoCommit: false,
      partitionsConsumedConcurrently: concurrency,
      eachBatch: (payload) => this.#batch(payload),
    });
  }

  /** Moves the consumer to the stored offsets. Never rejects: retries until it succeeds or the consumer has ended, also when it is begun anew. */
  async #seek(consumer: KafkaConsumer, assigned: Readonly<Record<string, readonly number[]>>, storedOffsets: StoredOffsets, ended: AbortSignal): Promise<void> {
    const { kafka, log, group } = this.#options;
    const failed = (error: unknown, failures: number): boolean => {
      logOutage(log, 'stored offsets could not be read; trying again', failures, error, { group });
      return true;
    };
    const offsetOf = await retrying(storedOffsets, failed, ended).catch(() => undefined);
    if (ended.aborted) return;
    // Also if no message comes: the member before may have stored offsets without committing them.
    this.#commit ??= (all) => consumer.commitOffsets(all.flatMap(({ topic, partitions }) => partitions.map((each) => ({ topic, ...each }))));
    for (const [topic, partitions] of Object.entries(assigned)) {
      for (const partition of partitions) {
        const offset = offsetOf?.(topic.slice(kafka.prefix.length), partition);
        if (offset === undefined) continue;
        consumer.seek({ topic, partition, offset: String(offset) });
        this.#ahead.add(`${topic}/${partition}`);
        this.#note(topic, partition, offset);
      }
    }
  }

  async #batch(payload: EachBatchPayload): Promise<void> {
    if (this.#sought !== undefined) await this.#withHeartbeat(payload, () => this.#sought as Promise<void>);
    // The partition was lost, or a seek moved it: reading continues elsewhere.
    if (payload.isStale()) return;
    const { batch } = payload;
    const { partition } = batch;
    const topic = batch.topic.slice(this.#options.kafka.prefix.length);
    this.#commit = (topics) => payload.commitOffsetsIfNecessary({ topics });
    const messages = batch.messages.map((message): ReadMessage => ({ message, event: eventOf(topic, partition, message) }));
    const allApplied = (): void => {
      const labels = { group: this.#options.group, topic, partition: String(partition) };
      this.#lag.set(labels, Math.max(0, Number(batch.highWatermark) - 1 - Number(batch.lastOffset())));
    };
    if (this.#ahead.has(`${batch.topic}/${partition}`)) {
      const applied = this.#backlog.add(topic, partition, messages).then(allApplied);
      payload.resolveOffset(batch.messages.at(-1)!.offset);
      await this.#withHeartbeat(payload, () => Promise.race([handled(applied), this.#backlog.roomAfter(AHEAD_MS)]));
      return;
    }
    for (let start = 0; start < messages.length; start += CHUNK) {
      const chunk = messages.slice(start, start + CHUNK);
      await this.#withHeartbeat(payload, (signal) => this.#chunk(topic, partition, chunk, signal));
      payload.resolveOffset(chunk.at(-1)!.message.offset);
      if (!payload.isRunning() || payload.isStale()) return;
    }
    allApplied();
  }

  async #chunk(topic: string, partition: number, messages: readonly ReadMessage[], signal: AbortSignal): Promise<void> {
    const { handle, log, group } = this.#options;
    const strangers = messages.filter(({ event }) => event === undefined);
    const events = messages.flatMap(({ event }) => event ?? []);
    for (let failures = 1; ; failures += 1) {
      signal.throwIfAborted();
      const startedAt = performance.now();
      try {
        for (; strangers.length > 0; strangers.shift()) await this.#passOver(topic, partition, strangers[0]!.message);
        if (events.length > 0) {
          await handle(events, signal);
          this.#handled.ended(startedAt, group, topic, '');
        }
        break;
      } catch (error) {
        this.#handled.ended(startedAt, group, topic, 'failed');
        this.#retries.inc({ group, topic });
        logOutage(log, 'events could not be applied; trying again', failures, error, { group, topic, partition });
        await pause(backoffMs(failures, RETRY), this.#stopping.signal);
        this.#stopping.signal.throwIfAborted();
      }
    }
    // Also while stopping, so that stored events are not delivered again.
    await this.#reach(topic, partition, Number(messages.at(-1)!.message.offset) + 1);
  }

  async #reach(topic: string, partition: number, next: number): Promise<void> {
    this.#note(this.#options.kafka.prefix + topic, partition, next);
    // While stopping, the timer may fire too late.
    if (this.#stopping.signal.aborted) await this.#commitNow();
  }

  #note(inKafka: string, partition: number, next: number): void {
    const reached = this.#reached.get(inKafka) ?? new Map<number, string>();
    this.#reached.set(inKafka, reached.set(partition, String(next)));
    this.#commitTimer ??= setTimeout(() => void this.#commitNow(), this.#options.storedOffsets === undefined ? COMMIT_MS : COMMIT_STORED_MS);
  }

  #passed(topic: string, partition: number, offset: string): void {
    const { kafka, passed, log } = this.#options;
    passed?.(topic.slice(kafka.prefix.length), partition, Number(offset)).catch((error: unknown) =>
      log.debug({ error, topic, partition }, 'an offset was not stored'),
    );
  }

  async #passOver(topic: string, partition: number, message: KafkaMessage): Promise<void> {
    const { unreadable, log, group } = this.#options;
    this.#unreadable.inc({ group, topic });
    log.error({ group, topic, partition, offset: message.offset }, 'skipped a message that is not an event');
    await unreadable?.(topic, partition, message);
  }

  /** Sends heartbeats during long work, to stay a member of the group. A rebalance aborts the work and rejects. */
  async #withHeartbeat(payload: EachBatchPayload, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const abort = new AbortController();
    let beating = Promise.resolve();
    const timer = setInterval(() => {
      beating = beating.then(() => payload.heartbeat()).catch((error: unknown) => abort.abort(error));
    }, 1000);
    try {
      await work(abort.signal);
    } finally {
      clearInterval(timer);
      await beating;
    }
    // Only after the work has ended: kafkajs rejoins the group as soon as this throws.
    try {
      await payload.heartbeat();
    } catch (error) {
      await this.#commitNow();
      throw error;
    }
  }

  /** Never rejects: events whose offsets are not committed are delivered again. */
  async #commitNow(): Promise<void> {
    clearTimeout(this.#commitTimer);
    this.#commitTimer = undefined;
    const { log, group } = this.#options;
    const reached = this.#reached;
    if (this.#commit === undefined || reached.size === 0) return;
    const topics = [...reached].map(([topic, offsets]) => ({ topic, partitions: [...offsets].map(([partition, offset]) => ({ partition, offset })) }));
    await this.#commit(topics).catch((error: unknown) => log.debug({ error, group }, 'cannot commit offsets; they are committed with the next events'));
  }

  /** Drops what was read ahead, and the offsets reached before the rebalance: their partitions may belong to another member now. */
  async #dropBacklog(): Promise<void> {
    this.#ahead.clear();
    await this.#backlog.drop(new Error('the group has rebalanced its partitions'));
    this.#reached = new Map();
  }
}
