// Revocation takes effect within a second on every gateway (decisions §8): the change is committed together with what
// the gateways have to forget, then they are told, and only then is the caller answered.
import { ApiError } from '@truckroll/contract';
import { PeriodicTask, type Database, type Logger, type Transaction } from '@truckroll/service-kit';
import { anyPending, removePending, reservePending, type Pending } from './pending.ts';
import type { InvalidationBus } from './redis.ts';
import { schema } from '../schema.ts';

/** On which replicas hear that one of them is about to store invalidations. */
export const CHANNEL = 'invalidations';
/** Poll interval for invalidations that a dead process left behind. */
const SWEEP_MS = 1000;
/** Duration of polling after a notice, in ms: longer than the transaction that it announces can take. */
const POLL_MS = 60_000;
/** Poll interval without a notice. */
const REST_MS = 60_000;

export class Invalidations {
  readonly #database: Database;
  readonly #bus: InvalidationBus;
  readonly #log: Logger;
  readonly #hears: () => boolean;
  readonly #sweeps = new PeriodicTask(SWEEP_MS, () => this.#sweep());
  #pollsUntil = 0;
  #restsUntil = 0;

  /** `hears` is whether `announced` is called for every notice. */
  constructor(database: Database, bus: InvalidationBus, log: Logger, hears: () => boolean) {
    this.#database = database;
    this.#bus = bus;
    this.#log = log;
    this.#hears = hears;
    bus.onReady(() => {
      this.announced();
      this.#sweeps.now();
    });
  }

  /** A replica is about to store invalidations; it publishes them itself unless it dies. */
  announced(): void {
    this.#pollsUntil = performance.now() + POLL_MS;
  }

  /**
   * Runs a change in a transaction and tells the gateways what to forget. Rejects with what the change rejects with; and
   * with ApiError 503 where the change is committed but the gateways could not be told yet.
   * Replicas are notified before it, not in it: a transaction that notifies commits under a lock of the whole server, and a
   * process that died after the commit would notify too late.
   */
  async commit<T>(change: (tx: Transaction) => Promise<{ answer: T; pending: Pending[] }>): Promise<T> {
    await this.#database.query({ name: 'announce_invalidations', text: `select pg_notify('${schema.schema}_${CHANNEL}', '')` });
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
    const now = performance.now();
    if (now > this.#pollsUntil && this.#hears() && now < this.#restsUntil) return;
    this.#restsUntil = now + REST_MS;
    try {
      if (!(await anyPending(this.#database))) return;
      // There may be more than one transaction takes, and what others have reserved may come back.
      this.announced();
      await this.#database.transaction(async (tx) => {
        const pending = await reservePending(tx);
        if (pending.length === 0) return;
        await this.#bus.publish(pending.map(({ subject }) => subject));
        await removePending(tx, pending);
        this.#log.info({ count: pending.length }, 'published invalidations that had been waiting');
      });
    } catch (error) {
      this.announced();
      this.#log.debug({ error }, 'invalidations still wait for PostgreSQL or Redis');
    }
  }
}
