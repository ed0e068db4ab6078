import { ApiError, TEST_EVENT, formatInstant } from '@truckroll/contract';
import { DeliveryStatus } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { DeliveryProgress } from '@truckroll/contract/gen/integrations/v1/webhook_deliveries';
import type * as wire from '@truckroll/contract/gen/integrations/v1/webhook_deliveries';
import type { Queryable } from '@truckroll/postgres';
import type { Context } from '../context.ts';
import { checked, companyOf } from '../requests.ts';
import { fitting } from '../pages.ts';
import { cut, listAttempts, newestAttempts, positionBefore, readable, LISTED, WHOLE, type Extent } from './log/attempts.ts';
import { dayOfDelivery } from './log/delivery-id.ts';
import { requireEndpoint } from './endpoints/store.ts';
import { redeliver, redeliverAll } from './queue/redeliver.ts';
import type { DeliveryState } from './health/rules.ts';

interface Row {
  id: string;
  day: string;
  event_id: string;
  event_type: string;
  state: DeliveryState;
  progress: 'PENDING' | 'RETRYING' | 'DELIVERED' | 'FAILED' | 'SKIPPED';
  subject: string;
  subject_number: string | null;
  customer_name: string | null;
  occurred_at: number;
  next_at: number | null;
  body: Buffer;
  request_id: string | null;
  test: boolean;
}

/** Reads a delivery and its attempts in one snapshot, because a report stores an attempt together with the time of the next. */
const ONE_MOMENT = { isolation: 'REPEATABLE READ', readOnly: true } as const;

async function list({ database }: Context, request: wire.ListWebhookDeliveriesRequest): Promise<wire.ListWebhookDeliveriesResponse> {
  const { collection, webhook_id, status, event_type, progress, subject = null } = checked('ListWebhookDeliveriesRequest', request);
  if (collection == null) throw ApiError.internal(new Error('a list came without its collection'));
  const { company_id, limit, ids, created_from: from, created_before: before } = collection;
  const own = database.of(company_id);
  await requireEndpoint(own, company_id, webhook_id);
  const after = request.collection?.after.length ? Buffer.from(request.collection.after).toString('latin1') : null;
  const states = status.map((each) => each.replace('DELIVERY_STATUS_', ''));
  const where = `d.company_id = $1 and d.endpoint_id = $2 and ($4::uuid is null or (d.day, d.id) < ($5::date, $4))
    and (cardinality($6::text[]) = 0 or d.state = any($6)) and (cardinality($7::text[]) = 0 or d.event_type = any($7))
    and (cardinality($8::uuid[]) = 0 or d.id = any($8)) and ($9::timestamptz is null or d.occurred_at >= $9)
    and ($10::timestamptz is null or d.occurred_at < $10)
    and (cardinality($12::text[]) = 0 or ${PROGRESS} = any($12)) and ($13::text is null or $13 in (d.subject, d.subject_number))
    order by d.day desc, d.id desc limit $11`;
  const values = [
    company_id,
    webhook_id,
    LISTED.bytes,
    after,
    after === null ? null : dayOfDelivery(after),
    states,
    event_type,
    ids,
    from == null ? null : formatInstant(from),
    before == null ? null : formatInstant(before),
    limit + 1,
    progress.map((each) => each.replace('DELIVERY_PROGRESS_', '')),
    subject,
  ];
  return await own.transaction(async (tx) => {
    const rows = await select(tx, where, values);
    const data = fittingDeliveries(await withNewestAttempts(tx, await readable(tx, rows.slice(0, limit), LISTED)));
    return { data, next: Buffer.from(rows.length > data.length ? (data.at(-1)?.id ?? '') : '', 'latin1') };
  }, ONE_MOMENT);
}

async function get({ database }: Context, request: wire.GetWebhookDeliveryRequest): Promise<wire.GetWebhookDeliveryResponse> {
  const companyId = companyOf(request);
  const { webhook_id } = checked('GetWebhookDeliveryRequest', request);
  const id = request.key?.id ?? '';
  const own = database.of(companyId);
  await requireEndpoint(own, companyId, webhook_id);
  const values = [companyId, webhook_id, WHOLE.bytes, dayOfDelivery(id), id];
  return await own.transaction(async (tx) => {
    const [row] = await select(tx, 'd.company_id = $1 and d.endpoint_id = $2 and d.day = $4 and d.id = $5', values);
    if (row === undefined) throw ApiError.notFound('delivery');
    const { data: newest, next } = await listAttempts(tx, id, WHOLE.attempts, new Uint8Array());
    return { data: deliveryOf(row, WHOLE, newest.toReversed(), next.length === 0 ? null : Buffer.from(next)) };
  }, ONE_MOMENT);
}

async function attempts({ database }: Context, request: wire.ListWebhookDeliveryAttemptsRequest): Promise<wire.ListWebhookDeliveryAttemptsResponse> {
  const { collection, webhook_id, delivery_id } = checked('ListWebhookDeliveryAttemptsRequest', request);
  if (collection == null) throw ApiError.internal(new Error('a list came without its collection'));
  const { company_id, limit } = collection;
  const own = database.of(company_id);
  await requireEndpoint(own, company_id, webhook_id);
  const { rowCount } = await own.query({
    name: 'select_webhook_delivery',
    text: 'select from webhook_deliveries where day = $1 and id = $2 and company_id = $3 and endpoint_id = $4',
    values: [dayOfDelivery(delivery_id), delivery_id, company_id, webhook_id],
  });
  if (rowCount === 0) throw ApiError.notFound('delivery');
  return await listAttempts(own, delivery_id, limit, request.collection?.after ?? new Uint8Array());
}

const PROGRESS = `case d.state when 'PENDING' then case when d.attempts > 0 then 'RETRYING' else 'PENDING' end when 'SUCCEEDED' then 'DELIVERED' else d.state end`;

/** SQL for the time of the next attempt. Probes ignore the circuit, and a leased delivery was due when it was leased. */
const NEXT_AT = `case when q.leased_until is not null or (q.forced and q.failures = 0) then q.due_at when e.paused_at is not null then null
  else greatest(q.due_at, e.resume_at, e.circuit_open_until) end`;

/** $3 is the number of bytes to read of a body. */
async function select(db: Queryable, where: string, values: unknown[]): Promise<Row[]> {
  const { rows } = await db.query<Row>({
    text: `select d.id, d.test, d.day::text as day, d.event_id, d.event_type, d.state, ${PROGRESS} as progress, d.subject, d.subject_number, d.customer_name, d.occurred_at,
        ${NEXT_AT} as next_at, substring(v.body for $3) as body, v.request_id
      from webhook_deliveries d join webhook_events v on v.company_id = d.company_id and v.day = d.day and v.id = d.event_id
      join webhook_endpoints e on e.company_id = d.company_id and e.id = d.endpoint_id
      left join webhook_queue q on q.delivery_id = d.id where ${where}`,
    values,
  });
  return rows;
}

async function withNewestAttempts(db: Queryable, rows: readonly Row[]): Promise<wire.WebhookDelivery[]> {
  const attempts = await newestAttempts(db, rows, LISTED);
  return rows.map((row) => {
    const { shown = [], hasMore = false } = attempts.get(row.id) ?? {};
    return deliveryOf(row, LISTED, shown, hasMore ? positionBefore(row.id, shown[0]?.number ?? 0) : null);
  });
}

/** The first deliveries that fit a page together; at least one. */
function fittingDeliveries(deliveries: readonly wire.WebhookDelivery[]): wire.WebhookDelivery[] {
  // Only the gateway can write cursors.
  const measured = deliveries.map((delivery) => ({ ...delivery, attempts_next_cursor: null }));
  return deliveries.slice(0, fitting('truckroll.integrations.v1.WebhookDelivery', measured).length);
}

function deliveryOf(row: Row, { characters }: Extent, attempts: wire.WebhookAttempt[], nextAttempts: Buffer | null): wire.WebhookDelivery {
  const body = cut(row.body, characters, false);
  return {
    id: row.id,
    event_id: row.event_id,
    event_type: row.event_type,
    status: DeliveryStatus[row.state],
    created_at: row.occurred_at,
    next_attempt_at: row.next_at,
    request_body: body.text,
    request_body_truncated: body.truncated,
    attempts,
    attempts_next_cursor: nextAttempts,
    progress: DeliveryProgress[row.progress],
    subject: row.subject,
    subject_number: row.subject_number,
    customer_name: row.customer_name,
    request_id: row.request_id,
    test: row.test || row.event_type === TEST_EVENT,
  };
}

export const webhookDeliveries = {
  listWebhookDeliveries: list,
  getWebhookDelivery: get,
  listWebhookDeliveryAttempts: attempts,
  redeliverWebhook: redeliver,
  redeliverWebhooks: redeliverAll,
};
