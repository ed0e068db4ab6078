// The parts of /api/v1's answers that the console shows; /openapi.json has everything.

export interface Me {
  readonly id: string;
  readonly displayName: string;
  readonly email: string;
  readonly company: { readonly id: string; readonly name: string; readonly timezone: string };
}

export interface Creator {
  readonly displayName: string;
  readonly email: string;
  readonly kind: 'USER' | 'OPERATOR';
}

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed' | 'skipped';

export const PROGRESS = ['delivered', 'failed', 'retrying', 'pending', 'skipped'] as const;
export type Progress = (typeof PROGRESS)[number];

/** Attempts in one interval of time. */
export interface Bucket {
  readonly startsAt: string;
  readonly delivered: number;
  readonly failed: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

export interface Figures {
  readonly delivered: number;
  readonly failed: number;
  /** From 0 to 1. */
  readonly successRate: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** Figures cover the last 24 hours. */
export interface Health extends Figures {
  readonly state: 'disabled' | 'failing' | 'degraded' | 'idle' | 'healthy' | 'paused';
  readonly circuit: { readonly state: 'closed' | 'open' | 'half_open'; readonly nextTryAt: string | null };
  readonly failingSince: string | null;
  readonly lastSuccessAt: string | null;
  readonly backlog: number;
  readonly oldestWaitingAt: string | null;
  readonly hours: readonly Bucket[];
}

/** `backlog` stops counting here. */
export const MOST_BACKLOG = 10_000;

export const PERIODS = ['hour', 'day', 'week'] as const;
export type Period = (typeof PERIODS)[number];

export interface HealthSeries extends Figures {
  readonly period: Period;
  readonly since: string;
  readonly until: string;
  readonly bucketSeconds: number;
  readonly buckets: readonly Bucket[];
}

export const STATES = ['ENABLED', 'PAUSED', 'DISABLED'] as const;
export type EndpointState = (typeof STATES)[number];

/** Conditions by path of an event's data and operator; all must hold. */
export type EventFilter = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The company's newest events, and those of them that a filter lets through. */
export interface FilterPreview {
  readonly examined: number;
  readonly oldestAt: string | null;
  readonly events: readonly PreviewedEvent[];
}

export interface PreviewedEvent {
  readonly id: string;
  readonly eventType: string;
  readonly createdAt: string;
  readonly subject: string;
  readonly subjectNumber: string | null;
  readonly customerName: string | null;
}

export interface Endpoint {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly state: EndpointState;
  readonly maxPerSecond: number | null;
  /** Additional headers of every request; their values are never shown. */
  readonly headers: readonly { readonly name: string }[];
  /** Null sends every event. */
  readonly filter: EventFilter | null;
  /** Addresses of users of the company. */
  readonly alertEmails: readonly string[];
  readonly disabledReason: 'GONE' | 'FAILING' | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly createdBy: Creator;
  readonly lastDeliveryAt: string | null;
  readonly lastDeliveryStatus: DeliveryStatus | null;
  readonly ownerless: boolean;
  /** Missing in the answer to creation, and from services older than this console. */
  readonly health?: Health | null;
}

/** Only creation and rotation return this. */
export interface EndpointWithSecret extends Endpoint {
  readonly signingSecret: string;
}

export interface Header {
  readonly name: string;
  readonly value: string;
}

export interface Attempt {
  readonly number: number;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly succeeded: boolean;
  readonly request: { readonly headers: readonly Header[]; readonly address: string | null };
  readonly response: { readonly status: number; readonly headers: readonly Header[]; readonly body: string; readonly bodyTruncated: boolean } | null;
  readonly error: string | null;
  readonly errorMessage: string | null;
}

export interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  readonly progress: Progress;
  /** Whether a user sent it as a test. */
  readonly test: boolean;
  /** The record that the event is about: its id, and the number that people use. */
  readonly subject: string;
  readonly subjectNumber: string | null;
  readonly customerName: string | null;
  /** The id of the request that caused the event, if one did. */
  readonly requestId?: string | null;
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly requestBody: string;
  readonly requestBodyTruncated: boolean;
  /** The newest attempts, in the order they were made. */
  readonly attempts: readonly Attempt[];
  readonly attemptsNextCursor: string | null;
}

export interface QueuedDelivery {
  readonly id: string;
  readonly eventId: string;
}

export interface Redelivery {
  readonly id: string;
  readonly queued: boolean;
  readonly message: string | null;
}

export type Include = 'MISSED' | 'ALL';

export interface Recovery {
  readonly queued: number;
  readonly remaining: number;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly keySuffix: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly expiresAt: string | null;
  readonly createdBy: Creator;
}

/** Only creation and rotation return this. */
export interface ApiKeyWithValue extends ApiKey {
  readonly key: string;
}

export interface EventType {
  readonly type: string;
  readonly description: string;
  /** A complete body, as JSON. */
  readonly example: string;
}

export interface AuditEvent {
  readonly id: string;
  readonly at: string;
  readonly actor: { readonly kind: 'USER' | 'OPERATOR' | 'KEY'; readonly id: string; readonly name: string };
  readonly action: string;
  readonly object: { readonly kind: string; readonly id: string };
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly requestId: string | null;
  readonly address: string | null;
}

/** The event type of "Send a test". No endpoint subscribes to it, so the listing does not have it. */
export const TEST_EVENT = 'webhook.test';

export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}
