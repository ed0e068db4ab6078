// Rules of commands that depend on several fields or on the time. The gateway reports violations with all others; the owner enforces them.
import type { JsonProblem } from './json-reader.ts';

/** The expiry of a key or an endpoint, if any, must be in the future. Microseconds. */
export function checkExpiry(expiresAt: number | null | undefined, now: number): JsonProblem[] {
  if (expiresAt == null || expiresAt > now) return [];
  return [{ field: 'expiresAt', code: 'OUT_OF_RANGE', message: 'Give a time in the future, or none for what is not to end by itself.' }];
}

/** The same for a change, in which 0 removes the present expiry. */
export function checkExpiryChange(expiresAt: number | null | undefined, now: number): JsonProblem[] {
  return expiresAt === 0 ? [] : checkExpiry(expiresAt, now);
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
  const contradicts = enabled != null && enabled !== enables;
  const message = `\`enabled\` is ${enables} in this state: leave it out.`;
  return [
    ...(contradicts ? [{ field: 'enabled', code: 'INVALID_FORMAT', message } as const] : []),
    ...(resumes === true && !enables
      ? [{ field: 'resumeSkipped', code: 'INVALID_FORMAT', message: 'Send it together with state ENABLED: only then is anything resumed.' } as const]
      : []),
  ];
}

const ENABLED = 'WEBHOOK_STATE_ENABLED';

/** Characters of a header's name (RFC 9110, token), and of values that every HTTP implementation passes on unchanged. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\x20-\x7e]*$/;
/** Headers of one connection, and those that the dispatcher sets or cannot send. */
const RESERVED_HEADER =
  /^(?:connection|expect|host|keep-alive|proxy-authenticate|proxy-authorization|proxy-connection|te|trailer|transfer-encoding|upgrade|content-.*|webhook-.*)$/i;

/** Problems of an endpoint's own headers (decisions §15): names and the form of values. The owner checks their size, and whether a missing value is stored. */
export function checkWebhookHeaders(headers: readonly { name: string; value?: string | null | undefined }[]): JsonProblem[] {
  const names = headers.map(({ name }) => name.toLowerCase());
  return headers.flatMap(({ name, value }, index) => {
    const wrong = nameProblem(name, names.indexOf(name.toLowerCase()) < index);
    return [
      ...(wrong === undefined ? [] : [{ field: `headers[${index}].name`, code: 'INVALID_FORMAT', message: wrong } as const]),
      ...(HEADER_VALUE.test(value ?? '')
        ? []
        : [{ field: `headers[${index}].value`, code: 'INVALID_FORMAT', message: 'Use visible ASCII characters and spaces only.' } as const]),
    ];
  });
}

function nameProblem(name: string, repeated: boolean): string | undefined {
  if (!HEADER_NAME.test(name)) return "Give a header's name such as X-Api-Key: letters, digits and hyphens.";
  if (RESERVED_HEADER.test(name)) return 'Choose another name: Truckroll or HTTP itself sets this header.';
  return repeated ? 'Give each name once: upper and lower case are the same.' : undefined;
}
