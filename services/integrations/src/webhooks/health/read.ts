// Reports endpoints' health (docs/how-to/webhooks.md, Health).
import { formatInstant, now } from '@truckroll/contract';
import { WebhookCircuitState, type WebhookHealth, type WebhookHealthBucket } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import type { Queryable } from '@truckroll/postgres';
import { add, noCounts, quantile, startOf, successRate, type Counts } from './counts.ts';
import { timeOfDelivery } from '../log/delivery-id.ts';
import { stateOf, type EndpointStanding } from './standing.ts';

const MINUTE = 60_000_000;
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

export async function readHealth(db: Queryable, standings: readonly EndpointStanding[], at = now()): Promise<Map<string, WebhookHealth>> {
  const [counts, backlogs] = await Promise.all([selectCounts(db, standings, sinceOf(HOURS, at)), selectBacklogs(db, standings)]);
  const countsOf = Map.groupBy(counts, ({ endpoint_id: id }) => id);
  return new Map(
    standings.map((standing) => {
      const { sum, buckets: hours } = seriesOf(countsOf.get(standing.id) ?? [], HOURS, at);
      const { waiting = 0, oldest = null, last_success_at = null } = backlogs.get(standing.id) ?? {};
      return [
        standing.id,
        {
          state: stateOf(standing, at),
          circuit: circuitOf(standing, at),
          failing_since: standing.failing_since,
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

function circuitOf({ circuit_open_until: until, due_at: dueAt }: EndpointStanding, at: number): NonNullable<WebhookHealth['circuit']> {
  if (until === null) return { state: WebhookCircuitState.CLOSED, next_try_at: null };
  const next = Math.max(until, dueAt ?? until);
  return { state: until > at ? WebhookCircuitState.OPEN : WebhookCircuitState.HALF_OPEN, next_try_at: next > at ? next : null };
}

export function figuresOf(counts: Counts) {
  const { delivered, failed } = counts;
  return { delivered, failed, success_rate: successRate(counts), p50_ms: quantile(counts, 0.5), p95_ms: quantile(counts, 0.95) };
}

/** Start of the first bucket, in microseconds since 1970. */
export function sinceOf({ minutes, buckets }: Span, at: number): number {
  return startOf(at, minutes) - (buckets - 1) * minutes * MINUTE;
}

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

export async function selectCounts(db: Queryable, of: readonly EndpointStanding[], since: number): Promise<CountsAt[]> {
  const { rows } = await db.query<CountsAt>({
    name: 'select_webhook_counts',
    text: `select c.endpoint_id, c.at, c.delivered, c.failed, c.latencies, c.last_success_at as "lastSuccessAt"
      from unnest($1::uuid[], $2::uuid[]) e (company_id, id)
      join webhook_counts c on c.company_id = e.company_id and c.endpoint_id = e.id and c.at >= $3`,
    values: [of.map(({ company_id }) => company_id), of.map(({ id }) => id), formatInstant(since)],
  });
  return rows;
}

async function selectBacklogs(db: Queryable, of: readonly EndpointStanding[]): Promise<Map<string, Backlog>> {
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
