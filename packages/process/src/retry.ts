import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@truckroll/telemetry';

export interface Backoff {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Doubling from 100 ms to 5 s: reconnects within seconds without overloading a server that is starting. */
const DEFAULT_BACKOFF: Backoff = { firstMs: 100, mostMs: 5000 };

/** Milliseconds to wait after `failures` failures in a row, ±20 % so that replicas do not retry in step. */
export function backoffMs(failures: number, backoff: Backoff = DEFAULT_BACKOFF): number {
  const base = Math.min(backoff.mostMs, backoff.firstMs * 2 ** Math.min(failures - 1, 30));
  return base * (0.8 + Math.random() * 0.4);
}

/** Repeats work while it rejects with an error for which `again` returns true. Rejects with the last one, or when aborted. */
export async function retrying<T>(
  work: () => Promise<T>,
  again: (error: unknown, failures: number) => boolean,
  signal: AbortSignal,
  backoff: Backoff = DEFAULT_BACKOFF,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      signal.throwIfAborted();
      return await work();
    } catch (error) {
      if (signal.aborted || !again(error, failures)) throw error;
      await delay(backoffMs(failures, backoff), undefined, { signal });
    }
  }
}

/** Resolves after `ms`, or at once when aborted: for loops that check their signal themselves. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

/** Failures in a row that count as an outage. Fewer are normal while a server starts or a leader is elected. */
const OUTAGE = 5;

/** Logs a repeated failure: a warning when it becomes an outage and every tenth failure after that, the whole error at debug. */
export function logOutage(log: Logger, message: string, failures: number, error: unknown, fields: object = {}): void {
  log.debug({ ...fields, error }, message);
  if (failures % 10 !== OUTAGE) return;
  const cause = error instanceof Error && error.cause instanceof Error ? { cause: error.cause.message } : {};
  log.warn({ ...fields, failures, reason: String(error), ...cause }, message);
}
