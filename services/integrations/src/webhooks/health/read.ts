// Reports endpoints' health (docs/how-to/webhooks.md, Health): of one endpoint, over a period, and as a company's totals.
import { ApiError, formatInstant, now } from '@truckroll/contract';
import type { CountEndpointsRequest, CountEndpointsResponse } from '@truckroll/contract/gen/integrations/v1/summary';
import {
  WebhookCircuitState,
  WebhookHealthPeriod,
  WebhookHealthState,
  type GetWebhookHealthRequest,
  type GetWebhookHealthResponse,
  type WebhookHealth,
  type WebhookHealthBucket,
} from '@truckroll/contract/gen/integrations/v1/webhook_health';
import type { Queryable } from '@truckroll/postgres';
import type { Context } from '../../context.ts';
import { checked, companyOf } from '../../requests.ts';
import { timeOfDelivery } from '../log/delivery-id.ts';
import type { DisabledReason } from './rules.ts';
import { add, noCounts, quantile, startOf, successRate, type Counts } from './counts.ts';

const MINUTE = 60_000_000;
const OVERDUE_AFTER = 5 * MINUTE;
/** Minimum share of successful attempts in the last hour for a healthy endpoint. */
const DEGRADED_BELOW = 0.95;

/** Data about an endpoint that its state follows from. Times are in microseconds since 1970. */
export interface HealthInputs {
  id: string;
  company_id: string;
  enabled: boolean;
  paused: boolean;
  disabled_reason: DisabledReason | null;
  failing_since: number | null;
  slowdowns: number;
  circuit_open_until: number | null;
  /** Attempts of the last hour. */
  delivered: number;
  failed: number;
  /** Whether there was an attempt within 24 hours. */
  active: boolean;
  /** Due time of the first waiting delivery, past or future; null if none waits. */
  due_at: number | null;
}

/** The first state that applies, in the order of the contract. */
export function stateOf(input: HealthInputs, at: number): WebhookHealthState {
  const { enabled, paused, failing_since: failingSince, circuit_open_until: circuit, slowdowns, delivered, failed, active, due_at: dueAt } = input;
  if (!enabled) return WebhookHealthState.DISABLED;
  if (paused) return WebhookHealthState.PAUSED;
  const fails = failingSince !== null;
  if (circuit !== null || (fails && delivered <= failed)) return WebhookHealthState.FAILING;
  const overdue = dueAt !== null && dueAt < at - OVERDUE_AFTER;
  if (fails || slowdowns > 0 || overdue || delivered < (delivered + failed) * DEGRADED_BELOW) return WebhookHealthState.DEGRADED;
  return active ? WebhookHealthState.HEALTHY : WebhookHealthState.IDLE;
}

/** Null selects all companies or all endpoints. */
export async function selectHealthInputs(db: Queryable, companyId: string | null, id: string | null = null): Promise<HealthInputs[]> {
  const { rows } = await db.query<HealthInputs>({
    name: 'select_webhook_health_inputs',
    text: `select e.id, e.company_id, e.enabled, e.paused_at is not null as paused, e.disabled_reason, e.failing_since, e.slowdowns, e.circuit_open_until,
        coalesce(h.delivered, 0)::bigint as delivered, coalesce(h.failed, 0)::bigint as failed, q.due_at,
        exists (select from webhook_counts c where c.company_id = e.company_id and c.endpoint_id = e.id and c.at > now() - interval '24 hours') as active
      from webhook_endpoints e
      cross join lateral (
        select sum(c.delivered) as delivered, sum(c.failed) as failed from webhook_counts c
        where c.company_id = e.company_id and c.endpoint_id = e.id and c.at > now() - interval '1 hour') h
      left join lateral (
        select due_at from webhook_queue where endpoint_id = e.id and leased_until is null order by due_at limit 1) q on true
      where ($1::uuid is null or e.company_id = $1) and ($2::uuid is null or e.id = $2) and e.deleted_at is null`,
    values: [companyId, id],
  });
  return rows;
}

/** Upper limit of the reported backlog. */
const MOST_COUNTED = 10_000;
const HOURS: Span = { minutes: 60, buckets: 24 };

/** Consecutive periods of the same length. The last one is still running. */
export interface Span {
  readonly minutes: number;
  readonly buckets: number;
}

interface CountsAt extends Counts {
  endpoint_id: string;
  at: number;
}

interface Backlog {
  id: string;
  waiting: number;
  oldest: string | null;
  last_success_at: number | null;
}

/** Health by endpoint id, with the attempts of the last 24 hours by hour. `at` is in microseconds since 1970. */
export async function readHealth(db: Queryable, inputs: readonly HealthInputs[], at = now()): Promise<Map<string, WebhookHealth>> {
  const [counts, backlogs] = await Promise.all([selectCounts(db, inputs, sinceOf(HOURS, at)), selectBacklogs(db, inputs)]);
  const countsOf = Map.groupBy(counts, ({ endpoint_id: id }) => id);
  return new Map(
    inputs.map((input) => {
      const { sum, buckets: hours } = seriesOf(countsOf.get(input.id) ?? [], HOURS, at);
      const { waiting = 0, oldest = null, last_success_at = null } = backlogs.get(input.id) ?? {};
      return [
        input.id,
        {
          state: stateOf(input, at),
          circuit: circuitOf(input, at),
          failing_since: input.failing_since,
          last_success_at,
          ...figuresOf(sum),
          backlog: waiting,
          oldest_waiting_at: oldest === null ? null : timeOfDelivery(oldest),
          hours,
        },
      ];
    }),
  );
}

function circuitOf({ circuit_open_until: until, due_at: dueAt }: HealthInputs, at: number): NonNullable<WebhookHealth['circuit']> {
  if (until === null) return { state: WebhookCircuitState.CLOSED, next_try_at: null };
  const next = Math.max(until, dueAt ?? until);
  return { state: until > at ? WebhookCircuitState.OPEN : WebhookCircuitState.HALF_OPEN, next_try_at: next > at ? next : null };
}

function figuresOf(counts: Counts) {
  const { delivered, failed } = counts;
  return { delivered, failed, success_rate: successRate(counts), p50_ms: quantile(counts, 0.5), p95_ms: quantile(counts, 0.95) };
}

/** Start of the first bucket, in microseconds since 1970. */
export function sinceOf({ minutes, buckets }: Span, at: number): number {
  return startOf(at, minutes) - (buckets - 1) * minutes * MINUTE;
}

/** Sums counts by bucket and altogether. The rows are those from `sinceOf` on; the last bucket contains `at`, in microseconds since 1970. */
export function seriesOf(rows: readonly CountsAt[], { minutes, buckets }: Span, at: number): { sum: Counts; buckets: WebhookHealthBucket[] } {
  const since = sinceOf({ minutes, buckets }, at);
  const all = Array.from({ length: buckets }, () => noCounts());
  const sum = noCounts();
  for (const row of rows) {
    // A new period may have begun since `at`.
    add(all[Math.min(Math.floor((row.at - since) / (minutes * MINUTE)), buckets - 1)] as Counts, row);
    add(sum, row);
  }
  return {
    sum,
    buckets: all.map((counts, index) => {
      const { delivered, failed, p50_ms, p95_ms } = figuresOf(counts);
      return { starts_at: since + index * minutes * MINUTE, delivered, failed, p50_ms, p95_ms };
    }),
  };
}

async function selectCounts(db: Queryable, of: readonly HealthInputs[], since: number): Promise<CountsAt[]> {
  const { rows } = await db.query<CountsAt>({
    name: 'select_webhook_counts',
    text: `select c.endpoint_id, c.at, c.delivered, c.failed, c.latencies, c.last_success_at as "lastSuccessAt"
      from unnest($1::uuid[], $2::uuid[]) e (company_id, id)
      join webhook_counts c on c.company_id = e.company_id and c.endpoint_id = e.id and c.at >= $3`,
    values: [of.map(({ company_id }) => company_id), of.map(({ id }) => id), formatInstant(since)],
  });
  return rows;
}

async function selectBacklogs(db: Queryable, of: readonly HealthInputs[]): Promise<Map<string, Backlog>> {
  const { rows } = await db.query<Backlog>({
    name: 'select_webhook_backlogs',
    text: `select e.id, w.waiting, w.oldest, s.last_success_at
      from unnest($1::uuid[], $2::uuid[]) e (company_id, id)
      cross join lateral (
        select count(*) as waiting, min(q.delivery_id::text) filter (where not q.forced) as oldest from (
          select delivery_id, forced from webhook_queue where endpoint_id = e.id and leased_until is null order by due_at, sequence limit ${MOST_COUNTED}) q) w
      left join lateral (
        select c.last_success_at from webhook_counts c where c.company_id = e.company_id and c.endpoint_id = e.id and c.last_success_at is not null
        order by c.at desc limit 1) s on true`,
    values: [of.map(({ company_id }) => company_id), of.map(({ id }) => id)],
  });
  return new Map(rows.map((row) => [row.id, row]));
}

const SPANS: Readonly<Partial<Record<WebhookHealthPeriod, Span>>> = {
  [WebhookHealthPeriod.HOUR]: { minutes: 1, buckets: 60 },
  [WebhookHealthPeriod.DAY]: { minutes: 15, buckets: 96 },
  [WebhookHealthPeriod.WEEK]: { minutes: 60, buckets: 168 },
};
const SECOND = 1_000_000;

async function get({ database }: Context, request: GetWebhookHealthRequest): Promise<GetWebhookHealthResponse> {
  const companyId = companyOf(request);
  const { period } = checked('GetWebhookHealthRequest', request);
  const span = SPANS[period];
  if (span === undefined) throw ApiError.internal(new Error('a read of health came without its period'));
  const own = database.of(companyId);
  const [input] = await selectHealthInputs(own, companyId, request.key?.id ?? '');
  if (input === undefined) throw ApiError.notFound('webhook endpoint');
  const at = now();
  const since = sinceOf(span, at);
  const { sum, buckets } = seriesOf(await selectCounts(own, [input], since), span, at);
  const seconds = span.minutes * 60;
  return { data: { period, since, until: since + span.buckets * seconds * SECOND, bucket_seconds: seconds, ...figuresOf(sum), buckets } };
}

export const webhookHealth = { getWebhookHealth: get };

async function count({ database }: Context, request: CountEndpointsRequest): Promise<CountEndpointsResponse> {
  const { company_id: companyId } = checked('CountEndpointsRequest', request);
  const at = now();
  const states = (await selectHealthInputs(database.of(companyId), companyId)).map((input) => stateOf(input, at));
  const having = (wanted: WebhookHealthState): number => states.filter((state) => state === wanted).length;
  return { failing: having(WebhookHealthState.FAILING), paused: having(WebhookHealthState.PAUSED) };
}

export const endpointCounts = { countEndpoints: count };
