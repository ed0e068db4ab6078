import { Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { openProxy } from '@truckroll/testing';
import { DueNotices } from '../src/webhooks/queue/due-notices.ts';
import { SECOND, FAILURE, startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;

const sendTest = async ({ caller, id }: Endpoint) => (await desk.webhooks.testWebhook({ caller, id })).data!.id;
const redeliver = ({ caller, id: webhook_id }: Endpoint, delivery_ids: string[]) => desk.log.redeliverWebhooks({ caller, webhook_id, delivery_ids });
const idsOf = (leased: { delivery_id: string }[]) => leased.map(({ delivery_id: id }) => id);

async function withDelivered(count: number) {
  const one = await desk.endpoint();
  await desk.fanOut(...Array.from({ length: count }, () => one.event()));
  const leased = await desk.lease({ cap: 100 });
  for (const delivery of leased) await desk.report(delivery);
  return { one, ids: idsOf(leased) };
}

test('leases only tests and redeliveries despite an open circuit and a slow-down', async () => {
  const { one, ids } = await withDelivered(1);
  await desk.fanOut(one.event());
  await desk.sql(`update webhook_endpoints set resume_at = now() + interval '1 hour', slowdowns = 1 where id = $1`, [one.id]);
  expect(await desk.lease({ without: [one.id] })).toEqual([]);
  const test = await sendTest(one);
  expect(await redeliver(one, ids)).toMatchObject({ data: [{ queued: true, problem: null }] });
  const leased = await desk.lease({ without: [one.id] });
  expect(leased.map(({ delivery_id, probe }) => [delivery_id, probe]).toSorted()).toEqual(
    [
      [test, true],
      [ids[0], true],
    ].toSorted(),
  );
  await desk.sql('update webhook_endpoints set resume_at = null, slowdowns = 0 where id = $1', [one.id]);
  expect(await desk.lease()).toMatchObject([{ probe: false }]);
});

test.each([['webhook.test'], ['service_request.booked']])('marks a test of type %s, and no real event', async (type) => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  await desk.webhooks.testWebhook({ caller: one.caller, id: one.id, event_type: type });
  const leased = await desk.lease();
  expect(leased.filter(({ event_type }) => event_type === type).map(({ test }) => test)).toEqual([true]);
  expect(leased.filter(({ event_type }) => event_type !== type).map(({ test }) => test ?? null)).toEqual([null]);
  const { data } = JSON.parse(Buffer.from(leased.find(({ test }) => test)!.body).toString()) as { data: { test?: unknown } };
  expect(data.test).toBe(type === 'webhook.test' ? undefined : true);
});

test('makes retries of a redelivery wait for the circuit', async () => {
  const { one, ids } = await withDelivered(1);
  await redeliver(one, ids);
  const [probe] = await desk.lease({ without: [one.id] });
  await desk.report(probe!, FAILURE);
  await desk.sql('update webhook_queue set due_at = now()');
  expect(await desk.lease({ without: [one.id] })).toEqual([]);
  expect(await desk.lease()).toMatchObject([{ delivery_id: ids[0], probe: false }]);
});

test('leases a redelivery at once during an attempt in flight, whose failure does not delay it', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  const [underWay] = await desk.lease();
  await redeliver(one, [underWay!.delivery_id]);
  const report = await desk.report(underWay!, FAILURE);
  expect(report).toMatchObject({ lease_lost: true, status: 'DELIVERY_STATUS_PENDING' });
  const [probe] = await desk.lease({ without: [one.id] });
  expect(probe).toMatchObject({ delivery_id: underWay!.delivery_id, probe: true });
  await desk.report(probe!);
  expect(await one.deliveries()).toMatchObject([{ status: 'DELIVERY_STATUS_SUCCEEDED', attempts: [{ number: 1 }, { number: 2 }] }]);
});

test('leases a test before waiting deliveries, and one test although all slots are taken', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(...Array.from({ length: 10 }, () => one.event()));
  const first = await sendTest(one);
  expect(idsOf(await desk.lease({ cap: 3 }))).toContain(first);
  expect(await desk.lease({ cap: 3 })).toEqual([]);
  const busy = await desk.endpoint();
  await desk.fanOut(...Array.from({ length: 10 }, () => busy.event()));
  expect((await desk.lease({ cap: 3 })).filter(({ endpoint_id: id }) => id === busy.id)).toHaveLength(3);
  const tests = [await sendTest(busy), await sendTest(busy)];
  expect(idsOf(await desk.lease({ cap: 3 }))).toEqual([tests[0]]);
  expect(await desk.lease({ cap: 3 })).toEqual([]);
});

test('gives a company with many redeliveries no more of a batch than others', async () => {
  const { one, ids } = await withDelivered(30);
  const other = await desk.endpoint();
  await desk.fanOut(...Array.from({ length: 5 }, () => other.event()));
  await redeliver(one, ids);
  const leased = await desk.lease({ max: 10, cap: 100 });
  expect(leased.filter(({ endpoint_id: id }) => id === other.id)).toHaveLength(5);
});

test('redelivers several at once with a result for each, at most twenty times per delivery', async () => {
  const { one, ids } = await withDelivered(2);
  const foreign = await withDelivered(1);
  await desk.sql('update webhook_deliveries set redeliveries = 20 where id = $1', [ids[1]]);
  const { data } = await redeliver(one, [ids[0]!, ids[1]!, foreign.ids[0]!]);
  expect(data.map(({ id, queued, problem }) => [id, queued, problem])).toEqual([
    [ids[0], true, null],
    [ids[1], false, 'REDELIVERY_PROBLEM_LIMIT_REACHED'],
    [foreign.ids[0], false, 'REDELIVERY_PROBLEM_NOT_FOUND'],
  ]);
  expect(idsOf(await desk.lease())).toEqual([ids[0]]);
});

test('leaves every delivery pending or succeeded when redeliveries and reports race', async () => {
  const { one, ids } = await withDelivered(40);
  await redeliver(one, ids);
  const leased = await desk.lease({ cap: 100 });
  expect(leased).toHaveLength(40);
  // Failures also change the endpoint.
  await Promise.all([
    ...leased.map((delivery, index) => desk.report(delivery, index % 2 === 0 ? FAILURE : {})),
    ...[ids, ids.toReversed(), ids].map((all) => redeliver(one, all)),
  ]);
  const states = new Set((await one.deliveries()).map(({ status }) => status));
  expect([...states].filter((status) => !['DELIVERY_STATUS_PENDING', 'DELIVERY_STATUS_SUCCEEDED'].includes(status))).toEqual([]);
});

describe('a dispatcher', () => {
  async function watching(replica: { deliveries: typeof desk.deliveries }) {
    const stop = new AbortController();
    const notices = replica.deliveries.watchDue({ worker_id: 'test' }, { signal: stop.signal })[Symbol.asyncIterator]();
    await notices.next();
    return { next: () => notices.next(), stop: () => stop.abort() };
  }

  test('is notified at once of requests at another replica: a test, a redelivery, a recovery, a changed endpoint', async () => {
    const { one, ids } = await withDelivered(1);
    const other = await desk.replica();
    const watch = await watching(other);
    try {
      const asked = [
        () => sendTest(one),
        () => redeliver(one, ids),
        () => desk.log.redeliverWebhook({ caller: one.caller, webhook_id: one.id, id: ids[0]! }),
        () => one.update({ url: 'https://example.com/other' }),
      ];
      for (const ask of asked) {
        const notice = watch.next();
        await ask();
        expect(await notice).toMatchObject({ done: false });
      }
      await desk.sql(`update webhook_deliveries set state = 'FAILED' where id = $1`, [ids[0]]);
      await desk.sql('delete from webhook_queue');
      const notice = watch.next();
      await desk.webhooks.recoverWebhook({ caller: one.caller, id: one.id, since: (await one.deliveries())[0]!.created_at - SECOND });
      expect(await notice).toMatchObject({ done: false });
    } finally {
      watch.stop();
      await other.stop();
    }
  });

  test.each([
    ['is enabled', { enabled: true }],
    ['gets another URL', { url: 'https://example.com/other' }],
  ])('is asked to close the circuit of an endpoint that %s', async (_, change) => {
    const one = await desk.endpoint();
    await desk.sql(`update webhook_endpoints set circuit_open_until = now() + interval '1 minute', failing_since = now() where id = $1`, [one.id]);
    const watch = await watching(desk);
    const notice = watch.next();
    await one.update(change);
    expect(await notice).toEqual({ done: false, value: { restarted_endpoint_ids: [one.id] } });
    const following = watch.next();
    await sendTest(one);
    expect(await following).toEqual({ done: false, value: { restarted_endpoint_ids: [] } });
    expect((await one.read()).health).toMatchObject({ circuit: { state: 'WEBHOOK_CIRCUIT_STATE_CLOSED', next_try_at: null } });
    watch.stop();
  });

  test('is notified when the database connection is lost, and when it is back, because notices may have been missed', async () => {
    const watch = await watching(desk);
    const lost = watch.next();
    await desk.sql(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'`);
    expect(await lost).toMatchObject({ done: false });
    expect(await watch.next()).toMatchObject({ done: false });
    watch.stop();
  });

  test('is notified once the database can be reached, which it could not when the service started', async () => {
    const direct = new URL(desk.database.url);
    const wire = await openProxy({ host: direct.hostname, port: Number(direct.port || 5432) });
    await wire.cut();
    const url = Object.assign(new URL(direct), { host: `127.0.0.1:${wire.port}` }).href;
    const database = new Database({ url, schema: 'integrations', maxConnections: 1 });
    const notices = new DueNotices({ database, schema: 'integrations', log: silentLog });
    const stop = new AbortController();
    const watch = notices.watch(stop.signal);
    try {
      await notices.start();
      expect(notices.connected).toBe(false);
      await wire.restore();
      // Each attempt to connect wakes it, the last one because notices may have been missed.
      while (!notices.connected) await watch.next();
    } finally {
      stop.abort();
      await notices.stop();
      await database.close();
      await wire.close();
    }
  });

  test('does not keep a replica from stopping', async () => {
    const other = await desk.replica();
    const watch = await watching(other);
    const end = watch.next();
    await other.stop();
    expect(await end).toMatchObject({ done: true });
  });
});
