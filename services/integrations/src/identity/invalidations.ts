// Revocation takes effect within a second on every gateway (decisions §8): the change is committed together with what
// the gateways have to forget, then they are told, and only then is the caller answered.
import { ApiError } from '@truckroll/contract';
import { PeriodicTask, type Database, type Logger, type Transaction } from '@truckroll/service-kit';
import { anyPending, removePending, reservePending, type Pending } from './pending.ts';
import type { InvalidationBus } from './redis.ts';

/** How long a note that a process left behind when it died may lie before another takes it. */
const SWEEP_MS = 1000;
/** Between looks where nothing was told of since the last one, though it would have been: should a notice have been lost all the same. */
const REST_MS = 60_000;

export class Invalidations {
  readonly #database: Database;
  readonly #bus: InvalidationBus;
  readonly #log: Logger;
  readonly #hears: () => boolean;
  readonly #sweeps = new PeriodicTask(SWEEP_MS, () => this.#sweep());
  /** Whether there may be some, as far as is known. */
  #told = true;
  #restsUntil = 0;

  /** `hears` is whether `told` is called for all that is stored. */
  constructor(database: Database, bus: InvalidationBus, log: Logger, hears: () => boolean) {
    this.#database = database;
    this.#bus = bus;
    this.#log = log;
    this.#hears = hears;
    bus.onReady(() => {
      this.#told = true;
      this.#sweeps.now();
    });
  }

  /** Somebody has stored some, which is about to publish them unless it dies. */
  told(): void {
    this.#told = true;
  }

  /**
   * Runs a change in a transaction and tells the gateways what to forget. Rejects with what the change rejects with; and
   * with ApiError 503 where the change is committed but the gateways could not be told yet.
   */
  async commit<T>(change: (tx: Transaction) => Promise<{ answer: T; pending: Pending[] }>): Promise<T> {
    const { answer, pending } = await this.#database.transaction(change);
    try {
      await this.#bus.publish(pending.map(({ subject }) => subject));
    } catch (cause) {
      const message =
        'The change is recorded, but Redis does not answer, so the gateways have not been told yet. Those that are cut ' +
        'off from Redis too follow within a second, the others when it answers again. Repeating the call is safe.';
      throw new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: 5, cause });
    }
    // What was published but not removed is published again, which changes nothing.
    await removePending(this.#database, pending).catch((error: unknown) => {
      this.#log.warn({ error }, 'a published invalidation was not removed and will be published again');
    });
    return answer;
  }

  /** Publishes what is still stored, now and from time to time: also what other processes left when they died. */
  start(): void {
    this.#sweeps.start();
  }

  stop(): Promise<void> {
    return this.#sweeps.stop();
  }

  async #sweep(): Promise<void> {
    if (!this.#told && this.#hears() && performance.now() < this.#restsUntil) return;
    this.#told = false;
    this.#restsUntil = performance.now() + REST_MS;
    try {
      if (!(await anyPending(this.#database))) return;
      // There may be more than one transaction takes, and what others have reserved may come back.
      this.#told = true;
      await this.#database.transaction(async (tx) => {
        const pending = await reservePending(tx);
        if (pending.length === 0) return;
        await this.#bus.publish(pending.map(({ subject }) => subject));
        await removePending(tx, pending);
        this.#log.info({ count: pending.length }, 'published invalidations that had been waiting');
      });
    } catch (error) {
      this.#told = true;
      this.#log.debug({ error }, 'invalidations still wait for PostgreSQL or Redis');
    }
  }
}
