// Records of /api/v1/integrations, by the API's description.
import type { components } from '@truckroll/client';

type Schemas = components['schemas'];

export type Me = Schemas['CurrentUser'];

export type View = Schemas['View'];

export type DeliveryStatus = Schemas['DeliveryStatus'];
export type Progress = Schemas['DeliveryProgress'];
export const PROGRESS = ['delivered', 'failed', 'retrying', 'pending', 'skipped'] as const satisfies readonly Progress[];

/** Attempts in one interval of time. */
export type Bucket = Schemas['WebhookHealthBucket'];
export type Health = Schemas['WebhookHealth'];
export type HealthSeries = Schemas['WebhookHealthSeries'];
/** Attempts of a time: 24 hours in Health, the period in HealthSeries. */
export type Figures = Pick<Health & HealthSeries, 'delivered' | 'failed' | 'successRate' | 'p50Ms' | 'p95Ms'>;

/** `backlog` stops counting here. */
export const MOST_BACKLOG = 10_000;

export type Period = Schemas['WebhookHealthPeriod'];
export const PERIODS = ['hour', 'day', 'week'] as const satisfies readonly Period[];

export type EndpointState = Schemas['WebhookState'];
export const STATES = ['ENABLED', 'PAUSED', 'DISABLED'] as const satisfies readonly EndpointState[];

/** Conditions by path of an event's data and operator; all must hold. */
export type EventFilter = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
export type FilterPreview = Schemas['FilterPreview'];
export type PreviewedEvent = Schemas['PreviewedEvent'];

/** The description says of a filter only that it is an object. */
interface Filtered {
  readonly filter: EventFilter | null;
}

/** Health is missing in the answer to creation, and from services older than this console. */
export type Endpoint = Omit<Schemas['Webhook'], 'filter' | 'health'> & Filtered & { readonly health?: Health | null };

/** Only creation and rotation return this. */
export type EndpointWithSecret = Omit<Schemas['WebhookWithSecret'], 'filter'> & Filtered;

export type Header = Schemas['HttpHeader'];
export type Attempt = Schemas['WebhookAttempt'];
export type Delivery = Schemas['WebhookDelivery'];
export type QueuedDelivery = Schemas['QueuedDelivery'];
export type Redelivery = Schemas['Redelivery'];

export type Include = Schemas['RecoveryInclude'];
export type Recovery = Schemas['Recovery'];

export type ApiKey = Schemas['ApiKey'];
/** Only creation and rotation return this. */
export type ApiKeyWithValue = Schemas['ApiKeyWithValue'];

export type EventType = Schemas['WebhookEventType'];
export type AuditEvent = Schemas['AuditEvent'];
export type LoggedRequest = Schemas['LoggedRequest'];
export type Notification = Schemas['Notification'];
export type Summary = Schemas['Summary'];

/** The event type of "Send a test". No endpoint subscribes to it, so the listing does not have it. */
export const TEST_EVENT = 'webhook.test';

export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}
