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

interface StateRequest {
  enabled?: boolean | null | undefined;
  /** As generated messages hold it: `WEBHOOK_STATE_PAUSED`. */
  state?: string | null | undefined;
  resume_skipped?: boolean | null | undefined;
}

/** `enabled` must not contradict `state`, and only an endpoint that is being enabled can resume. */
export function checkWebhookState({ enabled, state, resume_skipped: resumes }: StateRequest): JsonProblem[] {
  const enables = state == null ? enabled === true : state === ENABLED;
  const contradicts = state != null && enabled != null && enabled !== enables;
  const message = `\`enabled\` is ${enables} in this state: leave it out.`;
  return [
    ...(contradicts ? [{ field: 'enabled', code: 'INVALID_FORMAT', message } as const] : []),
    ...(resumes === true && !enables
      ? [{ field: 'resumeSkipped', code: 'INVALID_FORMAT', message: 'Send it together with state ENABLED: only then is anything resumed.' } as const]
      : []),
  ];
}

const ENABLED = 'WEBHOOK_STATE_ENABLED';
