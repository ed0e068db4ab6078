// States of an endpoint (decisions §15). In the database, a paused endpoint is `enabled`, has `paused_at`, and its `resume_at` lies far ahead.
import { WebhookState } from '@truckroll/contract/gen/integrations/v1/webhooks';

export type EndpointState = 'ENABLED' | 'PAUSED' | 'DISABLED';

export interface StoredState {
  enabled: boolean;
  paused: boolean;
}

export function endpointState({ enabled, paused }: StoredState): EndpointState {
  return enabled ? (paused ? 'PAUSED' : 'ENABLED') : 'DISABLED';
}

interface Wanted {
  enabled?: boolean | null | undefined;
  state?: WebhookState | null | undefined;
}

/** The state that a request asks for; null if it leaves the present one. `enabled: false` leaves a paused endpoint paused. */
export function wantedState({ enabled, state }: Wanted, present?: EndpointState): EndpointState | null {
  if (state != null) return NAMES.get(state) ?? null;
  if (enabled == null || (!enabled && present === 'PAUSED')) return null;
  return enabled ? 'ENABLED' : 'DISABLED';
}

const NAMES = new Map<WebhookState, EndpointState>([
  [WebhookState.ENABLED, 'ENABLED'],
  [WebhookState.PAUSED, 'PAUSED'],
  [WebhookState.DISABLED, 'DISABLED'],
]);
