// Reading the log of an endpoint.
import { ApiError, formatInstant } from '@truckroll/contract';
import { DeliveryStatus, type AttemptError, type HttpHeader } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type * as wire from '@truckroll/contract/gen/integrations/v1/webhook_deliveries';
import type { Queryable } from '@truckroll/service-kit';
import type { Context } from '../context.ts';
import { checked, companyOf } from '../requests.ts';
import { dayOfDelivery } from './delivery-id.ts';
import { selectEndpoint } from './endpoints.ts';
import { redeliver } from './recover.ts';
import type { DeliveryState } from './rules.ts';

/** Of each body in a list: a page of a hundred, each tried ten times, stays a few megabytes at most. Characters. */
const LISTED_CHARACTERS = 2048;
const MOST_BYTES_OF_A_CHARACTER = 4;

interface Row {
  id: string;
  day: string;
  event_id: string;
  event_type: string;
  state: DeliveryState;
  occurred_at: number;
  due_at: number | null;
  body: Buffer;
  size: number;
}

interface AttemptRow {
  delivery_id: string;
  number: number;
  started_at: number;
  ended_at: number;
  succeeded: boolean;
  status: number | null;
  error: AttemptError | null;
  error_message: string | null;
  address: string | null;
  request_headers: HttpHeader[];
  response_headers: HttpHeader[];
  response_body: Buffer;
  response_truncated: boolean;
}

async function list({ database }: Context, request: wire.ListWebhookDeliveriesRequest): Promise<wire.ListWebhookDeliveriesResponse> {
  const { collection, webhook_id, status, event_type } = checked('ListWebhookDeliveriesRequest', request);
  if (collection == null) throw ApiError.internal(new Error('a list came without its collection'));
  const { company_id, limit, ids, created_from: from, created_before: before } = collection;
  await selectEndpoint(database, company_id, webhook_id);
  const after = request.collection?.after.length ? Buffer.from(request.collection.after).toString('latin1') : null;
  const states = status.map((each) => each.replace('DELIVERY_STATUS_', ''));
  const rows = await select(
    database,
    `d.company_id = $1 and d.endpoint_id = $2 and ($4::uuid is null or (d.day, d.id) < ($5::date, $4))
      and (cardinality($6::text[]) = 0 or d.state = any($6)) and (cardinality($7::text[]) = 0 or d.event_type = any($7))
      and (cardinality($8::uuid[]) = 0 or d.id = any($8)) and ($9::timestamptz is null or d.occurred_at >= $9)
      and ($10::timestamptz is null or d.occurred_at < $10)
      order by d.day desc, d.id desc limit $11`,
    [
      company_id, webhook_id, LISTED_CHARACTERS * MOST_BYTES_OF_A_CHARACTER, after, after === null ? null : dayOfDelivery(after), states, event_type, ids,
      from == null ? null : formatInstant(from), before == null ? null : formatInstant(before), limit + 1,
    ],
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { data: await withAttempts(database, page, LISTED_CHARACTERS), next: Buffer.from(last?.id ?? '', 'latin1') };
}

async function get({ database }: Context, request: wire.GetWebhookDeliveryRequest): Promise<wire.GetWebhookDeliveryResponse> {
  const companyId = companyOf(request);
  const { webhook_id } = checked('GetWebhookDeliveryRequest', request);
  const id = request.key?.id ?? '';
  await selectEndpoint(database, companyId, webhook_id);
  const rows = await select(database, 'd.company_id = $1 and d.endpoint_id = $2 and d.day = $4 and d.id = $5', [companyId, webhook_id, WHOLE, dayOfDelivery(id), id]);
  const [delivery] = await withAttempts(database, rows, WHOLE);
  if (delivery === undefined) throw ApiError.notFound('delivery');
  return { data: delivery };
}

/** More than any body has. */
const WHOLE = 1_000_000_000;

/** $3 is how many bytes of the body are read. */
async function select(db: Queryable, where: string, values: unknown[]): Promise<Row[]> {
  const { rows } = await db.query<Row>({
    text: `select d.id, d.day::text as day, d.event_id, d.event_type, d.state, d.occurred_at, q.due_at,
        substring(v.body for $3) as body, octet_length(v.body) as size
      from webhook_deliveries d join webhook_events v on v.day = d.day and v.id = d.event_id
      left join webhook_queue q on q.delivery_id = d.id where ${where}`,
    values,
  });
  return rows;
}

async function withAttempts(db: Queryable, rows: readonly Row[], most: number): Promise<wire.WebhookDelivery[]> {
  const attempts = await attemptsOf(db, rows, most === WHOLE ? WHOLE : most * MOST_BYTES_OF_A_CHARACTER);
  return rows.map((row) => {
    const body = cut(row.body, most, false);
    return {
      id: row.id, event_id: row.event_id, event_type: row.event_type, status: DeliveryStatus[row.state], created_at: row.occurred_at,
      next_attempt_at: row.due_at, request_body: body.text, request_body_truncated: body.truncated || row.size > row.body.length,
      attempts: attempts.filter(({ delivery_id }) => delivery_id === row.id).map((attempt) => attemptOf(attempt, most)),
    };
  });
}

async function attemptsOf(db: Queryable, rows: readonly Row[], bytes: number): Promise<AttemptRow[]> {
  if (rows.length === 0) return [];
  const { rows: attempts } = await db.query<AttemptRow>({
    text: `select a.delivery_id, a.number, a.started_at, a.ended_at, a.succeeded, a.status, a.error, a.error_message, a.address,
        a.request_headers, a.response_headers, substring(a.response_body for $3) as response_body,
        a.response_truncated or octet_length(a.response_body) > $3 as response_truncated
      from webhook_attempts a join unnest($1::date[], $2::uuid[]) d (day, id) on a.day = d.day and a.delivery_id = d.id
      order by a.number, a.started_at`,
    values: [rows.map(({ day }) => day), rows.map(({ id }) => id), bytes],
  });
  return attempts;
}

function attemptOf(row: AttemptRow, most: number): wire.WebhookAttempt {
  const body = cut(row.response_body, most, row.response_truncated);
  const response = { status: row.status ?? 0, headers: row.response_headers, body: body.text, body_truncated: body.truncated };
  return {
    number: row.number, started_at: row.started_at, ended_at: row.ended_at, succeeded: row.succeeded,
    request: { headers: row.request_headers, address: row.address },
    response: row.status === null ? null : response,
    error: row.error, error_message: row.error_message,
  };
}

/** The first characters of a text. What is not UTF-8 is shown as U+FFFD, also a character that was cut in two. */
function cut(bytes: Buffer, most: number, truncated: boolean): { text: string; truncated: boolean } {
  const text = bytes.toString('utf8');
  return text.length > most ? { text: text.slice(0, most).toWellFormed(), truncated: true } : { text, truncated };
}

export const webhookDeliveries = { listWebhookDeliveries: list, getWebhookDelivery: get, redeliverWebhook: redeliver };
