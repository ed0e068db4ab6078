// Retry rules. Only reads and the two writes that take an idempotency key are retried.
import { ConnectionError, TruckrollError } from './errors.ts';

export interface RetryLimits {
  readonly retries: number;
  readonly longestWaitSeconds: number;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 8_000;

/** Whether the same request may succeed later. STALE_REVISION cannot: read the visit and decide again. */
function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof TruckrollError)) return false;
  switch (error.code) {
    case 'RATE_LIMITED':
    case 'IDEMPOTENCY_IN_PROGRESS':
    case 'INTERNAL_ERROR':
      return true;
    case 'UNRECOGNIZED':
      // A proxy or load balancer in front of the API answered.
      return error.status === 429 || error.status >= 500;
    default:
      return false;
  }
}

/** Milliseconds to wait before the next attempt; undefined to give up. `random` is from 0 to 1. */
export function pauseAfter(error: unknown, attempts: number, { retries, longestWaitSeconds }: RetryLimits, random: number): number | undefined {
  if (attempts > retries || !isPassing(error)) return undefined;
  const asked = error instanceof TruckrollError ? (error.retryAfterSeconds ?? 0) : 0;
  if (asked > longestWaitSeconds) return undefined;
  // Jitter, so that clients that failed together do not retry together.
  const own = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1));
  return asked * 1000 + own * random;
}
