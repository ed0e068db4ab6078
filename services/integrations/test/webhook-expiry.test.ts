// Tests every time limit in a statement on both sides, to the microsecond.
import { formatInstant, now } from '@truckroll/contract';
import { forgetDeadLetters } from '@truckroll/outbox';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { pinClock, type PinnedClock } from '@truckroll/testing';
import type { Context } from '../src/context.ts';
import { fanOut } from '../src/webhooks/events/fan-out.ts';
import { storeAttempts } from '../src/webhooks/queue/report.ts';
import { deliveryCounter } from '../src/webhooks/health/metrics.ts';
import { skipQueued } from '../src/webhooks/queue/skip.ts';
import { readHealth, selectHealthInputs } from '../src/webhooks/health/read.ts';
import { noCounts } from '../src/webhooks/health/counts.ts';
import { addToCounts, keepCounts } from '../src/webhooks/health/count-store.ts';
import { lease, renew } from '../src/webhooks/queue/lease.ts';
import { Partitions, oldestDay } from '../src/webhooks/log/partitions.ts';
import { DAY, SECOND, reportOf, startDesk, type LeaseOptions } from './webhooks.ts';

const HOUR = 3600 * SECOND;
/** Later than all times that the tests store by the real clock. */
const T = Math.ceil(now() / HOUR) * HOUR + HOUR;

let desk: Awaited<ReturnType<typeof startDesk>>;
let clock: PinnedClock;
let context: Context;
beforeAll(async () => {
  desk = await startDesk();
  clock = await pinClock(desk.database.url, 'integrations');
  const { database } = clock;
  const secrets = { seal: (_: string, secret: Uint8Array) => Buffer.from(secret), open: (_: string, sealed: Buffer) => sealed };
  const deliveries = deliveryCounter(createMetrics('test'));
  context = { database, secrets, deliveries, partitions: new Partitions(database, silentLog), log: silentLog } as unknown as Context;
}, 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(async () => {
  await clock.close();
  await desk.stop();
});

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;

async function leasedAt(at: number, options: LeaseOptions = {}) {
  await clock.set(at);
  return await lease(context, desk.asked(options));
}

async function queued(): Promise<Endpoint> {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  return one;
}

test('signs with the old secret too for 24 hours after a rotation', async () => {
  const one = await queued();
  const before = now();
  await desk.webhooks.rotateWebhookSecret({ caller: one.caller, id: one.id });
  const [rotated] = await desk.sql('select previous_secret_until as until from webhook_endpoints where id = $1', [one.id]);
  expect(rotated!['until']).toBeGreaterThanOrEqual(before + DAY);
  expect(rotated!['until']).toBeLessThanOrEqual(now() + DAY);

  const { until } = rotated as { until: number };
  const counts = async (at: number) => {
    const found = (await leasedAt(at)).deliveries.map(({ secrets }) => secrets.length);
    await desk.sql('delete from webhook_queue');
    const stored = await fanOut(context, { events: [one.event()], dead_letter_ids: [], lease: desk.asked({}) });
    return [...found, ...stored.deliveries.map(({ secrets }) => secrets.length)];
  };
  expect(await counts(until - 1)).toEqual([2, 2]);
  await desk.sql('update webhook_queue set leased_until = null, lease_token = null, worker = null');
  expect(await counts(until)).toEqual([1, 1]);
});

test('leases a delivery for 40 seconds', async () => {
  const one = await queued();
  expect((await leasedAt(T)).deliveries).toMatchObject([{ endpoint_id: one.id, lease_expires_at: T + 40 * SECOND }]);
  expect((await leasedAt(T + 40 * SECOND - 1)).deliveries).toEqual([]);
  expect((await leasedAt(T + 40 * SECOND)).deliveries).toMatchObject([{ endpoint_id: one.id }]);

  await desk.sql('delete from webhook_queue');
  const { deliveries } = await fanOut(context, { events: [one.event()], dead_letter_ids: [], lease: desk.asked({}) });
  expect(deliveries).toMatchObject([{ lease_expires_at: T + 80 * SECOND }]);
});

test.each([
  ['a delivery is due', 'update webhook_queue set due_at = $1, tried = true'],
  ['the pause of its endpoint ends', 'update webhook_endpoints set resume_at = $1 where id in (select endpoint_id from webhook_queue)'],
  ['what a user requested is due', 'update webhook_queue set due_at = $1, forced = true'],
])('leases a delivery once %s', async (_, statement) => {
  await queued();
  await desk.sql(statement, [formatInstant(T)]);
  const early = await leasedAt(T - 1);
  expect(early.deliveries).toEqual([]);
  if (!statement.includes('forced')) expect(early.next_due_at).toBe(T);
  const { deliveries, next_due_at } = await leasedAt(T);
  expect([deliveries.length, next_due_at]).toEqual([1, null]);
});

test.each([
  ['an older one is due', 'update webhook_queue set due_at = $1'],
  ['its endpoint pauses', 'update webhook_endpoints set resume_at = $1 where id in (select endpoint_id from webhook_queue)'],
])('leases a new event while storing it, unless %s', async (what, statement) => {
  const one = await queued();
  await desk.sql(statement, [formatInstant(T)]);
  if (what !== 'an older one is due') await desk.sql('delete from webhook_queue');
  const older = (await desk.sql('select delivery_id from webhook_queue')).map(({ delivery_id }) => delivery_id);
  const leases = async (at: number) => {
    await clock.set(at);
    const { deliveries } = await fanOut(context, { events: [one.event()], dead_letter_ids: [], lease: desk.asked({}) });
    await desk.sql('delete from webhook_queue where delivery_id <> all($1)', [older]);
    return deliveries.length;
  };
  const [before, after] = [await leases(T - 1), await leases(T)];
  expect([before, after]).toEqual(what === 'an older one is due' ? [1, 0] : [0, 1]);
});

test('answers a report that more is due for the endpoint, once it is due', async () => {
  const one = await queued();
  const { deliveries } = await leasedAt(T);
  await desk.fanOut(one.event());
  await desk.sql('update webhook_queue set due_at = $1 where leased_until is null', [formatInstant(T)]);
  const more = async (at: number) => {
    await clock.set(at);
    const [answer] = await clock.database.transaction((tx) => storeAttempts(tx, [reportOf(deliveries[0]!)]));
    return answer!.more_due;
  };
  expect([await more(T - 1), await more(T)]).toEqual([false, true]);
});

test('skips a queued delivery of a disabled endpoint once its lease is over', async () => {
  const one = await queued();
  await leasedAt(T);
  const skip = async (at: number) => {
    await clock.set(at);
    await clock.database.transaction((tx) => skipQueued(tx, one.company.id, one.id));
    return (await one.deliveries()).map(({ status }) => status);
  };
  expect(await skip(T + 40 * SECOND - 1)).toEqual(['DELIVERY_STATUS_PENDING']);
  expect(await skip(T + 40 * SECOND)).toEqual(['DELIVERY_STATUS_SKIPPED']);
});

describe('a worker', () => {
  afterEach(() => desk.sql('delete from webhook_workers'));

  const renewed = async (worker_id: string, at: number) => {
    await clock.set(at);
    await renew(context, { worker_id, leaving: false });
  };

  async function leasedTo(worker: string): Promise<void> {
    await queued();
    expect((await leasedAt(T, { worker })).deliveries).toHaveLength(1);
  }

  test.each([
    [4 * SECOND, 0],
    [4 * SECOND + 1, 1],
  ])('that is silent for %i µs has lost %i deliveries', async (silence, lost) => {
    await renewed('silent', T);
    await leasedTo('silent');
    for (const at of [T + SECOND, T + 2 * SECOND + 1, T + silence]) await renewed('other', at);
    expect((await leasedAt(T + silence, { worker: 'other' })).deliveries).toHaveLength(lost);
  });

  test.each([
    [2 * SECOND, 1],
    [2 * SECOND + 1, 0],
  ])('that is silent while no worker renews for %i µs has lost %i deliveries', async (outage, lost) => {
    await renewed('silent', T);
    await leasedTo('silent');
    const last = T + 3 * SECOND;
    for (const at of [T + SECOND, T + 2 * SECOND, last, last + outage]) await renewed('other', at);
    expect((await leasedAt(last + outage, { worker: 'other' })).deliveries).toHaveLength(lost);
  });
});

test('counts attempts of the last hour and of the last 24 hours', async () => {
  const one = await desk.endpoint();
  await desk.sql(
    `insert into webhook_counts (company_id, endpoint_id, at, minutes, delivered, failed, latencies) values ($1, $2, $3, 1, 3, 1, array_fill(0, array[21]))`,
    [one.company.id, one.id, formatInstant(T)],
  );
  const input = async (at: number) => {
    await clock.set(at);
    const [found] = await selectHealthInputs(clock.database, one.company.id, one.id);
    return [found!.delivered, found!.failed, found!.active];
  };
  expect(await input(T + HOUR - 1)).toEqual([3, 1, true]);
  expect(await input(T + HOUR)).toEqual([0, 0, true]);
  expect(await input(T + DAY - 1)).toEqual([0, 0, true]);
  expect(await input(T + DAY)).toEqual([0, 0, false]);
});

test('shows the 24 hours up to the current one, from the first minute of the first on', async () => {
  const one = await desk.endpoint();
  const first = T - 23 * HOUR;
  for (const [at, delivered] of [
    [first - 60 * SECOND, 5],
    [first, 3],
    [T, 1],
  ] as const)
    await desk.sql(
      `insert into webhook_counts (company_id, endpoint_id, at, minutes, delivered, failed, latencies) values ($1, $2, $3, 1, $4, 0, array_fill(0, array[21]))`,
      [one.company.id, one.id, formatInstant(at), delivered],
    );
  const { delivered, hours } = (await readHealth(clock.database, await selectHealthInputs(clock.database, one.company.id, one.id), T)).get(one.id)!;
  expect(delivered).toBe(4);
  expect(hours.map((hour) => [hour.starts_at, hour.delivered]).filter(([, count]) => count !== 0)).toEqual([
    [first, 3],
    [T, 1],
  ]);
  expect(hours).toHaveLength(24);
});

test('shows a circuit as open until its time, and the time of its next test only while it is in the future', async () => {
  const one = await queued();
  await desk.sql('update webhook_endpoints set circuit_open_until = $2 where id = $1', [one.id, formatInstant(T)]);
  const circuit = async (at: number) =>
    (await readHealth(clock.database, await selectHealthInputs(clock.database, one.company.id, one.id), at)).get(one.id)!.circuit;
  expect(await circuit(T - 1)).toEqual({ state: 'WEBHOOK_CIRCUIT_STATE_OPEN', next_try_at: T });
  expect(await circuit(T)).toEqual({ state: 'WEBHOOK_CIRCUIT_STATE_HALF_OPEN', next_try_at: null });
  await desk.sql('update webhook_queue set due_at = $1', [formatInstant(T + SECOND)]);
  expect(await circuit(T + SECOND - 1)).toEqual({ state: 'WEBHOOK_CIRCUIT_STATE_HALF_OPEN', next_try_at: T + SECOND });
  expect(await circuit(T + SECOND)).toEqual({ state: 'WEBHOOK_CIRCUIT_STATE_HALF_OPEN', next_try_at: null });
});

test('keeps the latest success of a period, in whatever order its counts are stored', async () => {
  const one = await desk.endpoint();
  for (const lastSuccessAt of [T + 2, T + 1, null])
    await clock.database.query(addToCounts([{ ...noCounts(), companyId: one.company.id, endpointId: one.id, at: T, minutes: 1, lastSuccessAt }]));
  expect(await desk.sql('select last_success_at as at from webhook_counts where endpoint_id = $1', [one.id])).toEqual([{ at: T + 2 }]);
});

test('merges counts of minutes after 75 minutes and of quarter-hours after 25 hours, and drops those of hours after 30 days', async () => {
  const one = await desk.endpoint();
  await desk.sql(
    `insert into webhook_counts (company_id, endpoint_id, at, minutes, delivered, failed, latencies) values ($1, $2, $3, 1, 1, 0, array_fill(0, array[21]))`,
    [one.company.id, one.id, formatInstant(T)],
  );
  const widths = async (at: number) => {
    await keepCounts(clock.database, at);
    return (await desk.sql('select minutes from webhook_counts where endpoint_id = $1', [one.id])).map(({ minutes }) => minutes);
  };
  // A period is merged once all of it is old enough. T is the start of a quarter-hour and of an hour.
  expect(await widths(T + 90 * 60 * SECOND - 1)).toEqual([1]);
  expect(await widths(T + 90 * 60 * SECOND)).toEqual([15]);
  expect(await widths(T + 26 * HOUR - 1)).toEqual([15]);
  expect(await widths(T + 26 * HOUR)).toEqual([60]);
  expect(await widths(T + 30 * DAY)).toEqual([60]);
  expect(await widths(T + 30 * DAY + 1)).toEqual([]);
});

test('keeps dead letters for the number of days given', async () => {
  await desk.sql(`insert into parked_event (consumer, topic, partition, log_offset, headers, reason, parked_at) values ('expiry', 't', 0, 0, '{}', 'r', $1)`, [
    formatInstant(T),
  ]);
  const forgotten = async (at: number) => {
    await clock.set(at);
    return await forgetDeadLetters(clock.database, 'expiry', 14);
  };
  expect(await forgotten(T + 14 * DAY)).toBe(0);
  expect(await forgotten(T + 14 * DAY + 1)).toBe(1);
});

test('stores an event from the first instant of the oldest day that it keeps', async () => {
  const one = await desk.endpoint();
  const oldest = Date.parse(oldestDay()) * 1000;
  expect(await desk.fanOut(one.event({ timestamp: oldest - 1 }))).toMatchObject({ pending: 0, skipped: 0 });
  expect(await desk.fanOut(one.event({ timestamp: oldest }))).toMatchObject({ pending: 1, skipped: 0 });
});

test('keeps the thirty days before today', () => {
  expect([oldestDay(31 * DAY - 1), oldestDay(31 * DAY)]).toEqual(['1970-01-01', '1970-01-02']);
});

test('recovers events from `since` until just before `until`', async () => {
  const one = await desk.endpoint({ enabled: false });
  const at = now() - HOUR;
  const events = [-1, 0, 999, 1000].map((later) => one.event({ timestamp: at + later }));
  await desk.fanOut(...events);
  await desk.webhooks.recoverWebhook({ caller: one.caller, id: one.id, since: at, until: at + 1000 });
  const recovered = new Set((await one.deliveries()).filter(({ status }) => status === 'DELIVERY_STATUS_PENDING').map(({ event_id }) => event_id));
  expect(events.map(({ id }) => recovered.has(id))).toEqual([false, true, true, false]);
});
