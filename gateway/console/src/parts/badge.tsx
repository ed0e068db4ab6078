import type { ComponentChildren } from 'preact';
import type { Delivery, DeliveryStatus, Endpoint, Health, Progress } from '../api/types.ts';

type Tone = 'good' | 'bad' | 'busy' | 'off';

/** A state in words; its colour only repeats them. */
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

/** What a status comes to where it is not known how often it was tried. */
const OF_STATUS: Record<DeliveryStatus, Progress> = { succeeded: 'delivered', failed: 'failed', pending: 'pending', skipped: 'skipped' };

/** A service older than this console tells no progress. */
export function DeliveryBadge({ delivery: { progress, status } }: { delivery: Pick<Delivery, 'status'> & { progress?: Progress } }) {
  const [tone, text] = PROGRESS[progress ?? OF_STATUS[status]] ?? PROGRESS[OF_STATUS[status]] ?? ['off', status];
  return <Badge tone={tone}>{text}</Badge>;
}

/** Of the newest event of an endpoint, and when something was last sent for it. */
export function NewestBadge({ status, at }: { status: DeliveryStatus; at: string | null }) {
  return <DeliveryBadge delivery={{ status, progress: status === 'pending' && at !== null ? 'retrying' : OF_STATUS[status] }} />;
}

/** Whether the last attempt succeeded and what has waited meanwhile follows. */
export const recovers = ({ state, failingSince, backlog }: Health): boolean => state === 'degraded' && failingSince === null && backlog > 0;

/** How an endpoint fares: red where it is red. */
export function EndpointBadge({ endpoint: { enabled, disabledReason: reason, health } }: { endpoint: Endpoint }) {
  if (!enabled) return <Badge tone={reason === null ? 'off' : 'bad'}>Disabled</Badge>;
  switch (health?.state) {
    case 'failing':
      return <Badge tone="bad">Failing</Badge>;
    case 'degraded':
      return <Badge tone="busy">{recovers(health) ? 'Recovering' : 'Degraded'}</Badge>;
    case 'healthy':
      return <Badge tone="good">Healthy</Badge>;
    case 'idle':
      return <Badge tone="off">Idle</Badge>;
    default:
      return <Badge tone="off">Enabled</Badge>;
  }
}

/** Nobody is written to when it is disabled. */
export function OwnerlessBadge() {
  return <Badge tone="bad">Ownerless</Badge>;
}

const REASONS = { GONE: 'It answered 410 Gone.', FAILING: 'Nothing but failures for five days.' };

/** Why Truckroll has disabled it; undefined where a user did, or it is enabled. */
export function disabledReason({ disabledReason: reason }: Endpoint): string | undefined {
  return reason === null ? undefined : (REASONS[reason] ?? reason);
}
