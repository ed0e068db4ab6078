import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { WebhookHealthState } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import type { Database } from '@truckroll/postgres';
import { keepCounts } from '../src/webhooks/health/count-store.ts';
import { LATENCY_BOUNDS, add, noCounts, quantile } from '../src/webhooks/health/counts.ts';
import { refusal } from './harness.ts';
import { DAY, FAILURE, SECOND, reportOf, startDesk } from './webhooks.ts';

const MINUTE = 60 * SECOND;

let desk: Awaited<ReturnType<typeof startDesk>>;
let database: Database;
beforeAll(async () => {
  desk = await startDesk();
  database = desk.openDatabase(4);
}, 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

const stored = (endpointId: string) =>
  desk.sql('select at, minutes, delivered, failed, latencies from webhook_counts where endpoint_id = $1 order by at, minutes', [endpointId]);

async function delivered(one: Awaited<ReturnType<typeof desk.endpoint>>, count: number) {
  await desk.fanOut(...Array.from({ length: count }, () => one.event()));
  return await desk.lease({ cap: 1000, max: 1000 });
}

test('counts every attempt once, even if several replicas get its report several times', async () => {
  const one = await desk.endpoint();
  const other = await desk.replica();
  try {
    const leased = await delivered(one, 40);
    const reports = leased.map((delivery, index) => reportOf(delivery, index % 4 === 0 ? FAILURE : {}));
    const half = [reports.slice(0, 20), reports.slice(20)] as const;
    await Promise.all([desk.deliveries, other.deliveries].flatMap(({ reportAll }) => half.map((attempts) => reportAll({ attempts: [...attempts] }))));
    expect((await one.read()).health).toMatchObject({ delivered: 30, failed: 10, success_rate: 0.75 });
    expect(await desk.sql('select count(*) filter (where succeeded) as delivered, count(*) as attempts from webhook_attempts')).toEqual([
      { delivered: 30, attempts: 40 },
    ]);
  } finally {
    await other.stop();
  }
});

test('counts attempts stored by an older replica in the same buckets', async () => {
  const [one, older] = [await desk.endpoint(), await desk.endpoint()];
  const times = [0, ...LATENCY_BOUNDS.flatMap((bound) => [bound - 0.001, bound]), 15_000].map((ms) => Math.round(ms * 1000));
  const startedAt = Math.floor(now() / MINUTE) * MINUTE;
  const outcomes = times.map((time, index) => ({
    started_at: startedAt - time,
    ended_at: startedAt,
    ...(index % 3 === 0 ? FAILURE : {}),
    ...(index % 5 === 0 ? { response_status: null, error: index % 2 === 0 ? AttemptError.TIMEOUT : AttemptError.CONNECT } : {}),
  }));
  const leased = await delivered(one, times.length);
  for (const [index, delivery] of leased.entries()) await desk.report(delivery, outcomes[index]);
  await delivered(older, times.length);
  // As releases without counts do: without truckroll.counts_attempts.
  await desk.sql(
    `insert into webhook_attempts (day, delivery_id, lease_token, number, started_at, ended_at, succeeded, status, error, request_headers, response_headers,
        response_body, response_truncated)
      select o.day, o.id, gen_random_uuid(), 1, a.started_at, a.ended_at, a.succeeded, a.status, a.error, '[]', '[]', '', false
      from (select *, row_number() over (order by id) as place from webhook_deliveries where endpoint_id = $1) n
      join (select a.*, row_number() over (order by a.delivery_id) as place from webhook_attempts a join webhook_deliveries d on d.day = a.day and d.id = a.delivery_id
        where d.endpoint_id = $2) a using (place)
      join webhook_deliveries o on o.day = n.day and o.id = n.id`,
    [older.id, one.id],
  );
  const counted = await stored(one.id);
  expect(counted.reduce((sum, { delivered, failed }) => sum + delivered + failed, 0)).toBe(times.length);
  expect(await stored(older.id)).toEqual(counted);
});

test('merges counts into quarter-hours, then hours, without changing their sums, and deletes them after 30 days', async () => {
  const one = await desk.endpoint();
  const total = async () => {
    const sum = noCounts();
    for (const row of await stored(one.id)) add(sum, { ...(row as ReturnType<typeof noCounts>), lastSuccessAt: null });
    return [sum.delivered, sum.failed, sum.latencies];
  };
  const leased = await delivered(one, 90);
  const last = now();
  await Promise.all(
    leased.map((delivery, index) => {
      const ended_at = last - index * MINUTE;
      return desk.report(delivery, { started_at: ended_at - index * 1000, ended_at, ...(index % 7 === 0 ? FAILURE : {}) });
    }),
  );
  const before = await total();
  const widths = async () =>
    Object.fromEntries(
      (await desk.sql('select minutes, count(*) as rows from webhook_counts where endpoint_id = $1 group by 1', [one.id])).map(({ minutes, rows }) => [
        minutes,
        rows,
      ]),
    );
  expect(await widths()).toEqual({ 1: 90 });
  await Promise.all([keepCounts(database, now()), keepCounts(database, now())]);
  const gathered = await widths();
  expect(gathered[1]).toBeLessThanOrEqual(90);
  expect(gathered[1]).toBeGreaterThanOrEqual(60);
  await keepCounts(database, now() + 26 * 3600 * SECOND);
  const hours = await widths();
  expect(Object.keys(hours)).toEqual(['60']);
  expect(hours[60]).toBeLessThanOrEqual(3);
  expect(await total()).toEqual(before);
  await keepCounts(database, now() + 31 * DAY);
  expect(await widths()).toEqual({});
});

test('interpolates percentiles within their bucket, and returns null without exchanges', () => {
  const counts = noCounts();
  expect(quantile(counts, 0.5)).toBeNull();
  counts.latencies[6] = 90;
  counts.latencies[LATENCY_BOUNDS.length] = 10;
  expect(quantile(counts, 0.5)).toBeGreaterThan(75);
  expect(quantile(counts, 0.5)).toBeLessThanOrEqual(100);
  expect(quantile(counts, 0.95)).toBeGreaterThan(14_000);
  expect(quantile(counts, 1)).toBe(15_000);
});

test('shows an endpoint as idle, healthy, failing while its circuit is open or half-open, and healthy again after a success', async () => {
  const one = await desk.endpoint();
  const health = async () => (await one.read()).health!;
  const read = async () => [(await health()).state.replace('WEBHOOK_HEALTH_STATE_', ''), (await health()).circuit!.state.replace('WEBHOOK_CIRCUIT_STATE_', '')];
  expect(await read()).toEqual(['IDLE', 'CLOSED']);
  for (const delivery of await delivered(one, 30)) await desk.report(delivery);
  expect(await read()).toEqual(['HEALTHY', 'CLOSED']);
  const [first, second] = await delivered(one, 2);
  await desk.report(first!, FAILURE);
  expect(await read()).toEqual(['DEGRADED', 'CLOSED']);
  const until = now() + 60 * SECOND;
  await desk.report(second!, { ...FAILURE, circuit_open_until: until });
  expect(await read()).toEqual(['FAILING', 'OPEN']);
  expect(await health()).toMatchObject({ circuit: { next_try_at: until }, backlog: 2 });
  // Waiting deliveries are not attempted before the circuit is tested.
  const waiting = (await one.deliveries()).filter(({ progress }) => progress === 'DELIVERY_PROGRESS_RETRYING');
  expect(waiting.map(({ next_attempt_at: at }) => at)).toEqual([until, until]);
  await desk.sql(`update webhook_endpoints set circuit_open_until = now() where id = $1`, [one.id]);
  expect(await read()).toEqual(['FAILING', 'HALF_OPEN']);
  expect((await health()).circuit!.next_try_at).toBeGreaterThan(now());
  await desk.sql(`update webhook_queue set due_at = now() where endpoint_id = $1`, [one.id]);
  expect((await health()).circuit!.next_try_at).toBeNull();
  for (const delivery of await desk.lease()) await desk.report(delivery);
  expect(await read()).toEqual(['DEGRADED', 'CLOSED']);
  await desk.sql(`update webhook_counts set failed = 0 where endpoint_id = $1`, [one.id]);
  expect(await read()).toEqual(['HEALTHY', 'CLOSED']);
  await one.update({ enabled: false });
  expect(await read()).toEqual(['DISABLED', 'CLOSED']);
});

test('shows an endpoint as degraded if its deliveries are five minutes late, even if all succeed', async () => {
  const one = await desk.endpoint();
  for (const delivery of await delivered(one, 1)) await desk.report(delivery);
  const event = one.event({ timestamp: now() - 600 * SECOND });
  await desk.fanOut(event);
  await desk.sql(`update webhook_queue set due_at = now() - interval '6 minutes' where endpoint_id = $1`, [one.id]);
  expect((await one.read()).health).toMatchObject({
    state: 'WEBHOOK_HEALTH_STATE_DEGRADED',
    backlog: 1,
    oldest_waiting_at: Math.floor(event.timestamp / 1000) * 1000,
  });
});

test('lists the endpoints of all companies for operators, worst first, in pages, with hosts instead of URLs', async () => {
  const [well, failing, later, off] = [await desk.endpoint(), await desk.endpoint(), await desk.endpoint(), await desk.endpoint()];
  for (const [one, fields] of [
    [well, {}],
    [failing, FAILURE],
    [later, FAILURE],
  ] as const)
    for (const delivery of await delivered(one, 1)) await desk.report(delivery, fields);
  await off.update({ enabled: false });
  const own = new Set([well, failing, later, off].map(({ id }) => id));
  const seen: string[] = [];
  let pages = 0;
  for (let after: Buffer = Buffer.alloc(0); ; pages += 1) {
    const page = await desk.endpoints.listEndpoints({ company_id: null, state: [], limit: 2, after });
    seen.push(...page.endpoints.map(({ id }) => id));
    expect(JSON.stringify(page.endpoints)).not.toContain('/hook');
    if ((after = page.next).length === 0) break;
  }
  expect(pages).toBeGreaterThan(0);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.filter((id) => own.has(id))).toEqual([failing.id, later.id, well.id, off.id]);
  const { endpoints, total } = await desk.endpoints.listEndpoints({ company_id: well.company.id, state: [], limit: 100, after: Buffer.alloc(0) });
  expect([endpoints.map(({ id, host, company_name }) => [id, host, company_name]), total]).toEqual([[[well.id, 'example.com', well.company.name]], 1]);
  const chosen = await desk.endpoints.listEndpoints({
    company_id: failing.company.id,
    state: ['WEBHOOK_HEALTH_STATE_HEALTHY'],
    limit: 100,
    after: Buffer.alloc(0),
  });
  expect(chosen.endpoints).toEqual([]);
});

describe('the list of endpoints for operators', () => {
  const list = (company_id: string, fields: { limit?: number; after?: Buffer; state?: WebhookHealthState[] } = {}) =>
    desk.endpoints.listEndpoints({ company_id, state: [], limit: 100, after: Buffer.alloc(0), ...fields });

  async function inEveryState() {
    const one = await desk.endpoint();
    const names = ['failing later', 'failing', 'disabled by us', 'degraded', 'paused', 'healthy', 'idle', 'idle too', 'disabled by a user'];
    const ids = new Map<string, string>([['idle', one.id]]);
    for (const name of names.filter((each) => each !== 'idle')) {
      const { data } = await desk.webhooks.createWebhook({
        caller: one.caller,
        name,
        url: 'https://example.com:8443/hook',
        event_types: ['interaction.completed'],
      });
      ids.set(name, data!.id);
    }
    const set = (name: string, change: string) => desk.sql(`update webhook_endpoints set ${change} where id = $1`, [ids.get(name)]);
    await set('failing', `circuit_open_until = now(), failing_since = now() - interval '2 hours'`);
    await set('failing later', `circuit_open_until = now(), failing_since = now() - interval '1 hour'`);
    await set('disabled by us', `enabled = false, disabled_reason = 'GONE'`);
    await set('degraded', 'slowdowns = 1');
    await set('paused', 'paused_at = now()');
    await set('disabled by a user', 'enabled = false');
    await desk.sql(
      `insert into webhook_counts (company_id, endpoint_id, at, minutes, delivered, failed, latencies) values ($1, $2, now(), 1, 1, 0, array_fill(0, array[21]))`,
      [one.company.id, ids.get('healthy')],
    );
    const idle = [ids.get('idle')!, ids.get('idle too')!].toSorted();
    const worstFirst = [...['failing', 'failing later', 'disabled by us', 'degraded', 'paused', 'healthy'].map((name) => ids.get(name)!), ...idle];
    return { companyId: one.company.id, ids, all: [...worstFirst, ids.get('disabled by a user')!] };
  }

  test('has the worst first, those that fail for longest before others, and those that a user disabled last', async () => {
    const { companyId, ids, all } = await inEveryState();
    const { endpoints } = await list(companyId);
    expect(endpoints.map(({ id }) => id)).toEqual(all);
    const reasons = new Map(endpoints.map(({ id, disabled_reason, host }) => [id, [disabled_reason ?? null, host]]));
    expect(['disabled by us', 'disabled by a user', 'idle'].map((name) => reasons.get(ids.get(name)!))).toEqual([
      ['DISABLED_REASON_GONE', 'example.com:8443'],
      [null, 'example.com:8443'],
      [null, 'example.com'],
    ]);
    const disabled = await list(companyId, { state: ['WEBHOOK_HEALTH_STATE_DISABLED', 'WEBHOOK_HEALTH_STATE_PAUSED'] });
    expect(disabled.endpoints.map(({ id }) => id)).toEqual(['disabled by us', 'paused', 'disabled by a user'].map((name) => ids.get(name)));
    expect(disabled.total).toBe(3);
  });

  test.each([1, 2, 3, 8, 9, 10])('comes in pages of %i, each with the number of all', async (limit) => {
    const { companyId, all } = await inEveryState();
    const seen: string[] = [];
    let pages = 0;
    for (let after: Buffer = Buffer.alloc(0); pages === 0 || after.length > 0; pages += 1) {
      const page = await list(companyId, { limit, after });
      expect(page.total).toBe(9);
      seen.push(...page.endpoints.map(({ id }) => id));
      after = page.next;
    }
    expect([seen, pages]).toEqual([all, Math.ceil(9 / limit)]);
  });

  test.each(['x', '7', '["a",1,"b"]', '[1,"a","b"]', '[1,1,1]'])('refuses %s as a position', async (text) => {
    expect(await refusal(list(randomUUID(), { after: Buffer.from(text) }))).toMatchObject({ code: 'INVALID_CURSOR', status: 400 });
  });
});

test('merges and drops more counts than one transaction takes', async () => {
  const one = await desk.endpoint();
  const store = (minutes: number) =>
    desk.sql(
      `insert into webhook_counts (company_id, endpoint_id, at, minutes, delivered, failed, latencies)
       select $1, $2, date_trunc('hour', now()) - n * interval '1 minute' - $4::int * interval '1 day', $3, 1, 0, array_fill(0, array[21]) from generate_series(1, 4001) n`,
      [one.company.id, one.id, minutes, minutes === 60 ? 31 : 1],
    );
  await store(1);
  await keepCounts(database, now() + 2 * 3600 * SECOND);
  const rows = await stored(one.id);
  expect(rows.filter(({ minutes }) => minutes === 1)).toEqual([]);
  expect(rows.reduce((sum, { delivered }) => sum + Number(delivered), 0)).toBe(4001);
  await desk.sql('delete from webhook_counts where endpoint_id = $1', [one.id]);
  await store(60);
  await keepCounts(database, now());
  expect(await stored(one.id)).toEqual([]);
});

test('finds deliveries by progress, subject, and number of the subject', async () => {
  const one = await desk.endpoint();
  const [named, plain] = [one.event({ subject_number: 'SR-204', customer_name: 'Whitfield Residence' }), one.event()];
  await desk.fanOut(named, plain);
  const listed = async (fields: object) => {
    const collection = { company_id: one.company.id, time_zone: 'America/Chicago', limit: 100, after: Buffer.alloc(0), ids: [] };
    const { data } = await desk.log.listWebhookDeliveries({ collection, webhook_id: one.id, status: [], event_type: [], progress: [], ...fields });
    return data.map(({ event_id, subject_number, customer_name }) => [event_id, subject_number, customer_name]);
  };
  const [asNamed, asPlain] = [
    [named.id, 'SR-204', 'Whitfield Residence'],
    [plain.id, null, null],
  ];
  expect(await listed({ subject: 'SR-204' })).toEqual([asNamed]);
  expect(await listed({ subject: plain.subject })).toEqual([asPlain]);
  expect(await listed({ subject: randomUUID() })).toEqual([]);
  for (const delivery of await desk.lease()) await desk.report(delivery, delivery.event_id === named.id ? FAILURE : {});
  expect(await listed({ progress: ['DELIVERY_PROGRESS_RETRYING'] })).toEqual([asNamed]);
  expect(await listed({ progress: ['DELIVERY_PROGRESS_DELIVERED'] })).toEqual([asPlain]);
  expect(await listed({ progress: ['DELIVERY_PROGRESS_PENDING', 'DELIVERY_PROGRESS_FAILED'] })).toEqual([]);
});
