// Sends queued messages at most once each: an attempt is stored before the provider is called, and never repeated if its result is unknown.
import { isUnavailable } from '@truckroll/postgres';
import { Notifier, backoffMs, logOutage, retrying, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { DEFAULT_TIMEOUT_MS } from './choose.ts';
import type { Attempt, MailOutcome } from './provider.ts';
import { onQueued } from './queued.ts';

/** A message that this process has leased and no other process will send. */
export interface Lease {
  readonly id: string;
  /** Including this one. */
  readonly attempts: number;
}

/** The queue a sender works on. docs/how-to/notifications.md describes the statuses and their order. */
export interface Postbox<L extends Lease> {
  /** Whether a message is due or an attempt has timed out. */
  hasWork(): Promise<boolean>;
  /** Deletes messages that finished long ago. Resolves to their number. */
  forgetEnded(): Promise<number>;
  /** Marks attempts as UNKNOWN whose process died before storing a result. Resolves to their number. */
  giveUp(): Promise<number>;
  /** Leases up to `most` messages and stores their attempts. An attempt without a result after `leaseMs` counts as lost. */
  take(most: number, leaseMs: number): Promise<readonly L[]>;
  /** Tries once. A rejected promise counts as UNKNOWN. */
  send(lease: L): Promise<Attempt>;
  /** Counts the result of every attempt in metrics. */
  count(lease: L, outcome: MailOutcome): void;
  /** Stores the final result of an attempt, unless it has been given up in the meantime. */
  finish(lease: L, outcome: Exclude<MailOutcome, 'UNTAKEN'>, detail: string): Promise<void>;
  /** Queues a message again that the provider did not accept. */
  postpone(lease: L, delayMs: number, detail: string): Promise<void>;
}

export interface SenderOptions<L extends Lease> {
  readonly name: string;
  readonly postbox: Postbox<L>;
  readonly log: Logger;
  /** Time limit of one attempt at the provider. */
  readonly timeoutMs?: number | undefined;
}

const MOST_AT_ONCE = 8;
/** Poll interval for messages that are due again or were queued by other replicas. It grows while none are found. */
const LOOK_MS = { first: 1000, most: 5000 };
const FORGET_EVERY_MS = 3_600_000;
/** Time to store an attempt's result, on top of the provider's time limit. */
const GRACE_MS = 30_000;
/** Attempts while the provider is unreachable; with the pauses below they span about an hour (decisions §11). */
const MOST_ATTEMPTS = 9;
const AGAIN = { firstMs: 30_000, mostMs: 900_000 };

/**
 * Sends the messages of a queue, several at once. `name` is a plural for log lines. A message that the provider has not taken is tried
 * again for about an hour (decisions §11).
 */
export function createSender<L extends Lease>({ name, postbox, log, timeoutMs = DEFAULT_TIMEOUT_MS }: SenderOptions<L>): BackgroundPart {
  const stopping = new AbortController();
  const attempts = new Set<Promise<void>>();
  const news = new Notifier();
  let running: Promise<void> = Promise.resolve();
  let endHearing = (): void => undefined;
  let forgetAt = 0;

  async function run(): Promise<void> {
    let restMs = LOOK_MS.first;
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        const work = attempts.size < MOST_AT_ONCE && (await postbox.hasWork());
        if (work) await round();
        restMs = work || attempts.size > 0 ? LOOK_MS.first : Math.min(LOOK_MS.most, restMs * 1.5);
        if (Date.now() >= forgetAt) await forget();
        failures = 0;
      } catch (error) {
        failures += 1;
        logOutage(log, `${name} wait for the database`, failures, error);
      }
      await news.wait(failures > 0 ? backoffMs(failures) : restMs, stopping.signal);
    }
  }

  async function round(): Promise<void> {
    const lost = await postbox.giveUp();
    if (lost > 0) log.warn({ lost }, `attempts to send ${name} were interrupted: their outcome is UNKNOWN and they are not repeated`);
    for (const lease of await postbox.take(MOST_AT_ONCE - attempts.size, timeoutMs + GRACE_MS)) {
      const attempt = deliver(lease).finally(() => {
        attempts.delete(attempt);
        news.notify();
      });
      attempts.add(attempt);
    }
  }

  async function forget(): Promise<void> {
    const forgotten = await postbox.forgetEnded();
    forgetAt = Date.now() + FORGET_EVERY_MS;
    if (forgotten > 0) log.info({ forgotten }, `deleted old ${name}`);
  }

  /** Never rejects: an attempt whose result cannot be stored becomes UNKNOWN when its lease ends. */
  async function deliver(lease: L): Promise<void> {
    const attempt = await postbox.send(lease).catch((error: unknown): Attempt => ({ outcome: 'UNKNOWN', detail: String(error) }));
    const { outcome, detail } = attempt;
    postbox.count(lease, outcome);
    if (outcome !== 'SENT') log.warn({ message: lease.id, outcome, detail }, `one of the ${name} was not sent`);
    try {
      // Runs once even while stopping, so that a known result is stored.
      await store(lease, attempt).catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
        return retrying(() => store(lease, attempt), isUnavailable, stopping.signal);
      });
    } catch (error) {
      log.error({ error, message: lease.id, outcome }, `the outcome of one of the ${name} could not be stored: it becomes UNKNOWN`);
    }
  }

  function store(lease: L, { outcome, detail }: Attempt): Promise<void> {
    if (outcome === 'UNTAKEN' && lease.attempts < MOST_ATTEMPTS) return postbox.postpone(lease, backoffMs(lease.attempts, AGAIN), detail);
    return postbox.finish(lease, outcome === 'UNTAKEN' ? 'FAILED' : outcome, detail);
  }

  return {
    name,
    async start() {
      endHearing = onQueued(() => news.notify());
      running = run();
    },
    async stop() {
      endHearing();
      stopping.abort();
      await running;
      await Promise.all(attempts);
    },
  };
}
