// What is wrong with a command's body beyond its single fields: told by the gateway together with everything else, and
// held by the owner.
import type { JsonProblem } from './json-reader.ts';

/** A key that is made ends in the future, if at all. Microseconds. */
export function checkKeyExpiry(expiresAt: number | null | undefined, now: number): JsonProblem[] {
  if (expiresAt == null || expiresAt > now) return [];
  return [{ field: 'expiresAt', code: 'OUT_OF_RANGE', message: 'Give a time in the future, or none for a key that does not end by itself.' }];
}

/** What is recovered lies between two times of which the first has been. Microseconds. */
export function checkRecoveryRange({ since, until }: { since: number; until?: number | null | undefined }, now: number): JsonProblem[] {
  if ((until ?? now) > since) return [];
  return until == null
    ? [{ field: 'since', code: 'OUT_OF_RANGE', message: 'Give a time in the past.' }]
    : [{ field: 'until', code: 'RANGE_ORDER', message: 'Give a time later than since, or none for all until now.' }];
}
