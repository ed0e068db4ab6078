import type { ComponentChildren } from 'preact';
import type { Delivery, DeliveryStatus, Endpoint } from '../api/types.ts';

type Tone = 'good' | 'bad' | 'busy' | 'off';

/** A state in words; its colour only repeats them. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

const STATUS: Record<DeliveryStatus, [Tone, string]> = {
  pending: ['busy', 'Pending'],
  succeeded: ['good', 'Succeeded'],
  failed: ['bad', 'Failed'],
  skipped: ['off', 'Skipped'],
};

export function StatusBadge({ status }: { status: DeliveryStatus }) {
  const [tone, text] = STATUS[status] ?? ['off', status];
  return <Badge tone={tone}>{text}</Badge>;
}

/** A delivery that waits for another try says so. */
export function DeliveryBadge({ delivery }: { delivery: Delivery }) {
  const last = delivery.attempts.at(-1);
  if (delivery.status === 'pending' && last !== undefined && !last.succeeded) return <Badge tone="busy">Retrying</Badge>;
  return <StatusBadge status={delivery.status} />;
}

export function EndpointBadge({ endpoint }: { endpoint: Endpoint }) {
  return endpoint.enabled ? <Badge tone="good">Enabled</Badge> : <Badge tone={endpoint.disabledReason === null ? 'off' : 'bad'}>Disabled</Badge>;
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
