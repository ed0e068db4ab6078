// What /api/v1 answers, as far as the console shows it; /openapi.json has the whole.

export interface Creator {
  readonly displayName: string;
  readonly email: string;
  readonly kind: 'USER' | 'OPERATOR';
}

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'skipped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface Endpoint {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly enabled: boolean;
  readonly disabledReason: 'GONE' | 'FAILING' | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly createdBy: Creator;
  readonly lastDeliveryAt: string | null;
  readonly lastDeliveryStatus: DeliveryStatus | null;
  readonly ownerless: boolean;
}

/** As only creation and rotation answer. */
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
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly requestBody: string;
  readonly requestBodyTruncated: boolean;
  /** The newest ones, oldest of them first. */
  readonly attempts: readonly Attempt[];
  readonly attemptsNextCursor: string | null;
}

export interface QueuedDelivery {
  readonly id: string;
  readonly eventId: string;
}

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

/** As only creation and rotation answer. */
export interface ApiKeyWithValue extends ApiKey {
  readonly key: string;
}

export interface EventType {
  readonly type: string;
  readonly description: string;
}

/** The type of the events that "Send a test" makes; no endpoint subscribes to it, so the listing lacks it. */
export const TEST_EVENT = 'webhook.test';

export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}
