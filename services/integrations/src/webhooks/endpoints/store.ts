import { ApiError, formatInstant } from '@truckroll/contract';
import { DeliveryStatus } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { CreatorKind } from '@truckroll/contract/gen/integrations/v1/people';
import { DisabledReason, WebhookState, type Webhook } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Queryable, Transaction } from '@truckroll/postgres';
import { answersFor } from '../../mails/store.ts';
import { CREATOR_COLUMNS, creatorOf, type CreatorRow } from '../../people.ts';
import type { StoredHeaders } from './custom-headers.ts';
import { endpointState, type EndpointState } from './state.ts';
import { readHealth, selectHealthInputs } from '../health/read.ts';
import type { DeliveryState } from '../health/rules.ts';

interface Row extends CreatorRow {
  filter: string | null;
  alert_emails: string[];
  id: string;
  name: string;
  url: string;
  event_types: string[];
  enabled: boolean;
  paused: boolean;
  disabled_reason: 'GONE' | 'FAILING' | null;
  created_at: number;
  updated_at: number;
  last_at: number | null;
  last_state: DeliveryState | null;
  ownerless: boolean;
  max_per_second: number | null;
  header_names: string[];
  expires_at: number | null;
}

const noEndpoint = (): ApiError => ApiError.notFound('webhook endpoint');

/** SQL for the addresses of those who get e-mails about an endpoint (alias e), in the order in which they were given. */
const ALERT_EMAILS = `array(select a.email from unnest(coalesce(e.alert_user_ids, array[e.created_by])) with ordinality g (id, ordinal)
  join users a on a.id = g.id and a.company_id = e.company_id and a.active order by g.ordinal)`;

/** The company's endpoints, oldest first, or the one with the id. */
export async function selectEndpoints(db: Queryable, companyId: string, id: string | null = null): Promise<Webhook[]> {
  const read = db.query<Row>({
    name: 'select_webhooks',
    text: `select e.id, e.name, e.url, e.event_types, e.enabled, e.paused_at is not null as paused, e.disabled_reason,
        e.created_at, e.updated_at, l.changed_at as last_at, l.state as last_state, not (${answersFor('e')}) as ownerless,
        e.max_per_second, e.header_names, e.filter, e.expires_at, ${ALERT_EMAILS} as alert_emails, ${CREATOR_COLUMNS}
      from webhook_endpoints e join users u on u.id = e.created_by
      left join lateral (
        select d.changed_at, d.state from webhook_deliveries d where d.company_id = e.company_id and d.endpoint_id = e.id
        order by d.day desc, d.id desc limit 1) l on true
      where e.company_id = $1 and e.deleted_at is null and ($2::uuid is null or e.id = $2) order by e.created_at, e.id`,
    values: [companyId, id],
  });
  const inputs = selectHealthInputs(db, companyId, id);
  const [{ rows }, health] = await Promise.all([read, inputs.then((found) => readHealth(db, found))]);
  // Drops endpoints that were deleted between the two statements.
  return rows
    .filter(({ id: each }) => health.has(each))
    .map((row) => ({
      id: row.id,
      name: row.name,
      url: row.url,
      event_types: row.event_types,
      enabled: endpointState(row) === 'ENABLED',
      disabled_reason: row.disabled_reason === null ? null : DisabledReason[row.disabled_reason],
      created_at: row.created_at,
      updated_at: row.updated_at,
      created_by: creatorOf(row, CreatorKind.USER),
      last_delivery_at: row.last_at,
      last_delivery_status: row.last_state === null ? null : DeliveryStatus[row.last_state],
      ownerless: row.ownerless,
      health: health.get(row.id) ?? null,
      state: WebhookState[endpointState(row)],
      max_per_second: row.max_per_second,
      headers: row.header_names.map((name) => ({ name })),
      filter: row.filter,
      alert_emails: row.alert_emails,
      expires_at: row.expires_at,
    }));
}

/** Throws 404. */
export async function requireEndpoint(db: Queryable, companyId: string, id: string): Promise<void> {
  const { rowCount } = await db.query({
    name: 'find_webhook',
    text: 'select from webhook_endpoints where company_id = $1 and id = $2 and deleted_at is null',
    values: [companyId, id],
  });
  if (rowCount === 0) throw noEndpoint();
}

/** Throws 404. */
export async function selectEndpoint(db: Queryable, companyId: string, id: string): Promise<Webhook> {
  const [endpoint] = await selectEndpoints(db, companyId, id);
  if (endpoint === undefined) throw noEndpoint();
  return endpoint;
}

/** Throws 409 if the company has reached its limit of endpoints. Locks the company until the transaction ends. */
export async function requireRoom(tx: Transaction, companyId: string): Promise<void> {
  // Counts in a separate statement, so that it sees what the previous holder of the lock has committed.
  const { rows } = await tx.query<{ most: number }>({
    name: 'lock_webhook_limit',
    text: 'select webhook_endpoint_limit as most from companies where id = $1 for no key update',
    values: [companyId],
  });
  const most = rows[0]?.most ?? 0;
  const { rows: counted } = await tx.query<{ count: number }>({
    name: 'count_webhooks',
    text: 'select count(*) from webhook_endpoints where company_id = $1 and deleted_at is null',
    values: [companyId],
  });
  if ((counted[0]?.count ?? 0) < most) return;
  throw new ApiError(
    'LIMIT_REACHED',
    `The company has ${most} webhook endpoints, as many as it may. Delete one that is not needed, or ask the operator for more.`,
  );
}

export interface NewEndpoint {
  id: string;
  companyId: string;
  userId: string;
  name: string;
  url: string;
  eventTypes: readonly string[];
  state: EndpointState;
  maxPerSecond: number | null;
  headers: StoredHeaders;
  /** Encrypted. */
  secret: Buffer;
}

/** Call `requireRoom` before: it enforces the company's limit. */
export async function insertEndpoint(tx: Transaction, endpoint: NewEndpoint): Promise<void> {
  const { header_names, header_values } = endpoint.headers;
  await tx.query({
    name: 'insert_webhook',
    text: `insert into webhook_endpoints (id, company_id, created_by, name, url, event_types, enabled, paused_at, secret, max_per_second,
        header_names, header_values)
      values ($1, $2, $3, $4, $5, $6, $7 <> 'DISABLED', case when $7 = 'PAUSED' then now() end, $8, $9, $10, $11)`,
    values: [
      endpoint.id,
      endpoint.companyId,
      endpoint.userId,
      endpoint.name,
      endpoint.url,
      endpoint.eventTypes,
      endpoint.state,
      endpoint.secret,
      endpoint.maxPerSecond,
      header_names,
      header_values,
    ],
  });
}

export interface HeldEndpoint extends StoredHeaders {
  enabled: boolean;
  paused: boolean;
  /** When it was paused or disabled, in microseconds since 1970; null while it is enabled. If an older release disabled it: its last change. */
  stopped_at: number | null;
  secret: Buffer;
}

/** Locks the endpoint until the transaction ends. Throws 404. */
export async function lockEndpoint(tx: Transaction, companyId: string, id: string): Promise<HeldEndpoint> {
  const { rows } = await tx.query<HeldEndpoint>({
    name: 'lock_webhook',
    text: `select enabled, paused_at is not null as paused, secret,
        coalesce(stopped_at, case when not enabled then updated_at end) as stopped_at, header_names, header_values
      from webhook_endpoints where company_id = $1 and id = $2 and deleted_at is null for update`,
    values: [companyId, id],
  });
  if (rows[0] === undefined) throw noEndpoint();
  return rows[0];
}

export interface EndpointChange {
  name: string | null;
  url: string | null;
  eventTypes: readonly string[] | null;
  state: EndpointState | null;
  /** 0 removes the limit. */
  maxPerSecond: number | null;
  headers: StoredHeaders | null;
}

/** Null keeps the value. Enabling an endpoint or changing its URL clears its failure, slow-downs and circuit. */
export async function updateEndpoint(tx: Transaction, companyId: string, id: string, change: EndpointChange): Promise<void> {
  const { name, url, eventTypes, state, maxPerSecond, headers } = change;
  await tx.query({
    name: 'update_webhook',
    text: `update webhook_endpoints set name = coalesce($3, name), url = coalesce($4, url), event_types = coalesce($5::text[], event_types),
        enabled = coalesce($6 <> 'DISABLED', enabled), disabled_reason = case when $6::text is null then disabled_reason end,
        paused_at = case when $6 = 'PAUSED' then coalesce(paused_at, now()) when $6 is null then paused_at end,
        failing_since = case when $7 then null else failing_since end, slowdowns = case when $7 then 0 else slowdowns end,
        resume_at = case when $7 then null else resume_at end,
        circuit_open_until = case when $7 then null else circuit_open_until end, updated_at = now(),
        max_per_second = case when $8::int is null then max_per_second else nullif($8, 0) end,
        header_names = coalesce($9::text[], header_names), header_values = case when $9 is null then header_values else $10 end
      where company_id = $1 and id = $2`,
    values: [
      companyId,
      id,
      name,
      url,
      eventTypes,
      state,
      state === 'ENABLED' || url !== null,
      maxPerSecond,
      headers?.header_names ?? null,
      headers?.header_values ?? null,
    ],
  });
}

/** Hides an endpoint from reads and deletes what is queued for it. Its row stays. Call `lockEndpoint` before. */
export async function markDeleted(tx: Transaction, companyId: string, id: string): Promise<void> {
  await tx.query({ text: 'update webhook_endpoints set deleted_at = now(), enabled = false where company_id = $1 and id = $2', values: [companyId, id] });
  for (const table of ['webhook_queue', 'webhook_recoveries', 'webhook_replays', 'webhook_rates'])
    await tx.query({ text: `delete from ${table} where endpoint_id = $1`, values: [id] });
}

/** The old secret stays valid until `previousUntil`, in microseconds since 1970. */
export async function replaceSecret(tx: Transaction, companyId: string, id: string, secret: Buffer, previousUntil: number): Promise<void> {
  await tx.query({
    name: 'rotate_webhook_secret',
    text: `update webhook_endpoints set previous_secret = secret, previous_secret_until = $4, secret = $3, updated_at = now()
      where company_id = $1 and id = $2`,
    values: [companyId, id, secret, formatInstant(previousUntil)],
  });
}
