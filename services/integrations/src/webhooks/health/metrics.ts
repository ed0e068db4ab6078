// Metrics of the webhook backlog and of endpoints' health, for the whole system and never by company.
import type { Database } from '@truckroll/postgres';
import { logOutage, pause, type BackgroundPart } from '@truckroll/process';
import type { CounterMetric, Logger, Metrics } from '@truckroll/telemetry';
import type { DeliveryState } from './rules.ts';

const EVERY_MS = 10_000;
/** Minimum ratio of the pause to the duration of a measurement, which is expensive for a long queue. */
const PAUSE_RATIO = 20;

export type DeliveryCounter = CounterMetric<'state'>;

export function deliveryCounter(metrics: Metrics): DeliveryCounter {
  return metrics.counter(
    'webhook_deliveries_total',
    'Deliveries by the state that they came to: pending (new), succeeded, failed (given up), skipped (endpoint disabled)',
    ['state'],
  );
}

export function count(counter: DeliveryCounter, state: DeliveryState, by = 1): void {
  if (by > 0) counter.inc({ state: state.toLowerCase() }, by);
}

const CONDITIONS = ['well', 'limited', 'failing', 'paused'] as const;
const ENDPOINTS = ['well', 'failing', 'paused', 'disabled'] as const;
const STATES = ['due', 'under_way', 'retrying'] as const;

type Row = Record<(typeof STATES)[number], number> & { endpoints: string; oldest: number };

/** Measures every ten seconds, or less often if it takes long: at most a twentieth of the time. */
export function webhookMetrics(database: Database, log: Logger, metrics: Metrics): BackgroundPart {
  const queue = metrics.gauge(
    'webhook_backlog',
    'Deliveries to be sent: due now, under way, or retrying later; to endpoints that are well, well with a rate limit, failing or paused, reported by every replica',
    ['endpoints', 'state'],
  );
  const oldest = metrics.gauge('webhook_backlog_oldest_seconds', 'For how long the oldest of those that are due has been due', ['endpoints']);
  const endpoints = metrics.gauge(
    'webhook_endpoints',
    'Endpoints that are well, failing since their last success, paused, or disabled (by a user or by failures)',
    ['state'],
  );
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function measure(): Promise<void> {
    const [{ rows: waiting }, { rows: counted }] = await Promise.all([
      database.query<Row>({
        name: 'measure_webhook_queue',
        text: `select case when e.paused_at is not null then 'paused' when e.failing_since is not null then 'failing'
            when e.max_per_second is not null then 'limited' else 'well' end as endpoints,
            count(*) filter (where q.leased_until is null and q.due_at <= now()) as due,
            count(*) filter (where q.leased_until is not null) as under_way,
            count(*) filter (where q.leased_until is null and q.due_at > now()) as retrying,
            coalesce(extract(epoch from now() - min(q.due_at) filter (where q.leased_until is null and q.due_at <= now())), 0)::float8 as oldest
          from webhook_queue q join webhook_endpoints e on e.id = q.endpoint_id group by 1`,
      }),
      database.query<{ state: string; count: number }>({
        name: 'count_webhook_endpoints',
        text: `select case when not enabled then 'disabled' when paused_at is not null then 'paused' when failing_since is null then 'well' else 'failing' end as state, count(*) as count
          from webhook_endpoints where deleted_at is null group by 1`,
      }),
    ]);
    for (const condition of CONDITIONS) {
      const row = waiting.find(({ endpoints: of }) => of === condition);
      for (const state of STATES) queue.set({ endpoints: condition, state }, row?.[state] ?? 0);
      oldest.set({ endpoints: condition }, row?.oldest ?? 0);
    }
    for (const state of ENDPOINTS) endpoints.set({ state }, counted.find((row) => row.state === state)?.count ?? 0);
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      const startedAt = performance.now();
      try {
        await measure();
        failures = 0;
      } catch (error) {
        failures += 1;
        logOutage(log, 'webhook metrics wait for the database', failures, error);
      }
      await pause(Math.max(EVERY_MS, PAUSE_RATIO * (performance.now() - startedAt)), stopping.signal);
    }
  }

  return {
    name: 'webhook metrics',
    async start() {
      running = run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
