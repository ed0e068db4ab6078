import { setTimeout as delay } from 'node:timers/promises';
import { handled } from '@truckroll/process';
import type { KafkaMessage } from 'kafkajs';
import type { IncomingEvent } from './event.ts';

/** A message with its decoded event; undefined if it is not one of ours. */
export interface ReadMessage {
  readonly message: KafkaMessage;
  readonly event: IncomingEvent | undefined;
}

/** Applies messages of one partition, retrying until it succeeds; rejects only when the signal aborts. */
type Apply = (topic: string, partition: number, messages: readonly ReadMessage[], signal: AbortSignal) => Promise<void>;

interface Waiting {
  readonly messages: readonly ReadMessage[];
  readonly applied: () => void;
  readonly dropped: (reason: unknown) => void;
}

/** Maximum events in one call of `handle`, and so in one transaction. */
export const CHUNK = 500;
/** Limits on what is read but not yet applied, over all partitions. Reading pauses above them. */
const MOST = { messages: 4000, bytes: 8 * 1024 * 1024 };

/** Messages that were read ahead and not yet applied. Each partition's messages are applied in order, in chunks of up to CHUNK. */
export class Backlog {
  readonly #apply: Apply;
  /** Keyed by `topic/partition`, as is `#working`. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #working = new Map<string, Promise<void>>();
  #stopping = new AbortController();
  #messages = 0;
  #bytes = 0;
  #roomMade = Promise.withResolvers<void>();

  constructor(apply: Apply) {
    this.#apply = apply;
  }

  /** Resolves when all of the messages have been applied; rejects when they are dropped. */
  add(topic: string, partition: number, messages: readonly ReadMessage[]): Promise<unknown> {
    const key = `${topic}/${partition}`;
    const waiting = this.#waiting.get(key) ?? [];
    this.#waiting.set(key, waiting);
    const added: Promise<void>[] = [];
    for (let start = 0; start < messages.length; start += CHUNK) {
      const { promise, resolve: applied, reject: dropped } = Promise.withResolvers<void>();
      waiting.push({ messages: messages.slice(start, start + CHUNK), applied, dropped });
      added.push(promise);
    }
    this.#count(messages, 1);
    if (!this.#working.has(key)) this.#working.set(key, this.#work(topic, partition, waiting));
    // A reader that does not wait for the result must not cause an unhandled rejection.
    return handled(Promise.all(added));
  }

  /** Resolves once `ms` milliseconds have passed and the backlog is below its limits. */
  async roomAfter(ms: number): Promise<void> {
    await delay(ms);
    while (this.#messages > MOST.messages || this.#bytes > MOST.bytes) await this.#roomMade.promise;
  }

  /** Rejects everything that waits, aborts what is being applied, and resolves when that has ended. */
  async drop(reason: Error): Promise<void> {
    this.#stopping.abort(reason);
    this.#stopping = new AbortController();
    for (const waiting of this.#waiting.values()) {
      for (const { messages, dropped } of waiting.splice(0)) {
        this.#count(messages, -1);
        dropped(reason);
      }
    }
    await Promise.all(this.#working.values());
  }

  async #work(topic: string, partition: number, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) {
      const taken = takeSome(waiting);
      const messages = taken.flatMap((each) => each.messages);
      try {
        await this.#apply(topic, partition, messages, this.#stopping.signal);
        for (const { applied } of taken) applied();
      } catch (error) {
        for (const { dropped } of taken) dropped(error);
      } finally {
        this.#count(messages, -1);
      }
    }
    // Synchronously after the check above, so that the next `add` starts a new worker.
    this.#working.delete(`${topic}/${partition}`);
  }

  #count(messages: readonly ReadMessage[], sign: 1 | -1): void {
    this.#messages += sign * messages.length;
    for (const { message } of messages) this.#bytes += sign * (message.value?.length ?? 0);
    if (sign < 0) {
      this.#roomMade.resolve();
      this.#roomMade = Promise.withResolvers();
    }
  }
}

function takeSome(waiting: Waiting[]): Waiting[] {
  let count = 0;
  const beyond = waiting.findIndex(({ messages }) => (count += messages.length) > CHUNK);
  return waiting.splice(0, beyond === -1 ? waiting.length : Math.max(1, beyond));
}
