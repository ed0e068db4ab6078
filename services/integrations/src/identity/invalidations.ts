// Revocation takes effect within a second on every gateway (decisions §8). The change is committed together with its invalidations,
// these are published to the gateways, and only then does the caller get its answer.
import { ApiError } from '@truckroll/contract';
import type { CompanyDatabase, Database, Transaction } from '@truckroll/postgres';
import { PeriodicTask } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { anyPending, removePending, reservePending, type Pending } from './pending.ts';
import type { InvalidationBus } from './redis.ts';
import { schema } from '../schema.ts';

/** PostgreSQL channel on which a replica announces that it is about to store invalidations. */
export const CHANNEL = 'invalidations';
/** Poll interval for invalidations that a dead process left behind. */
const SWEEP_MS = 1000;
/** Duration of polling after an announcement, in ms: longer than the announced transaction can take. */
const POLL_MS = 60_000;
/** Poll interval in ms without an announcement. */
const REST_MS = 60_000;

export class InvalidationPublisher {
  readonly #database: Database;
  readonly #bus: InvalidationBus;
  readonly #log: Logger;
  readonly #isListening: () => boolean;
  readonly #sweeps = new PeriodicTask(SWEEP_MS, () => this.#sweep());
  #pollsUntil = 0;
  #restsUntil = 0;

  /** `isListening` returns whether `announced` is being called for other replicas' announcements. */
  constructor(database: Database, bus: InvalidationBus, log: Logger, isListening: () => boolean) {
    this.#database = database;
    this.#bus = bus;
    this.#log = log;
    this.#isListening = isListening;
    bus.onReady(() => this.#sweeps.now());
  }

  /** Call when a replica is about to store invalidations. It publishes them itself unless it dies. */
  announced(): void {
    this.#pollsUntil = performance.now() + POLL_MS;
  }

  /**
   * Runs a change in a transaction of `database`, which a company's own changes name, and publishes its invalidations to the gateways. Throws ApiError 503 if the change is committed but the
   * invalidations are not published yet. Notifies replicas before the transaction: inside it, the commit would take a server-wide lock, and
   * after it, the process may have died.
   */
  async commit<T>(
    change: (tx: Transaction) => Promise<{ answer: T; pending: Pending[] }>,
    database: Pick<CompanyDatabase, 'query' | 'transaction'> = this.#database,
  ): Promise<T> {
    await database.query({ name: 'announce_invalidations', text: `select pg_notify('${schema.schema}_${CHANNEL}', '')` });
    const { answer, pending } = await database.transaction(change);
    try {
      await this.#bus.publish(pending.map(({ subject }) => subject));
    } catch (cause) {
      const message =
        'The change is recorded, but Redis does not answer, so the gateways have not been notified yet. Those that are cut ' +
        'off from Redis too follow within a second, the others when it answers again. Repeating the call is safe.';
      throw new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: 5, cause });
    }
    // Publishing an invalidation again is harmless.
    await removePending(this.#database, pending).catch((error: unknown) => {
      this.#log.warn({ error }, 'a published invalidation was not removed and will be published again');
    });
    return answer;
  }

  start(): void {
    this.#sweeps.start();
  }

  stop(): Promise<void> {
    return this.#sweeps.stop();
  }

  async #sweep(): Promise<void> {
    const now = performance.now();
    if (now > this.#pollsUntil && this.#isListening() && now < this.#restsUntil) return;
    this.#restsUntil = now + REST_MS;
    try {
      if (!(await anyPending(this.#database))) return;
      // Keep polling: one transaction may not take all, and rows reserved by another replica may be released.
      this.announced();
      await this.#database.transaction(async (tx) => {
        const pending = await reservePending(tx);
        if (pending.length === 0) return;
        await this.#bus.publish(pending.map(({ subject }) => subject));
        await removePending(tx, pending);
        this.#log.info({ count: pending.length }, 'published pending invalidations');
      });
    } catch (error) {
      this.#log.debug({ error }, 'cannot publish invalidations while PostgreSQL or Redis is unavailable');
    }
  }
}
