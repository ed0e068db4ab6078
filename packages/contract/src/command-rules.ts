// Rules of commands that depend on several fields or on the time. The gateway reports violations with all others; the owner enforces them.
import type { JsonProblem } from './json-reader.ts';

/** A new key's expiry, if any, must be in the future. Microseconds. */
export function checkKeyExpiry(expiresAt: number | null | undefined, now: number): JsonProblem[] {
  if (expiresAt == null || expiresAt > now) return [];
  return [{ field: 'expiresAt', code: 'OUT_OF_RANGE', message: 'Give a time in the future, or none for a key that does not end by itself.' }];
}

/** A recovery range must begin in the past and end after it begins. Microseconds. */
export function checkRecoveryRange({ since, until }: { since: number; until?: number | null | undefined }, now: number): JsonProblem[] {
  if ((until ?? now) > since) return [];
  return until == null
    ? [{ field: 'since', code: 'OUT_OF_RANGE', message: 'Give a time in the past.' }]
    : [{ field: 'until', code: 'RANGE_ORDER', message: 'Give a time later than since, or none for all until now.' }];
}
