// Sends what is stored, at most once each: an attempt is stored before the provider hears of it, and one whose end nobody
// knows is never repeated.
import { Notifier, backoffMs, isUnavailable, logOutage, retrying, type BackgroundPart, type Logger } from '@truckroll/service-kit';
import { DEFAULT_TIMEOUT_MS } from './choose.ts';
import type { Attempt, Outcome } from './provider.ts';
import { onQueued } from './queued.ts';

/** A message that this process is trying to deliver: nobody else ever will. */
export interface Lease {
  readonly id: string;
  /** This one included. */
  readonly attempts: number;
}

/** Where messages wait. Statuses and their order are those of docs/operations.md, Customer notifications. */
export interface Postbox<L extends Lease> {
  /** Whether there is anything to take or to give up. */
  hasWork(): Promise<boolean>;
  /** Deletes what ended long ago. Resolves to its number. */
  forgetEnded(): Promise<number>;
  /** Makes attempts UNKNOWN whose process has gone without a word. Resolves to their number. */
  giveUp(): Promise<number>;
  /** Stores the beginning of attempts, at most so many. One that has told no end after `leaseMs` counts as lost. */
  take(most: number, leaseMs: number): Promise<readonly L[]>;
  /** Tries once. A rejection counts as UNKNOWN. */
  send(lease: L): Promise<Attempt>;
  /** Told how every attempt ended, for figures. */
  count(lease: L, outcome: Outcome): void;
  /** Stores how an attempt ended, unless it was given up meanwhile. */
  finish(lease: L, outcome: Exclude<Outcome, 'UNTAKEN'>, detail: string): Promise<void>;
  /** Queues one again that no provider has taken. */
  postpone(lease: L, delayMs: number, detail: string): Promise<void>;
}

export interface SenderOptions<L extends Lease> {
  readonly name: string;
  readonly postbox: Postbox<L>;
  readonly log: Logger;
  /** How long a provider may take. */
  readonly timeoutMs?: number | undefined;
}

const MOST_AT_ONCE = 8;
/** Between looks for what other replicas queued or left behind, and what is due again: the longer nothing was found, the more seldom. */
const LOOK_MS = { first: 1000, most: 5000 };
const FORGET_EVERY_MS = 3_600_000;
/** Beyond the provider's time, to store how an attempt ended. */
const GRACE_MS = 30_000;
/** A provider that cannot be reached is asked again for about an hour. */
const MOST_ATTEMPTS = 8;
const AGAIN = { firstMs: 30_000, mostMs: 900_000 };

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
    if (lost > 0) log.warn({ lost }, `attempts to send ${name} were cut short: they are UNKNOWN and are not sent again`);
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
    if (forgotten > 0) log.info({ forgotten }, `of ${name}, those that ended long ago were deleted`);
  }

  /** Never rejects: an attempt whose end cannot be stored is UNKNOWN once its time is over. */
  async function deliver(lease: L): Promise<void> {
    const attempt = await postbox.send(lease).catch((error: unknown): Attempt => ({ outcome: 'UNKNOWN', detail: String(error) }));
    const { outcome, detail } = attempt;
    postbox.count(lease, outcome);
    if (outcome !== 'SENT') log.warn({ message: lease.id, outcome, detail }, `of ${name}, one was not sent`);
    try {
      // Once in any case: a sender that stops still stores what it knows.
      await store(lease, attempt).catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
        return retrying(() => store(lease, attempt), isUnavailable, stopping.signal);
      });
    } catch (error) {
      log.error({ error, message: lease.id, outcome }, `of ${name}, the end of one could not be stored: it becomes UNKNOWN`);
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
    /** Begins nothing more, and lets the attempts under way come to their end. */
    async stop() {
      endHearing();
      stopping.abort();
      await running;
      await Promise.all(attempts);
    },
  };
}
