// The operations of /api/v1 that the console uses.
import { request } from './client.ts';
import type {
  ApiKey,
  ApiKeyWithValue,
  Attempt,
  AuditEvent,
  Delivery,
  Endpoint,
  EndpointState,
  EndpointWithSecret,
  EventFilter,
  EventType,
  FilterPreview,
  HealthSeries,
  Include,
  LoggedRequest,
  Me,
  Notification,
  Page,
  Period,
  QueuedDelivery,
  Recovery,
  Redelivery,
  View,
} from './types.ts';

const PAGE_SIZE = 25;

export interface EndpointFields {
  readonly name?: string;
  readonly url?: string;
  readonly eventTypes?: readonly string[];
  readonly maxPerSecond?: number | null;
  /** A present name without a value keeps its value. */
  readonly headers?: readonly { readonly name: string; readonly value?: string }[];
  /** Null sends every event. */
  readonly filter?: EventFilter | null;
  readonly alertEmails?: readonly string[];
  readonly state?: EndpointState;
}

/** Changes of state that are no fields of a form. */
export interface StateChange {
  readonly state: EndpointState;
  readonly resumeSkipped?: boolean;
}

export interface DeliveryFilter {
  readonly progress?: string | undefined;
  readonly eventType?: string | undefined;
  /** Instants; from is inclusive, before is exclusive. */
  readonly createdFrom?: string | undefined;
  readonly createdBefore?: string | undefined;
  /** Id or number of the record that the event is about. */
  readonly subject?: string | undefined;
  readonly cursor?: string | undefined;
}

async function data<T>(asked: Promise<Record<string, unknown>>): Promise<T> {
  return (await asked)['data'] as T;
}

function pageOf<T>(answer: Record<string, unknown>): Page<T> {
  const { nextCursor } = answer['pagination'] as { nextCursor: string | null };
  return { data: answer['data'] as T[], nextCursor };
}

const at = (id: string): string => `webhooks/${encodeURIComponent(id)}`;
const delivery = (id: string, deliveryId: string): string => `${at(id)}/deliveries/${encodeURIComponent(deliveryId)}`;
const key = (id: string): string => `api-keys/${encodeURIComponent(id)}`;
const view = (name: string): string => `views/${encodeURIComponent(name)}`;

/** The user that the token belongs to. Throws Problem if the API rejects the token. */
export const readMe = (token: string) => data<Me>(request('GET', '../me', { token }));

export const listEndpoints = (signal: AbortSignal) => data<readonly Endpoint[]>(request('GET', 'webhooks', { signal }));
export const readEndpoint = (id: string, signal: AbortSignal) => data<Endpoint>(request('GET', at(id), { signal }));
export const readHealth = (id: string, period: Period, signal: AbortSignal) =>
  data<HealthSeries>(request('GET', `${at(id)}/health`, { query: { period }, signal }));
export const createEndpoint = (body: EndpointFields) => data<EndpointWithSecret>(request('POST', 'webhooks', { body }));
export const updateEndpoint = (id: string, body: EndpointFields | StateChange) => data<Endpoint>(request('PATCH', at(id), { body }));
export const previewFilter = (body: { eventTypes: readonly string[]; filter: EventFilter | null }) =>
  data<FilterPreview>(request('POST', 'webhooks/filter-preview', { body }));
export const deleteEndpoint = (id: string) => data<Endpoint>(request('DELETE', at(id)));
export const rotateSecret = (id: string) => data<EndpointWithSecret>(request('POST', `${at(id)}/rotate-secret`));
export const sendTest = (id: string, eventType: string) => data<QueuedDelivery>(request('POST', `${at(id)}/test`, { body: { eventType } }));
export const recover = (id: string, body: { since: string; until: string; include: Include }) => data<Recovery>(request('POST', `${at(id)}/recover`, { body }));

export async function listDeliveries(id: string, filter: DeliveryFilter, signal: AbortSignal): Promise<Page<Delivery>> {
  const answer = await request('GET', `${at(id)}/deliveries`, { query: { limit: PAGE_SIZE, ...filter }, signal });
  return pageOf(answer);
}
/** The first deliveries of a filter, as many as one page has at most. */
export const firstDeliveries = async (id: string, filter: DeliveryFilter): Promise<Page<Delivery>> =>
  pageOf(await request('GET', `${at(id)}/deliveries`, { query: { limit: 100, ...filter } }));
/** Reads those deliveries that still exist; at most one page of ids. */
export const readDeliveries = (id: string, ids: readonly string[], signal: AbortSignal) =>
  data<readonly Delivery[]>(request('GET', `${at(id)}/deliveries`, { query: { limit: 100, ids }, signal }));
export const readDelivery = (id: string, deliveryId: string, signal: AbortSignal) => data<Delivery>(request('GET', delivery(id, deliveryId), { signal }));
export async function listAttempts(id: string, deliveryId: string, cursor: string): Promise<Page<Attempt>> {
  const answer = await request('GET', `${delivery(id, deliveryId)}/attempts`, { query: { cursor } });
  return pageOf(answer);
}
export const redeliver = (id: string, deliveryId: string) => data<QueuedDelivery>(request('POST', `${delivery(id, deliveryId)}/redeliver`));
export const redeliverAll = (id: string, deliveryIds: readonly string[]) =>
  data<readonly Redelivery[]>(request('POST', `${at(id)}/redeliver`, { body: { deliveryIds } }));

export const listKeys = (signal: AbortSignal) => data<readonly ApiKey[]>(request('GET', 'api-keys', { signal }));
export const createKey = (body: { name: string; expiresAt?: string }) => data<ApiKeyWithValue>(request('POST', 'api-keys', { body }));
export const rotateKey = (id: string) => data<ApiKeyWithValue>(request('POST', `${key(id)}/rotate`));
export const revokeKey = (id: string) => data<ApiKey>(request('DELETE', key(id)));

export const listViews = (signal: AbortSignal) => data<readonly View[]>(request('GET', 'views', { signal }));
/** Replaces the user's view of that name. */
export const saveView = ({ name, query, shared }: Pick<View, 'name' | 'query' | 'shared'>) =>
  data<View>(request('PUT', view(name), { body: { query, shared } }));
export const deleteView = (name: string) => data<View>(request('DELETE', view(name)));

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly cursor?: string | undefined;
}

export async function listAuditEvents(filter: AuditFilter, signal: AbortSignal): Promise<Page<AuditEvent>> {
  const answer = await request('GET', 'audit-events', { query: { limit: PAGE_SIZE, ...filter }, signal });
  return pageOf(answer);
}

export interface RequestFilter {
  readonly key?: string | undefined;
  readonly status?: string | readonly string[] | undefined;
  readonly route?: string | undefined;
  /** Instants; from is inclusive, before is exclusive. */
  readonly from?: string | undefined;
  readonly before?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number;
}

export const listRequests = async (filter: RequestFilter, signal?: AbortSignal): Promise<Page<LoggedRequest>> =>
  pageOf(await request('GET', 'requests', { query: { limit: PAGE_SIZE, ...filter }, ...(signal && { signal }) }));

/** What became of the message to a customer that a write requested. */
export const readNotification = (id: string, signal: AbortSignal) => data<Notification>(request('GET', `notifications/${encodeURIComponent(id)}`, { signal }));

export const listEventTypes = (signal: AbortSignal) => data<readonly EventType[]>(request('GET', 'webhook-event-types', { signal }));
