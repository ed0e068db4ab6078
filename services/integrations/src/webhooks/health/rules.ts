// Consequences of an attempt (decisions §7), as pure functions. Times are in microseconds since 1970.
import { AttemptError, type ReportRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';

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
const LONGEST_REQUESTED_SLOWDOWN = HOUR;
const MOST_SLOWDOWNS = 10;

const GONE = 410;
const SLOW_DOWN = new Set([429, 502, 504]);

export type DeliveryState = 'PENDING' | 'SUCCEEDED' | 'FAILED' | 'SKIPPED';
export type DisabledReason = 'GONE' | 'FAILING';

/** The fields of an attempt that its consequences depend on. */
export type Outcome = Pick<ReportRequest, 'response_status' | 'error' | 'started_at' | 'ended_at' | 'retry_after_seconds' | 'circuit_open_until'>;

/** Columns of webhook_endpoints. */
export interface Health {
  enabled: boolean;
  /** A paused endpoint is enabled: what fails is tried again once it is resumed. */
  paused: boolean;
  /** First failure since the last success. */
  failing_since: number | null;
  slowdowns: number;
  resume_at: number | null;
  /** As last reported by a dispatcher; in the past while the circuit is half-open. */
  circuit_open_until: number | null;
}

/** Fields to change; null clears a field. */
export interface HealthChange extends Partial<Omit<Health, 'enabled' | 'paused'>> {
  disable?: DisabledReason;
}

/** An exchange can fail despite a status, such as for an incomplete answer. */
export function isSuccess({ response_status: status, error }: Outcome): boolean {
  return error === AttemptError.UNSPECIFIED && status != null && status >= 200 && status < 300;
}

/** Time of the next attempt after `failures` failures; undefined if there is none. `chance` is a random number in [0, 1). */
export function nextAttemptAt(failures: number, outcome: Outcome, chance: number): number | undefined {
  const pause = PAUSES[failures - 1];
  if (pause === undefined) return undefined;
  const jittered = Math.round(pause * (1 - JITTER + 2 * JITTER * chance));
  const floor = Math.min((outcome.retry_after_seconds ?? 0) * SECOND, LONGEST_RETRY_AFTER);
  return outcome.ended_at + Math.max(jittered, floor);
}

/**
 * What an attempt changes of its endpoint: a success ends a failure, 429, 502 and 504 slow it down, a 410 or five days of nothing but
 * failures disable it (decisions §7).
 */
export function healthAfter(health: Health, outcome: Outcome): HealthChange {
  if (isSuccess(outcome)) {
    return {
      ...(health.failing_since === null ? {} : { failing_since: null }),
      ...(health.slowdowns === 0 ? {} : { slowdowns: health.slowdowns - 1, resume_at: null }),
      ...circuitAfter(health, 0),
    };
  }
  const failing_since = health.failing_since ?? outcome.started_at;
  const failing = { ...(health.failing_since === null ? { failing_since } : {}), ...circuitAfter(health, outcome.circuit_open_until) };
  // Only its owner ends a pause, so the answers to what was still being sent do not disable or slow down the endpoint.
  if (!health.enabled || health.paused) return failing;
  if (outcome.response_status === GONE) return { ...failing, disable: 'GONE' };
  if (outcome.ended_at - failing_since >= FAILING_LIMIT) return { ...failing, disable: 'FAILING' };
  return { ...failing, ...slowdownAfter(health, outcome) };
}

/** A failed test does not begin a failure: otherwise it would raise an alert an hour later. */
export function healthAfterTest(health: Health, outcome: Outcome): HealthChange {
  const { failing_since, ...change } = healthAfter(health, outcome);
  return failing_since === null ? { ...change, failing_since } : change;
}

/** `reported` is 0 for a closed circuit, and null or undefined if the dispatcher did not report it. */
function circuitAfter({ circuit_open_until: stored }: Health, reported: number | null | undefined): HealthChange {
  if (reported == null) return {};
  const circuit_open_until = reported === 0 ? null : reported;
  return circuit_open_until === stored ? {} : { circuit_open_until };
}

function slowdownAfter({ slowdowns, resume_at: resumeAt }: Health, outcome: Outcome): HealthChange {
  const { response_status: status, started_at: startedAt, ended_at: endedAt, retry_after_seconds: retryAfter } = outcome;
  // Answers to exchanges that began before the pause ended count as one request to slow down.
  if (status == null || !SLOW_DOWN.has(status) || (resumeAt !== null && startedAt < resumeAt)) return {};
  const next = Math.min(slowdowns + 1, MOST_SLOWDOWNS);
  const pause = Math.min(SECOND * 2 ** (next - 1), LONGEST_SLOWDOWN);
  const requested = Math.min((retryAfter ?? 0) * SECOND, LONGEST_REQUESTED_SLOWDOWN);
  return { slowdowns: next, resume_at: endedAt + Math.max(pause, requested) };
}

/** The health after a change, with which the endpoint's next attempt in the same report begins. */
export function afterChange(health: Health, { disable, ...changed }: HealthChange): Health {
  return { ...health, ...changed, enabled: health.enabled && disable === undefined };
}

export interface AttemptedDelivery {
  /** Failures since it was queued, excluding this attempt. */
  failures: number;
  isTest: boolean;
  /** Whether the endpoint is enabled after this attempt. */
  enabled: boolean;
}

/** State of a delivery after an attempt, and the time of the next attempt if it stays PENDING. */
export function deliveryAfter(delivery: AttemptedDelivery, outcome: Outcome, chance: number): { state: DeliveryState; nextAt?: number } {
  if (isSuccess(outcome)) return { state: 'SUCCEEDED' };
  if (delivery.isTest) return { state: 'FAILED' };
  if (!delivery.enabled) return { state: 'SKIPPED' };
  const nextAt = nextAttemptAt(delivery.failures + 1, outcome, chance);
  return nextAt === undefined ? { state: 'FAILED' } : { state: 'PENDING', nextAt };
}
