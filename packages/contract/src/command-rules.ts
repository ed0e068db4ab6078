// What is wrong with a command's body beyond its single fields: told by the gateway together with everything else, and
// held by the owner.
import type { JsonProblem } from './json-reader.ts';

/** A message's `ends_at` must be after its `starts_at` (api.md, Errors): for commands, not for what was recorded. */
export function checkEndsAfterStart({ starts_at: start, ends_at: end }: { starts_at?: unknown; ends_at?: unknown }): JsonProblem[] {
  if (typeof start !== 'number' || typeof end !== 'number' || end > start) return [];
  return [{ field: 'ends_at', code: 'RANGE_ORDER', message: 'Give an end that is after starts_at.' }];
}

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
