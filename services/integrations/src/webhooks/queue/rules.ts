// Consequences of an attempt (decisions §7), as pure functions. Times are in microseconds since 1970.

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Pauses from a failure to the next attempt. The first attempt is made at once. */
const PAUSES = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
const JITTER = 0.2;
const LONGEST_RETRY_AFTER = 24 * HOUR;
const FAILING_LIMIT = 5 * DAY;
/** Maximum pause of a slowed-down endpoint. Pauses start at 1 s and double. */
const LONGEST_SLOWDOWN = 5 * MINUTE;
/** Maximum pause that Retry-After can cause for the endpoint. A longer one applies only to its delivery, so that one answer cannot stop all. */
const LONGEST_ASKED_SLOWDOWN = HOUR;
const MOST_SLOWDOWNS = 10;

const GONE = 410;
const SLOW_DOWN = new Set([429, 502, 504]);

export type DeliveryState = 'PENDING' | 'SUCCEEDED' | 'FAILED' | 'SKIPPED';
export type DisabledReason = 'GONE' | 'FAILING';

export interface Outcome {
  /** Undefined if there was no answer. */
  status: number | undefined;
  /** Whether the exchange failed, even if there is a status, such as for an incomplete answer. */
  error: boolean;
  startedAt: number;
  endedAt: number;
  /** Retry-After in seconds. */
  retryAfter: number | undefined;
  /** Time until which the dispatcher's circuit is open; 0 if it is closed, undefined if the dispatcher did not report it. */
  circuitOpenUntil: number | undefined;
}

export interface Health {
  enabled: boolean;
  /** A paused endpoint is enabled: what fails is tried again once it is resumed. */
  paused: boolean;
  /** First failure since the last success. */
  failingSince: number | undefined;
  slowdowns: number;
  resumeAt: number | undefined;
  /** As last reported by a dispatcher; in the past while the circuit is half-open. */
  circuitOpenUntil: number | undefined;
}

/** Fields to change; null clears a field. */
export interface HealthChange {
  failingSince?: number | null;
  slowdowns?: number;
  resumeAt?: number | null;
  circuitOpenUntil?: number | null;
  disable?: DisabledReason;
}

export function isSuccess({ status, error }: Outcome): boolean {
  return !error && status !== undefined && status >= 200 && status < 300;
}

/** Time of the next attempt after `failures` failures; undefined if there is none. `chance` is a random number in [0, 1). */
export function nextAttemptAt(failures: number, outcome: Outcome, chance: number): number | undefined {
  const pause = PAUSES[failures - 1];
  if (pause === undefined) return undefined;
  const jittered = Math.round(pause * (1 - JITTER + 2 * JITTER * chance));
  const floor = Math.min((outcome.retryAfter ?? 0) * SECOND, LONGEST_RETRY_AFTER);
  return outcome.endedAt + Math.max(jittered, floor);
}

export function healthAfter(health: Health, outcome: Outcome): HealthChange {
  if (isSuccess(outcome)) {
    return {
      ...(health.failingSince === undefined ? {} : { failingSince: null }),
      ...(health.slowdowns === 0 ? {} : { slowdowns: health.slowdowns - 1, resumeAt: null }),
      ...circuitAfter(health, 0),
    };
  }
  const failingSince = health.failingSince ?? outcome.startedAt;
  const failing = { ...(health.failingSince === undefined ? { failingSince } : {}), ...circuitAfter(health, outcome.circuitOpenUntil) };
  // Only its owner ends a pause, so the answers to what was still being sent do not disable or slow down the endpoint.
  if (!health.enabled || health.paused) return failing;
  if (outcome.status === GONE) return { ...failing, disable: 'GONE' };
  if (outcome.endedAt - failingSince >= FAILING_LIMIT) return { ...failing, disable: 'FAILING' };
  return { ...failing, ...slowdownAfter(health, outcome) };
}

function circuitAfter({ circuitOpenUntil }: Health, told: number | undefined): HealthChange {
  const now = told === 0 ? undefined : told;
  return told === undefined || now === circuitOpenUntil ? {} : { circuitOpenUntil: now ?? null };
}

function slowdownAfter({ slowdowns, resumeAt }: Health, { status, startedAt, endedAt, retryAfter }: Outcome): HealthChange {
  // Answers to exchanges that began before the pause ended count as one request to slow down.
  if (status === undefined || !SLOW_DOWN.has(status) || (resumeAt !== undefined && startedAt < resumeAt)) return {};
  const next = Math.min(slowdowns + 1, MOST_SLOWDOWNS);
  const pause = Math.min(SECOND * 2 ** (next - 1), LONGEST_SLOWDOWN);
  const asked = Math.min((retryAfter ?? 0) * SECOND, LONGEST_ASKED_SLOWDOWN);
  return { slowdowns: next, resumeAt: endedAt + Math.max(pause, asked) };
}

export function afterChange(health: Health, change: HealthChange): Health {
  const { failingSince = health.failingSince, slowdowns = health.slowdowns, resumeAt = health.resumeAt, disable } = change;
  const { circuitOpenUntil = health.circuitOpenUntil } = change;
  return {
    enabled: health.enabled && disable === undefined,
    paused: health.paused,
    failingSince: failingSince ?? undefined,
    slowdowns,
    resumeAt: resumeAt ?? undefined,
    circuitOpenUntil: circuitOpenUntil ?? undefined,
  };
}

export interface DeliveryStanding {
  /** Failures since it was queued, excluding this attempt. */
  failures: number;
  isTest: boolean;
  /** Whether the endpoint is enabled after this attempt. */
  enabled: boolean;
}

/** State of a delivery after an attempt, and the time of the next attempt if it stays PENDING. */
export function deliveryAfter(standing: DeliveryStanding, outcome: Outcome, chance: number): { state: DeliveryState; nextAt?: number } {
  if (isSuccess(outcome)) return { state: 'SUCCEEDED' };
  if (standing.isTest) return { state: 'FAILED' };
  if (!standing.enabled) return { state: 'SKIPPED' };
  const nextAt = nextAttemptAt(standing.failures + 1, outcome, chance);
  return nextAt === undefined ? { state: 'FAILED' } : { state: 'PENDING', nextAt };
}
