import { randomUUID } from 'node:crypto';
import { formatInstant, now } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { addToCounts } from '../src/webhooks/health/count-store.ts';
import { noCounts, type CountsRow } from '../src/webhooks/health/counts.ts';
import { storeHealth } from '../src/webhooks/queue/health-change.ts';
import { DAY, FAILURE, SECOND, startDesk } from './webhooks.ts';

const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

let desk: Awaited<ReturnType<typeof startDesk>>;
let database: Database;
beforeAll(async () => {
  desk = await startDesk();
  database = desk.openDatabase();
}, 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;

const redeliver = ({ caller, id: webhook_id }: Endpoint, id: string) => desk.log.redeliverWebhooks({ caller, webhook_id, delivery_ids: [id] });
const idsOf = (leased: { delivery_id: string }[]) => leased.map(({ delivery_id: id }) => id);
const statusesOf = async (one: Endpoint) => (await one.deliveries()).map(({ status }) => status.replace('DELIVERY_STATUS_', ''));
const endLeases = () => desk.sql('update webhook_queue set leased_until = now() where leased_until is not null');
const healthOf = async (one: Endpoint) => (await one.read()).health!;

async function leased() {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  const [delivery] = await desk.lease();
  return { one, delivery: delivery! };
}

describe('a redelivery', () => {
  test('does not wait for the retry of its delivery, and starts a new retry schedule', async () => {
    const { one, delivery } = await leased();
    await desk.report(delivery, FAILURE);
    await desk.sql(`update webhook_queue set due_at = now(), failures = 5`);
    const [again] = await desk.lease();
    await desk.report(again!, FAILURE);
    expect(await desk.lease()).toEqual([]);
    await redeliver(one, delivery.delivery_id);
    const [probe] = await desk.lease();
    expect(probe).toMatchObject({ delivery_id: delivery.delivery_id, probe: true });
    const at = now();
    const { next_attempt_at } = await desk.report(probe!, { ...FAILURE, ended_at: at });
    expect(next_attempt_at! - at).toBeLessThanOrEqual(6 * SECOND);
  });

  test('does not make later events of its subject wait', async () => {
    const one = await desk.endpoint();
    const subject = randomUUID();
    const [first, second] = [1, 2].map((sequence) => one.event({ subject, sequence, timestamp: now() + sequence }));
    await desk.fanOut(first!);
    const [delivery] = await desk.lease();
    await desk.report(delivery!);
    await redeliver(one, delivery!.delivery_id);
    await desk.fanOut(second!);
    expect((await desk.lease()).map(({ event_id }) => event_id)).toEqual([first!.id, second!.id]);
  });

  test('is sent by a disabled endpoint, also after its first lease has ended', async () => {
    const { one, delivery } = await leased();
    await desk.report(delivery);
    await one.update({ enabled: false });
    await redeliver(one, delivery.delivery_id);
    expect(idsOf(await desk.lease())).toEqual([delivery.delivery_id]);
    await endLeases();
    expect(idsOf(await desk.lease())).toEqual([delivery.delivery_id]);
    expect(await statusesOf(one)).toEqual(['PENDING']);
  });

  test('stays pending when its endpoint is disabled, which skips the others', async () => {
    const { one, delivery } = await leased();
    await desk.report(delivery);
    await desk.fanOut(one.event({ timestamp: now() + SECOND }));
    await redeliver(one, delivery.delivery_id);
    await one.update({ enabled: false });
    expect(await statusesOf(one)).toEqual(['PENDING', 'SKIPPED']);
  });
});

test('stores no delivery for an endpoint that was deleted', async () => {
  const one = await desk.endpoint();
  await desk.webhooks.deleteWebhook({ caller: one.caller, id: one.id });
  expect(await desk.fanOut(one.event())).toMatchObject({ pending: 0, skipped: 0 });
});

test('leases nothing for an endpoint that was deleted', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event(), one.event());
  await desk.sql('update webhook_queue set forced = true where delivery_id = (select delivery_id from webhook_queue limit 1)');
  await desk.sql('update webhook_endpoints set deleted_at = now() where id = $1', [one.id]);
  expect(await desk.lease()).toEqual([]);
});

test('keeps nothing in its queues and rates for an endpoint that was deleted', async () => {
  const [one, other] = [await desk.endpoint(), await desk.endpoint()];
  await desk.fanOut(one.event(), other.event());
  for (const { id } of [one, other]) {
    await desk.sql(`insert into webhook_recoveries (endpoint_id, since, until, skipped_since) values ($1, now(), now(), now())`, [id]);
    await desk.sql('insert into webhook_replays (endpoint_id, since, until, delivered) values ($1, now(), now(), true)', [id]);
    await desk.sql('insert into webhook_rates (endpoint_id, spent_until) values ($1, now())', [id]);
  }
  await desk.webhooks.deleteWebhook({ caller: one.caller, id: one.id });
  const left = `select 'queue' as of from webhook_queue where endpoint_id = $1 union all select 'rates' from webhook_rates where endpoint_id = $1
    union all select 'recoveries' from webhook_recoveries where endpoint_id = $1 union all select 'replays' from webhook_replays where endpoint_id = $1`;
  expect(await desk.sql(left, [one.id])).toEqual([]);
  // The service may end recoveries and replays at any time.
  expect(await desk.sql(left, [other.id])).toEqual(expect.arrayContaining([{ of: 'queue' }, { of: 'rates' }]));
  expect(await desk.sql('select enabled from webhook_endpoints where id = $1', [one.id])).toEqual([{ enabled: false }]);
});

test('treats the test of an older release, which only its type marks, as a test', async () => {
  const one = await desk.endpoint();
  const since = now() - HOUR;
  await desk.webhooks.testWebhook({ caller: one.caller, id: one.id });
  const [probe] = await desk.lease();
  await desk.sql('update webhook_deliveries set test = false where id = $1', [probe!.delivery_id]);
  expect(await one.deliveries()).toMatchObject([{ test: true }]);
  expect(await desk.report(probe!, FAILURE)).toMatchObject({ status: 'DELIVERY_STATUS_FAILED', next_attempt_at: null });
  expect((await desk.webhooks.recoverWebhook({ caller: one.caller, id: one.id, since })).data).toEqual({ queued: 0, remaining: 0 });
});

test('a redelivery leaves a delivery that is due where it is in the queue', async () => {
  const one = await desk.endpoint();
  const [first, second] = [one.event(), one.event({ timestamp: now() + SECOND })];
  await desk.fanOut(first, second);
  const leased = await desk.lease();
  for (const delivery of leased) await desk.report(delivery, FAILURE);
  const due = [now() - 2 * MINUTE, now() - MINUTE];
  const ids = idsOf(leased).toSorted();
  for (const [index, id] of ids.entries()) await desk.sql('update webhook_queue set due_at = $2 where delivery_id = $1', [id, formatInstant(due[index]!)]);
  await redeliver(one, ids[0]!);
  expect(await desk.sql('select due_at, forced from webhook_queue order by due_at')).toEqual([
    { due_at: due[0], forced: true },
    { due_at: due[1], forced: false },
  ]);
});

test('keeps an unreadable event whatever its texts contain', async () => {
  const texts = { event_id: 'e\0', type: 't\0', source: 's\ud800', company_id: 'c\0', key: 'k\0', reason: 'r\0', people: 'p\0' };
  const letter = {
    ...texts,
    id: 0,
    topic: 'truckroll.scheduling.service-requests',
    partition: 1,
    log_offset: '5',
    time: now(),
    sequence: 1,
    version: 1,
    payload: null,
  };
  await desk.deliveries.setAside({ letters: [{ ...letter, request_id: null, traceparent: null }] });
  const { letters } = await desk.deliveries.readDeadLetters({ after: 0 });
  const shown = { event_id: 'e\uFFFD', type: 't\uFFFD', source: 's\uFFFD', company_id: 'c\uFFFD', key: 'k\uFFFD', reason: 'r\uFFFD', people: 'p\uFFFD' };
  expect(letters).toMatchObject([{ ...shown, log_offset: '5', payload: null }]);
  await desk.sql('delete from parked_event');
});

test('recovers failed events, and no failed tests', async () => {
  const { one, delivery } = await leased();
  const since = now() - HOUR;
  await desk.report(delivery, FAILURE);
  await desk.webhooks.testWebhook({ caller: one.caller, id: one.id });
  const [probe] = await desk.lease();
  await desk.report(probe!, FAILURE);
  await desk.sql(`update webhook_deliveries set state = 'FAILED' where id = $1`, [delivery.delivery_id]);
  await desk.sql('delete from webhook_queue');
  expect((await statusesOf(one)).toSorted()).toEqual(['FAILED', 'FAILED']);
  expect((await desk.webhooks.recoverWebhook({ caller: one.caller, id: one.id, since })).data).toEqual({ queued: 1, remaining: 0 });
  expect(idsOf(await desk.lease())).toEqual([delivery.delivery_id]);
});

test('answers when the next retry is due, not when a new delivery waits for its subject', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event(), one.event());
  const [due, retried] = [now() + HOUR, now() + 2 * HOUR];
  await desk.sql('update webhook_queue set due_at = $1', [formatInstant(due)]);
  const next = async () => (await desk.deliveries.lease(desk.asked({}))).next_due_at;
  expect(await next()).toBeNull();
  await desk.sql('update webhook_queue set due_at = $1, tried = true where delivery_id = (select delivery_id from webhook_queue limit 1)', [
    formatInstant(retried),
  ]);
  expect(await next()).toBe(retried);
});

test('leases as many large events as one answer holds, and says that the others are due', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event(), one.event(), one.event());
  await desk.sql(`update webhook_events set body = convert_to(repeat('x', 3000000), 'UTF8') where company_id = $1`, [one.company.id]);
  const leasing = () => desk.deliveries.lease(desk.asked({}));
  const [first, second] = [await leasing(), await leasing()];
  expect([first.deliveries.length, second.deliveries.length]).toEqual([2, 1]);
  expect(first.next_due_at).toBeLessThanOrEqual(now());
  expect(second.next_due_at).toBeNull();
});

test('lists deliveries of events from a time until just before another', async () => {
  const one = await desk.endpoint();
  const at = now() - HOUR;
  const events = [-1, 0, 999, 1000].map((later) => one.event({ timestamp: at + later }));
  await desk.fanOut(...events);
  const collection = { company_id: one.company.id, time_zone: 'America/Chicago', limit: 100, after: Buffer.alloc(0), ids: [] };
  const { data } = await desk.log.listWebhookDeliveries({
    collection: { ...collection, created_from: at, created_before: at + 1000 },
    webhook_id: one.id,
    status: [],
    event_type: [],
    progress: [],
  });
  expect(data.map(({ created_at }) => created_at - at).toSorted()).toEqual([0, 999]);
});

test('shows the next attempt after the pause and the open circuit of its endpoint, except of what a user requested', async () => {
  const { one, delivery } = await leased();
  await desk.report(delivery, FAILURE);
  const [due, later] = [now() + MINUTE, now() + HOUR];
  await desk.sql('update webhook_queue set due_at = $1', [formatInstant(due)]);
  const next = async () => (await one.deliveries())[0]!.next_attempt_at;
  expect(await next()).toBe(due);
  for (const column of ['resume_at', 'circuit_open_until']) {
    await desk.sql(`update webhook_endpoints set ${column} = $2 where id = $1`, [one.id, formatInstant(later)]);
    expect(await next()).toBe(later);
    await desk.sql('update webhook_queue set forced = true, failures = 0');
    expect(await next()).toBe(due);
    await desk.sql('update webhook_queue set failures = 1');
    await desk.sql(`update webhook_endpoints set ${column} = null where id = $1`, [one.id]);
  }
});

test('counts in the backlog what is not leased, and takes its age from events, not from redeliveries', async () => {
  const { one, delivery } = await leased();
  const old = now() - 20 * MINUTE;
  const [young, older] = [now() - 10 * MINUTE, old].map((timestamp) => one.event({ timestamp }));
  await desk.fanOut(young!, older!);
  expect(await healthOf(one)).toMatchObject({ backlog: 2, oldest_waiting_at: Math.floor(old / 1000) * 1000 });
  await desk.sql('update webhook_queue q set forced = true from webhook_deliveries d where d.id = q.delivery_id and d.event_id = $1', [older!.id]);
  expect(await healthOf(one)).toMatchObject({ backlog: 2, oldest_waiting_at: Math.floor(young!.timestamp / 1000) * 1000 });
  await desk.sql('delete from webhook_queue where delivery_id <> $1', [delivery.delivery_id]);
  expect(await healthOf(one)).toMatchObject({ backlog: 0, oldest_waiting_at: null });
});

test('judges an endpoint late by its first waiting delivery, not by one that is leased', async () => {
  const { one } = await leased();
  await desk.sql(`update webhook_queue set due_at = now() - interval '6 minutes'`);
  await desk.fanOut(one.event(), one.event());
  const states = [await healthOf(one)];
  await desk.sql(
    `update webhook_queue set due_at = now() - interval '6 minutes'
      where delivery_id = (select delivery_id from webhook_queue where leased_until is null limit 1)`,
  );
  states.push(await healthOf(one));
  expect(states.map(({ state }) => state.replace('WEBHOOK_HEALTH_STATE_', ''))).toEqual(['IDLE', 'DEGRADED']);
});

describe('counts', () => {
  const row = ({ id, company }: Endpoint, at: number, lastSuccessAt: number | null, latencies = noCounts().latencies): CountsRow => ({
    companyId: company.id,
    endpointId: id,
    at,
    minutes: 1,
    delivered: 1,
    failed: 2,
    latencies,
    lastSuccessAt,
  });

  test('are added up by endpoint and minute, with each latency bucket and the latest success', async () => {
    const one = await desk.endpoint();
    const at = Math.floor(now() / MINUTE) * MINUTE;
    const [first, second] = [1, 100].map((by) => noCounts().latencies.map((_, bucket) => by * (bucket + 1))) as [number[], number[]];
    await database.query(addToCounts([row(one, at, at + 9, first), row(one, at + MINUTE, null)]));
    await database.query(addToCounts([row(one, at, at + 4, second)]));
    await database.query(addToCounts([row(one, at, null)]));
    expect(
      await desk.sql('select at, delivered, failed, latencies, last_success_at as last from webhook_counts where endpoint_id = $1 order by at', [one.id]),
    ).toEqual([
      { at, delivered: 3, failed: 6, latencies: first.map((_, bucket) => 101 * (bucket + 1)), last: at + 9 },
      { at: at + MINUTE, delivered: 1, failed: 2, latencies: noCounts().latencies, last: null },
    ]);
  });

  test('say when the latest success was, however long ago', async () => {
    const one = await desk.endpoint();
    const last = now() - 2 * DAY;
    await database.query(addToCounts([row(one, last - HOUR, last - HOUR), row(one, last, last), row(one, last + HOUR, null)]));
    expect(await healthOf(one)).toMatchObject({ last_success_at: last });
  });
});

test('leases what has been due for longest first, and of what is due at once the first in sequence', async () => {
  const one = await desk.endpoint();
  const events = [7, 9, 8].map((sequence) => one.event({ sequence }));
  await desk.fanOut(...events);
  const at = formatInstant(now() - MINUTE);
  await desk.sql(`update webhook_queue set due_at = $1::timestamptz + case sequence when 7 then interval '1 second' else '0' end`, [at]);
  expect((await desk.lease()).map(({ event_id: id }) => events.findIndex((event) => event.id === id))).toEqual([2, 1, 0]);
});

test('leases no new event of an endpoint that has asked to slow down, until its pause is over', async () => {
  const one = await desk.endpoint();
  const leasedOf = async () => (await desk.deliveries.fanOut({ events: [one.event()], dead_letter_ids: [], lease: desk.asked({}) })).deliveries.length;
  await desk.sql(`update webhook_endpoints set resume_at = now() + interval '1 hour' where id = $1`, [one.id]);
  expect(await leasedOf()).toBe(0);
  await desk.sql('delete from webhook_queue');
  await desk.sql(`update webhook_endpoints set resume_at = now() - interval '1 hour' where id = $1`, [one.id]);
  expect(await leasedOf()).toBe(1);
});

test('of several first failures, notes the earliest as the time since which an endpoint fails', async () => {
  const one = await desk.endpoint();
  const of = { company_id: one.company.id, endpoint_id: one.id };
  const at = now() - HOUR;
  for (const since of [at, at - 1, at + 1]) await database.transaction((tx) => storeHealth(tx, of, { failing_since: since }, since));
  expect((await healthOf(one)).failing_since).toBe(at - 1);
  await database.transaction((tx) => storeHealth(tx, of, { failing_since: null }, at));
  expect((await healthOf(one)).failing_since).toBeNull();
});

test('e-mails once about an endpoint that is disabled twice, and not about one that was deleted', async () => {
  const [one, gone] = [await desk.endpoint(), await desk.endpoint()];
  await desk.sql('update webhook_endpoints set deleted_at = now() where id = $1', [gone.id]);
  for (const { id, company } of [one, one, gone]) {
    await database.transaction((tx) => storeHealth(tx, { company_id: company.id, endpoint_id: id }, { disable: 'FAILING' }, now()));
  }
  expect(await desk.sql('select user_id from mails where user_id = any($1)', [[one.user.id, gone.user.id]])).toEqual([{ user_id: one.user.id }]);
});

test('takes from a silent worker its own deliveries only', async () => {
  const renew = (worker_id: string) => desk.deliveries.renew({ worker_id, leaving: false });
  for (const worker of ['silent', 'other']) await renew(worker);
  const [one, other] = [await desk.endpoint(), await desk.endpoint()];
  await desk.fanOut(one.event());
  const [lost] = await desk.lease({ worker: 'silent' });
  await desk.fanOut(other.event());
  expect(await desk.lease({ worker: 'other' })).toHaveLength(1);
  await desk.sql(`update webhook_workers set seen_at = seen_at - interval '5 seconds' where id = 'silent'`);
  await renew('other');
  expect(idsOf(await desk.lease({ worker: 'third' }))).toEqual([lost!.delivery_id]);
  await desk.sql('delete from webhook_workers');
});
