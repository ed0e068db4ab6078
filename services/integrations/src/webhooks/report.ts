// DeliveryService.Report: an attempt, and what follows from it, in one transaction.
import { ApiError, TEST_EVENT, formatInstant } from '@truckroll/contract';
import { DeliveryStatus, type HttpHeader, type ReportRequest, type ReportResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { Transaction } from '@truckroll/service-kit';
import type { Context } from '../context.ts';
import { checked } from '../requests.ts';
import { dayOfDelivery } from './delivery-id.ts';
import { storeHealth } from './health.ts';
import { deliveryAfter, healthAfter, isSuccess, type DeliveryState, type Outcome } from './rules.ts';

const MOST_BODY_BYTES = 65_536;
const MOST_MESSAGE_CHARACTERS = 500;

interface Found {
  state: DeliveryState;
  event_type: string;
  endpoint_id: string;
  lease_token: string | null;
  due_at: number | null;
  failures: number | null;
  enabled: boolean;
  failing_since: number | null;
  slowdowns: number;
  resume_at: number | null;
}

export async function report({ database, log }: Context, request: ReportRequest): Promise<ReportResponse> {
  const attempt = checked('ReportRequest', readable(request));
  const day = dayOfDelivery(attempt.delivery_id);
  const answer = await database.transaction((tx) => store(tx, day, attempt), { retryContention: true });
  if (answer.endpoint_disabled) {
    log.warn({ delivery: attempt.delivery_id, status: attempt.response_status }, 'a webhook endpoint was disabled');
  }
  return answer;
}

/** What strangers sent is stored as far as the database can hold it: no attempt is missing from the log for its text. */
function readable(request: ReportRequest): ReportRequest {
  const text = (value: string): string => value.replaceAll('\0', '\uFFFD').toWellFormed();
  const headers = (all: readonly HttpHeader[]): HttpHeader[] => all.map(({ name, value }) => ({ name: text(name), value: text(value) }));
  return {
    ...request,
    error_message: [...text(request.error_message)].slice(0, MOST_MESSAGE_CHARACTERS).join(''),
    request_headers: headers(request.request_headers),
    response_headers: headers(request.response_headers),
  };
}

async function store(tx: Transaction, day: string, attempt: ReportRequest): Promise<ReportResponse> {
  const outcome: Outcome = {
    status: attempt.response_status ?? undefined,
    error: attempt.error !== 'ATTEMPT_ERROR_UNSPECIFIED',
    startedAt: attempt.started_at,
    endedAt: attempt.ended_at,
    retryAfter: attempt.retry_after_seconds ?? undefined,
  };
  const succeeded = isSuccess(outcome);
  // Sent together: the first locks the delivery, so that the second counts its attempts alone.
  const [found, isNew] = await Promise.all([find(tx, day, attempt.delivery_id), insertAttempt(tx, day, attempt, succeeded)]);
  if (found === undefined) throw new ApiError('NOT_FOUND', 'No such delivery: its day may have been dropped.');
  const holds = found.lease_token === attempt.lease_token;
  // Told before, and settled then.
  if (!isNew) return answerOf(found.state, found.state === 'PENDING' ? found.due_at : null, false, !holds);

  const health = {
    enabled: found.enabled,
    failingSince: found.failing_since ?? undefined,
    slowdowns: found.slowdowns,
    resumeAt: found.resume_at ?? undefined,
  };
  const change = healthAfter(health, outcome);
  await storeHealth(tx, found.endpoint_id, change, attempt.ended_at);
  const enabled = found.enabled && change.disable === undefined;
  const standing = { failures: found.failures ?? 0, isTest: found.event_type === TEST_EVENT, enabled };
  // What another worker has now is its to settle, unless this attempt got through: then it is settled.
  const next = holds || succeeded ? deliveryAfter(standing, outcome, Math.random()) : { state: found.state };
  await Promise.all([
    tx.query({
      name: 'settle_webhook_delivery',
      text: 'update webhook_deliveries set state = $3, attempts = attempts + 1, changed_at = $4 where day = $1 and id = $2',
      values: [day, attempt.delivery_id, next.state, formatInstant(attempt.ended_at)],
    }),
    ...(holds || succeeded ? [settleQueue(tx, attempt.delivery_id, next.nextAt)] : []),
  ]);
  return answerOf(next.state, next.nextAt ?? (next.state === 'PENDING' ? found.due_at : null), change.disable !== undefined, !holds);
}

function settleQueue(tx: Transaction, deliveryId: string, nextAt: number | undefined): Promise<unknown> {
  if (nextAt === undefined) return tx.query({ name: 'unqueue_webhook_delivery', text: 'delete from webhook_queue where delivery_id = $1', values: [deliveryId] });
  return tx.query({
    name: 'requeue_webhook_delivery',
    text: `update webhook_queue set due_at = $2, failures = failures + 1, tried = true, lease_token = null, leased_until = null, worker = null
      where delivery_id = $1`,
    values: [deliveryId, formatInstant(nextAt)],
  });
}

/** The delivery, locked; with its place in the queue, if it has one. */
async function find(tx: Transaction, day: string, id: string): Promise<Found | undefined> {
  const { rows } = await tx.query<Found>({
    name: 'find_reported_delivery',
    text: `select d.state, d.event_type, d.endpoint_id, q.lease_token, q.due_at, q.failures,
        e.enabled, e.failing_since, e.slowdowns, e.resume_at
      from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id left join webhook_queue q on q.delivery_id = d.id
      where d.day = $1 and d.id = $2 for update of d`,
    values: [day, id],
  });
  return rows[0];
}

/** False where this lease was reported before. */
async function insertAttempt(tx: Transaction, day: string, attempt: ReportRequest, succeeded: boolean): Promise<boolean> {
  const body = Buffer.from(attempt.response_body);
  const { rowCount } = await tx.query({
    name: 'insert_webhook_attempt',
    text: `insert into webhook_attempts (day, delivery_id, lease_token, number, started_at, ended_at, succeeded, status, error, error_message,
        address, request_headers, response_headers, response_body, response_truncated)
      select d.day, d.id, $3::uuid, d.attempts + 1, $4::timestamptz, $5::timestamptz, $6::boolean, $7::integer, $8, $9, $10, $11::jsonb, $12::jsonb,
        $13::bytea, $14::boolean
      from webhook_deliveries d where d.day = $1 and d.id = $2 on conflict do nothing`,
    values: [
      day, attempt.delivery_id, attempt.lease_token, formatInstant(attempt.started_at), formatInstant(attempt.ended_at), succeeded,
      attempt.response_status ?? null, attempt.error === 'ATTEMPT_ERROR_UNSPECIFIED' ? null : attempt.error, attempt.error_message || null,
      attempt.resolved_address ?? null, JSON.stringify(attempt.request_headers), JSON.stringify(attempt.response_headers),
      body.subarray(0, MOST_BODY_BYTES), attempt.response_truncated || body.length > MOST_BODY_BYTES,
    ],
  });
  return rowCount === 1;
}

function answerOf(state: DeliveryState, nextAt: number | null, disabled: boolean, lost: boolean): ReportResponse {
  return { status: DeliveryStatus[state], next_attempt_at: nextAt, endpoint_disabled: disabled, lease_lost: lost };
}
