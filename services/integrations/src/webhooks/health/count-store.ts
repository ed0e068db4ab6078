// Stores counts, and merges old ones into longer periods, so that an endpoint has fewer than a thousand rows, however busy it is.
import { formatInstant, now } from '@truckroll/contract';
import { notFreezing, type Database, type Statement } from '@truckroll/postgres';
import { PeriodicTask, logOutage, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { LATENCY_BOUNDS, gathered, startOf, type CountsRow } from './counts.ts';
import { KEPT_DAYS } from '../log/partitions.ts';

const EVERY_MS = 60_000;
const MINUTE = 60_000_000;
const MOST_ROWS = 2000;

/** Charts show the last hour in minutes and the last day in quarter-hours, so only older counts are merged. Ages in microseconds. */
const STEPS = [
  { from: 1, to: 15, after: 75 * MINUTE },
  { from: 15, to: 60, after: 25 * 60 * MINUTE },
] as const;

/** SQL that adds the arrays element by element, which is several times faster than a subquery over both. */
const ADDED_LATENCIES = Array.from({ length: LATENCY_BOUNDS.length + 1 }, (_, index) => `c.latencies[${index + 1}] + excluded.latencies[${index + 1}]`).join();

/** Adds to stored counts. Takes rows as `gathered` returns them: one for each endpoint and period, in the order in which they are locked. */
export function addToCounts(rows: readonly CountsRow[]): Statement {
  const of = <T>(pick: (row: CountsRow) => T): T[] => rows.map(pick);
  return {
    name: 'add_to_webhook_counts',
    text: `insert into webhook_counts as c (company_id, endpoint_id, at, minutes, delivered, failed, latencies, last_success_at)
      select company_id, endpoint_id, at, minutes, delivered, failed, latencies::integer[], last_success_at
      from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::smallint[], $5::bigint[], $6::bigint[], $7::text[], $8::timestamptz[])
        with ordinality g (company_id, endpoint_id, at, minutes, delivered, failed, latencies, last_success_at, ordinal) order by ordinal
      on conflict (company_id, endpoint_id, at, minutes) do update set
        delivered = c.delivered + excluded.delivered, failed = c.failed + excluded.failed,
        latencies = array[${ADDED_LATENCIES}],
        last_success_at = greatest(c.last_success_at, excluded.last_success_at)`,
    values: [
      of(({ companyId }) => companyId),
      of(({ endpointId }) => endpointId),
      of(({ at }) => formatInstant(at)),
      of(({ minutes }) => minutes),
      of(({ delivered }) => delivered),
      of(({ failed }) => failed),
      of(({ latencies }) => `{${latencies.join(',')}}`),
      of(({ lastSuccessAt }) => (lastSuccessAt === null ? null : formatInstant(lastSuccessAt))),
    ],
  };
}

/** Merges and deletes old counts once a minute. */
export function countKeeping(database: Database, log: Logger): BackgroundPart {
  let failures = 0;
  const keeping: PeriodicTask = new PeriodicTask(EVERY_MS, async () => {
    try {
      await keepCounts(database, now(), () => keeping.stopped);
      failures = 0;
    } catch (error) {
      failures += 1;
      logOutage(log, 'counts of webhook attempts wait for the database', failures, error);
    }
  });
  return { name: 'webhook counts', start: async () => keeping.start(), stop: () => keeping.stop() };
}

/** Merges and deletes counts that are old enough. Replicas share the work. */
export async function keepCounts(database: Database, at: number, stopped: () => boolean = () => false): Promise<void> {
  for (const { from, to, after } of STEPS) {
    const before = startOf(at - after, to);
    while (!stopped() && (await gatherSome(database, from, to, before)) === MOST_ROWS);
  }
  const oldest = formatInstant(at - KEPT_DAYS * 24 * 60 * MINUTE);
  while (!stopped() && (await takeSome(database, 60, oldest)).length === MOST_ROWS);
}

async function gatherSome(database: Database, from: 1 | 15, to: 15 | 60, before: number): Promise<number> {
  return await database.transaction(
    async (tx) => {
      const rows = await takeSome(tx, from, formatInstant(before));
      if (rows.length > 0) await tx.query(addToCounts(gathered(rows.map((row) => ({ ...row, at: startOf(row.at, to), minutes: to })))));
      return rows.length;
    },
    { retryContention: true },
  );
}

/** Deletes and returns up to MOST_ROWS rows, skipping those that another replica is taking. */
async function takeSome(db: Pick<Database, 'query'>, minutes: CountsRow['minutes'], before: string): Promise<CountsRow[]> {
  const { rows } = await db.query<CountsRow>({
    name: 'take_webhook_counts',
    text: `delete from webhook_counts c using (
        select company_id, endpoint_id, at, minutes from webhook_counts where minutes = $1 and at < $2 and ${notFreezing('webhook_counts.company_id')} order by at limit ${MOST_ROWS} for update skip locked) o
      where c.company_id = o.company_id and c.endpoint_id = o.endpoint_id and c.at = o.at and c.minutes = o.minutes
      returning c.company_id as "companyId", c.endpoint_id as "endpointId", c.at, c.minutes, c.delivered, c.failed, c.latencies,
        c.last_success_at as "lastSuccessAt"`,
    values: [minutes, before],
  });
  return rows;
}
