// DeliveryService.Report and ReportAll: store attempts and their consequences.
import { ApiError, TEST_EVENT, now } from '@truckroll/contract';
import {
  DeliveryStatus,
  type HttpHeader,
  type ReportAllRequest,
  type ReportAllResponse,
  type ReportRequest,
  type ReportResponse,
} from '@truckroll/contract/gen/integrations/v1/deliveries';
import { ERASED_PERSON } from '@truckroll/outbox';
import { binaryArrays, notFrozen, type Statement, type Transaction } from '@truckroll/postgres';
import type { Context } from '../../context.ts';
import { checked } from '../../requests.ts';
import { spending } from '../../budgets.ts';
import { withinBudget } from '../log/answers.ts';
import { addToCounts } from '../health/count-store.ts';
import { countAttempts, type CountedAttempt } from '../health/counts.ts';
import { count } from '../health/metrics.ts';
import { storeHealth } from './health-change.ts';
import { afterChange, deliveryAfter, healthAfter, healthAfterTest, isSuccess, type DeliveryState, type Health } from '../health/rules.ts';
import { dayOfDelivery } from '../log/delivery-id.ts';
import { NOW } from './lease.ts';

const { boolean, bytea, timestamptz, integer, jsonb, text, uuid } = binaryArrays;

const MOST_BODY_BYTES = 65_536;
const MOST_MESSAGE_CHARACTERS = 500;

/** Throws 404 if the delivery is no longer stored. */
export async function report(context: Context, request: ReportRequest): Promise<ReportResponse> {
  const { answers } = await reportAll(context, { attempts: [request] });
  const [answer] = answers;
  if (answer === undefined || answer.unknown) throw new ApiError('NOT_FOUND', 'No such delivery: its day may have been dropped.');
  return answer;
}

/** Answers in the order of the attempts; `unknown` marks a delivery that is no longer stored. Attempts of one delivery are stored one after another. */
export async function reportAll({ database, deliveries, log }: Context, request: ReportAllRequest): Promise<ReportAllResponse> {
  const { attempts } = checked('ReportAllRequest', { attempts: request.attempts.map(readable) });
  const answers = new Map<ReportRequest, ReportResponse>();
  for (const together of distinct(attempts)) {
    const stored = await database.transaction((tx) => storeAttempts(tx, together), { retryContention: true });
    together.forEach((attempt, index) => answers.set(attempt, stored[index] as ReportResponse));
  }
  for (const [{ delivery_id: delivery, response_status }, { endpoint_disabled: disabled, lease_lost: lost, status }] of answers) {
    const state = status.replace('DELIVERY_STATUS_', '') as DeliveryState;
    // PENDING was counted when the delivery was stored.
    if (!lost && (state === 'SUCCEEDED' || state === 'FAILED' || state === 'SKIPPED')) count(deliveries, state);
    if (disabled) log.info({ delivery, status: response_status }, 'an attempt disabled its webhook endpoint');
  }
  return { answers: attempts.map((attempt) => answers.get(attempt) as ReportResponse) };
}

/** Replaces what PostgreSQL cannot store in texts from endpoints, so that no attempt is missing from the log. */
function readable(request: ReportRequest): ReportRequest {
  const text = (value: string): string => (PLAIN.test(value) ? value : value.replaceAll('\0', '\uFFFD').toWellFormed());
  const headers = (all: readonly HttpHeader[]): HttpHeader[] => all.map(({ name, value }) => ({ name: text(name), value: text(value) }));
  return {
    ...request,
    error_message: [...text(request.error_message)].slice(0, MOST_MESSAGE_CHARACTERS).join(''),
    request_headers: headers(request.request_headers),
    response_headers: headers(request.response_headers),
  };
}

const PLAIN = /^[\x01-\x7f]*$/;

/** Splits attempts so that each transaction has at most one per delivery, because an attempt depends on the result of the previous one. */
function distinct(attempts: readonly ReportRequest[]): ReportRequest[][] {
  const groups: Map<string, ReportRequest>[] = [];
  for (const attempt of attempts) {
    let group = groups.find((each) => !each.has(attempt.delivery_id));
    if (group === undefined) groups.push((group = new Map<string, ReportRequest>()));
    group.set(attempt.delivery_id, attempt);
  }
  return groups.map((group) => [...group.values()]);
}

/** A reported delivery with its queue row, if it has any, and its endpoint's health. */
interface Found extends Health {
  id: string;
  state: DeliveryState;
  event_type: string;
  test: boolean;
  company_id: string;
  endpoint_id: string;
  lease_token: string | null;
  due_at: number | null;
  failures: number | null;
  more_due: boolean;
}

interface Settled {
  readonly attempt: ReportRequest;
  readonly state: DeliveryState;
  /** Time of the next attempt, in microseconds since 1970. */
  readonly nextAt: number | undefined;
  /** Whether this attempt changes the delivery's row in the queue. */
  readonly settles: boolean;
}

/** Stores attempts of different deliveries, with their consequences. Answers in their order. A repeated attempt changes nothing. */
export async function storeAttempts(tx: Transaction, reported: readonly ReportRequest[]): Promise<ReportResponse[]> {
  const { attempts, spent } = await withinBudget(tx, reported);
  // Locks deliveries in the order of their ids, and so of their days, to avoid deadlocks between reports.
  const ordered = attempts.toSorted((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1));
  const days = [...Map.groupBy(ordered, ({ delivery_id }) => dayOfDelivery(delivery_id))];
  // Pipelined. The first statement locks a day's deliveries, so that the second can number their attempts.
  const read = await Promise.all(days.flatMap(([day, some]) => [find(tx, day, some), insertAttempts(tx, day, some)] as const));
  const found = new Map(read.flatMap((rows) => (rows as (Found | string)[]).flatMap((row) => (typeof row === 'string' ? [] : [[row.id, row] as const]))));
  const fresh = new Set(read.flat().filter((row) => typeof row === 'string'));

  const answers = new Map<string, ReportResponse>();
  const settled: Settled[] = [];
  const counted: CountedAttempt[] = [];
  const healths = new Map<string, Health>();
  for (const attempt of attempts.toSorted((a, b) => a.ended_at - b.ended_at)) {
    const row = found.get(attempt.delivery_id);
    if (row === undefined) {
      answers.set(attempt.delivery_id, UNKNOWN);
      continue;
    }
    const holds = row.lease_token === attempt.lease_token;
    // Reported before; its consequences are stored.
    if (!fresh.has(row.id)) {
      answers.set(row.id, answerOf(row, row.state, row.state === 'PENDING' ? row.due_at : null, false, !holds));
      continue;
    }
    const health = healths.get(row.endpoint_id) ?? row;
    const isTest = row.test || row.event_type === TEST_EVENT;
    const change = (isTest ? healthAfterTest : healthAfter)(health, attempt);
    await storeHealth(tx, row, change, attempt.ended_at, isTest);
    const after = afterChange(health, change);
    healths.set(row.endpoint_id, after);
    // A delivery leased to another worker is left to it, unless this attempt succeeded.
    const settles = holds || isSuccess(attempt);
    const attempted = { failures: row.failures ?? 0, isTest, enabled: after.enabled };
    const next = settles ? deliveryAfter(attempted, attempt, Math.random()) : { state: row.state };
    settled.push({ attempt, state: next.state, nextAt: next.nextAt, settles });
    counted.push(countedOf(row, attempt, isSuccess(attempt)));
    answers.set(row.id, answerOf(row, next.state, next.nextAt ?? (next.state === 'PENDING' ? row.due_at : null), change.disable !== undefined, !holds));
  }
  const storing = [...settleDeliveries(settled), ...settleQueue(settled), addToCounts(countAttempts(counted, now()))];
  if (settled.length > 0) await tx.finish(spent.size === 0 ? storing : [...storing, spending('answers', spent)]);
  return attempts.map(({ delivery_id: id }) => answers.get(id) as ReportResponse);
}

/** Locks the deliveries of a day, without those of frozen companies, and returns them with their queue rows, if they have any. */
async function find(tx: Transaction, day: string, attempts: readonly ReportRequest[]): Promise<Found[]> {
  const { rows } = await tx.query<Found>({
    name: 'find_reported_deliveries',
    text: `select d.id, d.state, d.event_type, d.test, d.company_id, d.endpoint_id, q.lease_token, q.due_at, q.failures,
        e.enabled, e.paused_at is not null as paused, e.failing_since, e.slowdowns, e.resume_at, e.circuit_open_until, exists (
          select from webhook_queue o where o.endpoint_id = d.endpoint_id and o.due_at <= now() and o.leased_until is null) as more_due
      from webhook_deliveries d join webhook_endpoints e on e.company_id = d.company_id and e.id = d.endpoint_id left join webhook_queue q on q.delivery_id = d.id
      where d.day = $1 and d.id = any($2::uuid[]) and ${notFrozen('d.company_id')} order by d.id for update of d`,
    values: [day, uuid(attempts.map(({ delivery_id }) => delivery_id))],
  });
  return rows;
}

/**
 * SQL: whether the answer may show a person who was erased since the worker got the body. An erasure waits for the answers of workers whose lease
 * goes on, and no longer.
 */
const LATE = `not exists (select from webhook_queue q where q.delivery_id = a.id and q.lease_token = a.lease_token and q.leased_until > ${NOW})
  and exists (select from erased_people p
    cross join lateral (select body, people from webhook_events where company_id = d.company_id and day = $1 and id = d.event_id limit 1) e
    where p.company_id = d.company_id and (position(convert_to(p.id::text, 'UTF8') in e.body) > 0 or position(p.id::text in e.people) > 0))`;

/** Stores new attempts and returns their deliveries' ids. `limit` forces a lookup by key even if the plan was made for a small partition. */
async function insertAttempts(tx: Transaction, day: string, attempts: readonly ReportRequest[]): Promise<string[]> {
  const of = <T>(pick: (attempt: ReportRequest) => T): T[] => attempts.map(pick);
  const { rows } = await tx.query<{ id: string }>({
    name: 'insert_webhook_attempts',
    text: `insert into webhook_attempts (day, company_id, delivery_id, lease_token, number, started_at, ended_at, succeeded, status, error, error_message,
        address, request_headers, response_headers, response_body, response_truncated)
      select $1::date, d.company_id, a.id, a.lease_token, d.attempts + 1, a.started_at, a.ended_at, a.succeeded, a.status, a.error, a.error_message,
        a.address, a.request_headers, case when d.late then '[]' else a.response_headers end, case when d.late then $15 else a.response_body end,
        a.response_truncated
      from unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::timestamptz[], $6::boolean[], $7::integer[], $8::text[], $9::text[], $10::text[],
          $11::jsonb[], $12::jsonb[], $13::bytea[], $14::boolean[])
        a (id, lease_token, started_at, ended_at, succeeded, status, error, error_message, address, request_headers, response_headers, response_body, response_truncated)
      cross join lateral (select d.company_id, d.attempts, ${LATE} as late from webhook_deliveries d
        where d.day = $1 and d.id = a.id and ${notFrozen('d.company_id')} limit 1) d on conflict do nothing returning delivery_id as id`,
    values: [
      day,
      uuid(of(({ delivery_id }) => delivery_id)),
      uuid(of(({ lease_token }) => lease_token)),
      timestamptz(of(({ started_at }) => started_at)),
      timestamptz(of(({ ended_at }) => ended_at)),
      boolean(of(isSuccess)),
      integer(of(({ response_status }) => response_status ?? null)),
      text(of(({ error }) => (error === 'ATTEMPT_ERROR_UNSPECIFIED' ? null : error))),
      text(of(({ error_message }) => error_message || null)),
      text(of(({ resolved_address }) => resolved_address ?? null)),
      jsonb(of(({ request_headers }) => JSON.stringify(request_headers))),
      jsonb(of(({ response_headers }) => JSON.stringify(response_headers))),
      bytea(of(({ response_body }) => response_body.subarray(0, MOST_BODY_BYTES))),
      boolean(of(({ response_truncated, response_body }) => response_truncated || response_body.length > MOST_BODY_BYTES)),
      Buffer.from(ERASED_PERSON),
    ],
  });
  return rows.map(({ id }) => id);
}

function settleDeliveries(settled: readonly Settled[]): Statement[] {
  return [...Map.groupBy(settled, ({ attempt }) => dayOfDelivery(attempt.delivery_id))].map(([day, some]) => ({
    name: 'settle_webhook_deliveries',
    text: `update webhook_deliveries d set state = s.state, attempts = d.attempts + 1, changed_at = s.at
      from unnest($2::uuid[], $3::text[], $4::timestamptz[]) s (id, state, at) where d.day = $1 and d.id = any($2::uuid[]) and d.id = s.id`,
    values: [
      day,
      uuid(some.map(({ attempt }) => attempt.delivery_id)),
      text(some.map(({ state }) => state)),
      timestamptz(some.map(({ attempt }) => attempt.ended_at)),
    ],
  }));
}

function settleQueue(settled: readonly Settled[]): Statement[] {
  const gone = settled.filter(({ settles, nextAt }) => settles && nextAt === undefined);
  const again = settled.filter(({ settles, nextAt }) => settles && nextAt !== undefined);
  const unqueue: Statement = {
    name: 'unqueue_webhook_deliveries',
    text: 'delete from webhook_queue where delivery_id = any($1::uuid[])',
    values: [uuid(gone.map(({ attempt }) => attempt.delivery_id))],
  };
  const requeue: Statement = {
    name: 'requeue_webhook_deliveries',
    text: `update webhook_queue q set due_at = a.due_at, failures = failures + 1, tried = true, lease_token = null, leased_until = null, worker = null
      from unnest($1::uuid[], $2::timestamptz[]) a (id, due_at) where q.delivery_id = a.id`,
    values: [uuid(again.map(({ attempt }) => attempt.delivery_id)), timestamptz(again.map(({ nextAt }) => nextAt as number))],
  };
  return [...(gone.length > 0 ? [unqueue] : []), ...(again.length > 0 ? [requeue] : [])];
}

function countedOf({ company_id: companyId, endpoint_id: endpointId }: Found, attempt: ReportRequest, succeeded: boolean): CountedAttempt {
  const timed = attempt.response_status != null || attempt.error === 'ATTEMPT_ERROR_TIMEOUT';
  return { companyId, endpointId, startedAt: attempt.started_at, endedAt: attempt.ended_at, succeeded, timed };
}

function answerOf(row: Found, state: DeliveryState, nextAt: number | null, disabled: boolean, lost: boolean): ReportResponse {
  return { status: DeliveryStatus[state], next_attempt_at: nextAt, endpoint_disabled: disabled, lease_lost: lost, more_due: row.more_due, unknown: false };
}

const UNKNOWN: ReportResponse = {
  status: DeliveryStatus.UNSPECIFIED,
  next_attempt_at: null,
  endpoint_disabled: false,
  lease_lost: false,
  more_due: false,
  unknown: true,
};
