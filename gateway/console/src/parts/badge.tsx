import type { ComponentChildren } from 'preact';
import type { Delivery, DeliveryStatus, Endpoint, EndpointState, Health, Progress } from '../api/types.ts';

type Tone = 'good' | 'bad' | 'busy' | 'off';

/** A state in words; the colour only repeats them. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

const PROGRESS: Record<Progress, [Tone, string]> = {
  delivered: ['good', 'Delivered'],
  failed: ['bad', 'Failed'],
  retrying: ['busy', 'Retrying'],
  pending: ['busy', 'Pending'],
  skipped: ['off', 'Skipped'],
};

/** "Retrying" */
export const progressName = (progress: Progress): string => PROGRESS[progress][1];

/** Progress by status, if the number of attempts is unknown. */
const OF_STATUS: Record<DeliveryStatus, Progress> = { succeeded: 'delivered', failed: 'failed', pending: 'pending', skipped: 'skipped' };

/** A service older than this console sends no progress. */
export function DeliveryBadge({ delivery: { progress, status } }: { delivery: Pick<Delivery, 'status'> & { progress?: Progress } }) {
  const [tone, text] = PROGRESS[progress ?? OF_STATUS[status]] ?? PROGRESS[OF_STATUS[status]] ?? ['off', status];
  return <Badge tone={tone}>{text}</Badge>;
}

/** The state of an endpoint's newest event; `at` is when something was last sent for it. */
export function NewestBadge({ status, at }: { status: DeliveryStatus; at: string | null }) {
  return <DeliveryBadge delivery={{ status, progress: status === 'pending' && at !== null ? 'retrying' : OF_STATUS[status] }} />;
}

/** Whether the last attempt succeeded and the backlog is being sent. */
export const recovers = ({ state, failingSince, backlog }: Health): boolean => state === 'degraded' && failingSince === null && backlog > 0;

/** The names of states, everywhere in the console. */
export const STATE_NAMES: Record<EndpointState, string> = { ENABLED: 'Enabled', PAUSED: 'Paused', DISABLED: 'Disabled' };

export function EndpointBadge({ endpoint: { state, disabledReason: reason, health } }: { endpoint: Endpoint }) {
  if (state === 'DISABLED') return <Badge tone={reason === null ? 'off' : 'bad'}>{STATE_NAMES[state]}</Badge>;
  if (state === 'PAUSED') return <Badge tone="busy">{STATE_NAMES[state]}</Badge>;
  switch (health?.state) {
    case 'failing':
      return <Badge tone="bad">Failing</Badge>;
    case 'degraded':
      return <Badge tone="busy">Degraded</Badge>;
    case 'healthy':
      return <Badge tone="good">Healthy</Badge>;
    case 'idle':
      return <Badge tone="off">Idle</Badge>;
    default:
      return <Badge tone="off">{STATE_NAMES.ENABLED}</Badge>;
  }
}

/** No user is notified when an ownerless endpoint is disabled. */
export function OwnerlessBadge() {
  return <Badge tone="bad">Ownerless</Badge>;
}

const REASONS = { GONE: 'It answered 410 Gone.', FAILING: 'Nothing but failures for five days.' };

/** Why Truckroll disabled the endpoint; undefined if a user did, or if it is not disabled. */
export function disabledReason({ disabledReason: reason }: Endpoint): string | undefined {
  return reason === null ? undefined : (REASONS[reason] ?? reason);
}
