// When an endpoint's people get an e-mail about it (decisions §15), as pure functions. Times are in microseconds since 1970.
import type { DisabledReason } from './rules.ts';

const HOUR = 3_600_000_000;
const DAY = 24 * HOUR;

/** HOUR: every attempt has failed for an hour. Otherwise the endpoint was disabled. */
export type AlertCause = 'HOUR' | DisabledReason;
export type Alert = AlertCause | 'RECOVERED';

export interface AlertState {
  /** False while nothing is sent because a user wants it so. */
  enabled: boolean;
  disabled_reason: DisabledReason | null;
  /** First failure since the last success. */
  failing_since: number | null;
  last_success_at: number | null;
  /** Time and cause of the last alert. The cause is null once deliveries have succeeded again. */
  alerted_at: number | null;
  alerted_for: AlertCause | null;
}

/** The e-mail that is due; undefined if none is. There is at most one alert a day, so a second cause waits until the next day. */
export function alertDue(state: AlertState, now: number): Alert | undefined {
  const { alerted_at: alertedAt, alerted_for: alertedFor, failing_since: failingSince } = state;
  const cause = causeOf(state, now);
  if (cause !== undefined) {
    const again = alertedAt !== null && failingSince !== null && failingSince > alertedAt;
    const isNews = cause !== alertedFor || again;
    return isNews && (alertedAt === null || now - alertedAt >= DAY) ? cause : undefined;
  }
  const succeeded = failingSince === null && (state.last_success_at ?? 0) > (alertedAt ?? 0);
  return state.enabled && alertedFor !== null && succeeded ? 'RECOVERED' : undefined;
}

function causeOf({ enabled, disabled_reason, failing_since: failingSince }: AlertState, now: number): AlertCause | undefined {
  if (disabled_reason !== null) return disabled_reason;
  return enabled && failingSince !== null && now - failingSince >= HOUR ? 'HOUR' : undefined;
}
