// Delivers notifications beside the calls, at most once each (decisions §5).
import { backoffMs, isUnavailable, logOutage, retrying, type BackgroundPart, type Database, type Logger, type Metrics } from '@truckroll/service-kit';
import { recordSent } from './interaction.ts';
import { DEFAULT_TIMEOUT_MS, type Providers } from './providers/choose.ts';
import type { Attempt } from './providers/provider.ts';
import { finish, giveUp, hasWork, postpone, take, type Lease } from './store.ts';
import { onQueued } from './wake.ts';

export interface SenderOptions {
  database: Database;
  providers: Providers;
  log: Logger;
  metrics: Metrics;
  /** Wakes the relay. */
  poke(): void;
  /** How long a provider may take. */
  timeoutMs?: number | undefined;
}

const MOST_AT_ONCE = 8;
/** Between looks for what other replicas queued or left behind, and what is due again. */
const LOOK_MS = 1000;
/** Beyond the provider's time, to store how an attempt ended. */
const GRACE_MS = 30_000;
/** A provider that cannot be reached is asked again for about an hour. */
const MOST_ATTEMPTS = 8;
const AGAIN = { firstMs: 30_000, mostMs: 900_000 };

export function notificationSender({ database, providers, log, metrics, poke, timeoutMs = DEFAULT_TIMEOUT_MS }: SenderOptions): BackgroundPart {
  const outcomes = metrics.counter('notifications_total', 'Customer notifications by channel and outcome', ['channel', 'outcome']);
  const stopping = new AbortController();
  const attempts = new Set<Promise<void>>();
  let wake = (): void => undefined;
  let poked = false;
  let running: Promise<void> = Promise.resolve();
  const now = (): void => {
    poked = true;
    wake();
  };

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        poked = false;
        if (attempts.size < MOST_AT_ONCE && (await hasWork(database))) await round();
        failures = 0;
      } catch (error) {
        failures += 1;
        logOutage(log, 'notifications wait for the database', failures, error);
        await pause(backoffMs(failures));
        continue;
      }
      if (!poked) await pause(LOOK_MS);
    }
  }

  async function round(): Promise<void> {
    const lost = await giveUp(database);
    if (lost > 0) log.warn({ lost }, 'attempts to notify customers were cut short: they are UNKNOWN and are not sent again');
    const { leases, suppressed } = await take(database, MOST_AT_ONCE - attempts.size, timeoutMs + GRACE_MS);
    for (const channel of suppressed) outcomes.inc({ channel, outcome: 'SUPPRESSED' });
    for (const lease of leases) {
      const attempt = deliver(lease).finally(() => {
        attempts.delete(attempt);
        now();
      });
      attempts.add(attempt);
    }
  }

  /** Never rejects: an attempt whose end cannot be stored is UNKNOWN once its time is over. */
  async function deliver(lease: Lease): Promise<void> {
    const { id, channel, address, subject, text } = lease;
    const attempt = await providers[channel].send({ id, address, subject, text }).catch((error: unknown): Attempt => ({ outcome: 'UNKNOWN', detail: String(error) }));
    const { outcome, detail } = attempt;
    outcomes.inc({ channel, outcome });
    if (outcome !== 'SENT') log.warn({ notification: id, channel, outcome, detail }, 'a customer notification was not sent');
    try {
      // Once in any case: a sender that stops still stores what it knows.
      await store(lease, attempt).catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
        return retrying(() => store(lease, attempt), isUnavailable, stopping.signal);
      });
    } catch (error) {
      log.error({ error, notification: id, outcome }, 'how a notification ended could not be stored: it becomes UNKNOWN');
    }
  }

  async function store(lease: Lease, { outcome, detail }: Attempt): Promise<void> {
    await database.transaction(async (tx) => {
      if (outcome === 'UNTAKEN' && lease.attempts < MOST_ATTEMPTS) return postpone(tx, lease, backoffMs(lease.attempts, AGAIN), detail);
      const ended = await finish(tx, lease, outcome === 'UNTAKEN' ? 'FAILED' : outcome, detail);
      if (ended !== undefined && outcome === 'SENT') await recordSent(tx, lease, ended.attempted_at, ended.finished_at);
    });
    poke();
  }

  async function pause(ms: number): Promise<void> {
    if (stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  let forget = (): void => undefined;
  return {
    name: 'notifications',
    async start() {
      forget = onQueued(now);
      running = run();
    },
    /** Begins nothing more, and lets the attempts under way come to their end. */
    async stop() {
      forget();
      stopping.abort();
      now();
      await running;
      await Promise.all(attempts);
    },
  };
}
