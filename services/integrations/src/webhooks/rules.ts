// What follows from an attempt (decisions §7), as functions over values. Times are microseconds.

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** From the previous failure to the next attempt; the first attempt is made at once. */
const PAUSES = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
const JITTER = 0.2;
const LONGEST_RETRY_AFTER = 24 * HOUR;
const FAILING_LIMIT = 5 * DAY;
/** An endpoint that asks to be slowed down gets a second, then two, four … and at most this long between deliveries. */
const LONGEST_SLOWDOWN = 5 * MINUTE;
/** One answer must not silence an endpoint for a day: beyond this, Retry-After holds for its delivery only. */
const LONGEST_ASKED_SLOWDOWN = HOUR;
const MOST_SLOWDOWNS = 10;

const GONE = 410;
const SLOW_DOWN = new Set([429, 502, 504]);

export type DeliveryState = 'PENDING' | 'SUCCEEDED' | 'FAILED' | 'SKIPPED';
export type DisabledReason = 'GONE' | 'FAILING';

export interface Outcome {
  /** Of the answer; undefined where there was none. */
  status: number | undefined;
  /** Whether something went wrong besides the status: the answer broke off. */
  error: boolean;
  startedAt: number;
  endedAt: number;
  /** Seconds that Retry-After asked for. */
  retryAfter: number | undefined;
  /** Until when the dispatcher holds deliveries back, its circuit being open; 0 while it is closed; undefined where it does not say. */
  circuitOpenUntil: number | undefined;
}

export interface Health {
  enabled: boolean;
  /** Since when there was nothing but failure. */
  failingSince: number | undefined;
  slowdowns: number;
  resumeAt: number | undefined;
  /** As the dispatcher told that attempted last; past while a circuit is tried. */
  circuitOpenUntil: number | undefined;
}

/** What is changed of an endpoint; an empty object leaves its row alone. */
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

/** When to try again after that many failures; undefined after the last. `chance` is a random number in [0, 1). */
export function nextAttemptAt(failures: number, outcome: Outcome, chance: number): number | undefined {
  const pause = PAUSES[failures - 1];
  if (pause === undefined) return undefined;
  const jittered = Math.round(pause * (1 - JITTER + 2 * JITTER * chance));
  const floor = Math.min((outcome.retryAfter ?? 0) * SECOND, LONGEST_RETRY_AFTER);
  return outcome.endedAt + Math.max(jittered, floor);
}

/** How an endpoint stands after an attempt. */
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
  if (!health.enabled) return failing;
  if (outcome.status === GONE) return { ...failing, disable: 'GONE' };
  if (outcome.endedAt - failingSince >= FAILING_LIMIT) return { ...failing, disable: 'FAILING' };
  return { ...failing, ...slowdownAfter(health, outcome) };
}

function circuitAfter({ circuitOpenUntil }: Health, told: number | undefined): HealthChange {
  const now = told === 0 ? undefined : told;
  return told === undefined || now === circuitOpenUntil ? {} : { circuitOpenUntil: now ?? null };
}

function slowdownAfter({ slowdowns, resumeAt }: Health, { status, startedAt, endedAt, retryAfter }: Outcome): HealthChange {
  // Those that were under way together are one request to slow down, not many.
  if (status === undefined || !SLOW_DOWN.has(status) || (resumeAt !== undefined && startedAt < resumeAt)) return {};
  const next = Math.min(slowdowns + 1, MOST_SLOWDOWNS);
  const pause = Math.min(SECOND * 2 ** (next - 1), LONGEST_SLOWDOWN);
  const asked = Math.min((retryAfter ?? 0) * SECOND, LONGEST_ASKED_SLOWDOWN);
  return { slowdowns: next, resumeAt: endedAt + Math.max(pause, asked) };
}

/** How it stands once a change is stored. */
export function afterChange(health: Health, change: HealthChange): Health {
  const { failingSince = health.failingSince, slowdowns = health.slowdowns, resumeAt = health.resumeAt, disable } = change;
  const { circuitOpenUntil = health.circuitOpenUntil } = change;
  return {
    enabled: health.enabled && disable === undefined,
    failingSince: failingSince ?? undefined,
    slowdowns,
    resumeAt: resumeAt ?? undefined,
    circuitOpenUntil: circuitOpenUntil ?? undefined,
  };
}

export interface Standing {
  /** Failures since it was queued, this attempt not counted. */
  failures: number;
  isTest: boolean;
  /** Of the endpoint, after this attempt. */
  enabled: boolean;
}

/** Where a delivery goes after an attempt, and when it is tried again where it stays PENDING. */
export function deliveryAfter(standing: Standing, outcome: Outcome, chance: number): { state: DeliveryState; nextAt?: number } {
  if (isSuccess(outcome)) return { state: 'SUCCEEDED' };
  if (standing.isTest) return { state: 'FAILED' };
  if (!standing.enabled) return { state: 'SKIPPED' };
  const nextAt = nextAttemptAt(standing.failures + 1, outcome, chance);
  return nextAt === undefined ? { state: 'FAILED' } : { state: 'PENDING', nextAt };
}
