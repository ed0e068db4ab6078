import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import { AttemptError, type DeadLetter } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { until } from '@truckroll/testing/until';
import { DAY, FAILURE, SECOND, reportOf, startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

test('stores one delivery per subscribed endpoint of the company, even if the event arrives repeatedly', async () => {
  const one = await desk.endpoint();
  const other = await desk.endpoint();
  const event = one.event();
  expect(await desk.fanOut(event, one.event({ type: 'interaction.completed' }))).toEqual({ pending: 1, skipped: 0, deliveries: [] });
  expect(await desk.fanOut(event, event)).toEqual({ pending: 0, skipped: 0, deliveries: [] });
  expect(await one.deliveries()).toMatchObject([{ event_id: event.id, status: 'DELIVERY_STATUS_PENDING', attempts: [] }]);
  expect(await other.deliveries()).toEqual([]);

  const [delivery] = await desk.lease();
  expect(delivery).toMatchObject({ event_id: event.id, endpoint_id: one.id, url: 'https://example.com/hook', attempt: 1, body: event.body });
  expect(delivery!.secrets.map((secret) => `whsec_${Buffer.from(secret).toString('base64')}`)).toEqual([one.secret]);
  expect(await desk.lease()).toEqual([]);
  expect(await desk.report(delivery!)).toMatchObject({ status: 'DELIVERY_STATUS_SUCCEEDED', next_attempt_at: null, lease_lost: false });
  expect(await desk.lease()).toEqual([]);
  expect(await one.read()).toMatchObject({ last_delivery_status: 'DELIVERY_STATUS_SUCCEEDED' });
});

test('delivers events once when two dispatchers store them concurrently', async () => {
  const one = await desk.endpoint();
  const events = Array.from({ length: 20 }, () => one.event());
  const answers = await Promise.all([desk.fanOut(...events), desk.fanOut(...events.toReversed()), desk.fanOut(...events)]);
  expect(answers.reduce((sum, { pending }) => sum + pending, 0)).toBe(20);
  const leases = await Promise.all([desk.lease({ cap: 8 }), desk.lease({ cap: 8 })]);
  // The limit applies to the endpoint across all workers.
  expect(leases.flat()).toHaveLength(8);
  await Promise.all(leases.flat().map((delivery) => desk.report(delivery)));
  const rest = [...(await desk.lease({ cap: 8 })), ...(await desk.lease({ cap: 12 }))];
  expect(rest).toHaveLength(12);
  await Promise.all(rest.map((delivery) => desk.report(delivery)));
});

test('makes an event wait for the first attempt of the previous event, not for its retries', async () => {
  const one = await desk.endpoint();
  const subject = randomUUID();
  const [first, second] = [1, 2].map((sequence) => one.event({ subject, sequence, timestamp: now() + sequence }));
  const elsewhere = one.event();
  await desk.fanOut(first!, second!, elsewhere);
  const leased = await desk.lease();
  expect(leased.map(({ event_id }) => event_id).toSorted()).toEqual([first!.id, elsewhere.id].toSorted());
  expect(await desk.report(leased.find(({ event_id }) => event_id === first!.id)!, FAILURE)).toMatchObject({ status: 'DELIVERY_STATUS_PENDING' });
  const [next] = await desk.lease();
  expect(next).toMatchObject({ event_id: second!.id });
  for (const delivery of [next!, leased.find(({ event_id }) => event_id === elsewhere.id)!]) await desk.report(delivery);
});

test('stores an attempt together with the time of the next one; a repeated report counts once', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  const [delivery] = await desk.lease();
  const failed = reportOf(delivery!, { response_status: null, error: AttemptError.TIMEOUT, error_message: 'Not over after 15 s.' });
  const answer = await desk.deliveries.report(failed);
  expect(answer.next_attempt_at! - failed.ended_at).toBeGreaterThanOrEqual(4 * SECOND);
  expect(answer.next_attempt_at! - failed.ended_at).toBeLessThanOrEqual(6 * SECOND);
  expect((await desk.deliveries.report(failed)).next_attempt_at).toBe(answer.next_attempt_at);
  expect((await one.deliveries())[0]).toMatchObject({
    status: 'DELIVERY_STATUS_PENDING',
    next_attempt_at: answer.next_attempt_at,
    attempts: [{ number: 1, succeeded: false, response: null, error: 'ATTEMPT_ERROR_TIMEOUT', error_message: 'Not over after 15 s.' }],
  });
});

test('logs an attempt whatever the endpoint answers', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  const [delivery] = await desk.lease();
  const strange = { response_headers: [{ name: 'x', value: 'a\0b' }], response_body: Buffer.alloc(70_000, 0xff), error_message: `\0${'é'.repeat(600)}` };
  await desk.report(delivery!, { ...FAILURE, ...strange });
  const [logged] = await one.deliveries();
  expect(logged!.attempts[0]).toMatchObject({
    error_message: `\uFFFD${'é'.repeat(499)}`,
    response: { headers: [{ name: 'x', value: 'a\uFFFDb' }], body_truncated: true },
  });
  const [kept] = await desk.sql('select octet_length(response_body) as size from webhook_attempts where delivery_id = $1', [delivery!.delivery_id]);
  expect(kept).toEqual({ size: 65_536 });
});

test('logs all concurrent reports, even when one of them disables the endpoint', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(...Array.from({ length: 40 }, () => one.event()));
  const leased = await desk.lease({ cap: 20 });
  expect(leased).toHaveLength(20);
  await Promise.all(leased.map((delivery, index) => desk.report(delivery, { response_status: index % 4 === 0 ? 410 : 500 })));
  const log = await one.deliveries();
  expect(log.flatMap(({ attempts }) => attempts)).toHaveLength(20);
  expect(log.filter(({ attempts, status }) => attempts.length === 0 && status !== 'DELIVERY_STATUS_SKIPPED')).toEqual([]);
  expect((await one.read()).enabled).toBe(false);
  expect(await desk.lease()).toEqual([]);
});

test('ends a lease without a report, and logs the late report', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  const [first] = await desk.lease();
  await desk.sql(`update webhook_queue set leased_until = now() where delivery_id = $1`, [first!.delivery_id]);
  const [second] = await desk.lease();
  expect(second).toMatchObject({ delivery_id: first!.delivery_id, event_id: first!.event_id });
  expect(await desk.report(first!, FAILURE)).toMatchObject({ lease_lost: true, status: 'DELIVERY_STATUS_PENDING' });
  expect(await desk.report(second!)).toMatchObject({ lease_lost: false, status: 'DELIVERY_STATUS_SUCCEEDED' });
  expect((await one.deliveries())[0]!.attempts.map(({ succeeded }) => succeeded)).toEqual([false, true]);
});

test('waits before the next attempt when a failure is reported after its lease has ended, and before another begins', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  const [leased] = await desk.lease();
  await desk.sql(`update webhook_queue set leased_until = now() where delivery_id = $1`, [leased!.delivery_id]);
  expect(await desk.lease({ without: [one.id] })).toEqual([]);
  expect(await desk.report(leased!, FAILURE)).toMatchObject({ lease_lost: false, status: 'DELIVERY_STATUS_PENDING' });
  expect(await desk.lease()).toEqual([]);
  expect((await one.deliveries())[0]!.next_attempt_at).toBeGreaterThan(now());
});

describe('a worker', () => {
  const renew = (worker_id: string, leaving = false) => desk.deliveries.renew({ worker_id, leaving });
  const silent = (...workers: string[]) => desk.sql(`update webhook_workers set seen_at = seen_at - interval '5 seconds' where id = any($1)`, [workers]);
  afterEach(() => desk.sql('delete from webhook_workers'));

  async function leasedTo(worker: string) {
    const one = await desk.endpoint();
    await desk.fanOut(one.event());
    const [leased] = await desk.lease({ worker });
    return leased!;
  }

  test('that is silent loses its deliveries long before their leases end, and its late report counts', async () => {
    for (const worker of ['killed', 'other']) await renew(worker);
    const leased = await leasedTo('killed');
    await renew('other');
    expect(await desk.lease({ worker: 'other' })).toEqual([]);
    await silent('killed');
    await renew('other');
    const [again] = await desk.lease({ worker: 'other' });
    expect(again).toMatchObject({ delivery_id: leased.delivery_id, event_id: leased.event_id });
    expect(leased.lease_expires_at).toBeGreaterThan(now());
    expect(await desk.report(leased)).toMatchObject({ lease_lost: true, status: 'DELIVERY_STATUS_SUCCEEDED' });
  });

  test('that leaves releases its deliveries at once', async () => {
    await renew('leaver');
    const leased = await leasedTo('leaver');
    await renew('leaver', true);
    expect(await desk.lease({ worker: 'other' })).toMatchObject([{ delivery_id: leased.delivery_id }]);
  });

  test('loses no delivery in an outage in which no worker could call', async () => {
    for (const worker of ['one', 'other']) await renew(worker);
    const leased = await leasedTo('one');
    await silent('one', 'other');
    await renew('other');
    expect(await desk.lease({ worker: 'other' })).toEqual([]);
    // The outage gave it a new period of silence; after that it counts as dead.
    await silent('one');
    await renew('other');
    expect(await desk.lease({ worker: 'other' })).toMatchObject([{ delivery_id: leased.delivery_id }]);
  });

  test('of an older release, which never calls, keeps its deliveries until their leases end', async () => {
    await leasedTo('older');
    await renew('other');
    expect(await desk.lease({ worker: 'other' })).toEqual([]);
  });
});

test('gives a company with many endpoints no more of a batch than others, and no more than the free slots of the worker', async () => {
  const many = await desk.endpoint();
  for (let i = 0; i < 4; i += 1) {
    await desk.webhooks.createWebhook({ caller: many.caller, name: 'More', url: 'https://example.com/hook', event_types: ['service_request.created'] });
  }
  const one = await desk.endpoint();
  const counts = async (options: Parameters<typeof desk.lease>[0]) => {
    await desk.sql('delete from webhook_queue');
    await desk.fanOut(...[many, one].flatMap((each) => Array.from({ length: 6 }, () => each.event())));
    const leased = await desk.lease(options);
    return [many, one].map(({ company }) => leased.filter(({ company_id }) => company_id === company.id).length);
  };
  expect(await counts({ max: 8 })).toEqual([4, 4]);
  expect(await counts({ share: 5 })).toEqual([5, 5]);
  expect(await counts({ share: 20, busy: [{ company_id: many.company.id, max_deliveries: 3 }] })).toEqual([3, 6]);
  expect(await counts({ share: 20, busy: [{ company_id: many.company.id, max_deliveries: 0 }] })).toEqual([0, 6]);
  expect(await counts({})).toEqual([30, 6]);
});

test('keeps events that a dispatcher cannot read for 14 days, in order, or until they are stored as events', async () => {
  const one = await desk.endpoint();
  const [known, unknown, old] = Array.from({ length: 3 }, () => one.event());
  const letter = (event: typeof known, offset: number): DeadLetter => ({
    id: 0,
    topic: 'truckroll.scheduling.service-requests',
    partition: 3,
    log_offset: String(offset),
    event_id: event!.id,
    type: 'service_request.reopened',
    source: '/truckroll/scheduling',
    company_id: one.company.id,
    key: `${one.company.id}/${event!.subject}`,
    time: now(),
    sequence: 7,
    version: 2 ** 40,
    payload: Buffer.from([1, 2, 3]),
    reason: 'this release does not know\0 the type',
    request_id: '6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c11',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    people: '0f2b6b1e-5f0c-4c43-9f1b-0f3f2d9c7a10 6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c11',
  });
  const letters = [known, unknown, old].map((event, index) => letter(event, index));
  const read = async (after = 0) => (await desk.deliveries.readDeadLetters({ after })).letters;
  await desk.deliveries.setAside({ letters: letters.slice(0, 2) });
  await desk.deliveries.setAside({ letters });
  const kept = await read();
  expect(kept).toEqual(
    letters.map((each) => ({ ...each, id: expect.any(Number), payload: Buffer.from([1, 2, 3]), reason: 'this release does not know\uFFFD the type' })),
  );
  expect(await read(kept[1]!.id)).toEqual(kept.slice(2));
  expect(await desk.deadLetters.listParkedEvents({ limit: 2 })).toMatchObject({ count: 3, events: [{ type: 'service_request.reopened' }, {}] });
  expect((await desk.deadLetters.retryParkedEvents({})).reason).toContain('upgrade the dispatchers');
  // Together with those of the service itself, oldest first.
  await desk.sql(
    `insert into parked_event (consumer, topic, partition, log_offset, headers, reason, parked_at) select 'integrations', 'own', 0, 1, '{}', 'old', now() - interval '1 day'`,
  );
  expect((await desk.deadLetters.listParkedEvents({ limit: 2 })).events.map(({ topic }) => topic)).toEqual(['own', letters[0]!.topic]);
  await desk.sql(`delete from parked_event where consumer = 'integrations'`);

  expect(await desk.deliveries.fanOut({ events: [known!], dead_letter_ids: [kept[0]!.id] })).toEqual({ pending: 1, skipped: 0, deliveries: [] });
  expect(await read()).toEqual(kept.slice(1));
  await desk.sql(`update parked_event set parked_at = now() - interval '13 days 23 hours' where id = $1`, [kept[1]!.id]);
  await desk.sql(`update parked_event set parked_at = now() - interval '14 days' where id = $1`, [kept[2]!.id]);
  await desk.restart();
  await until('one event to be left', read, (events) => events.length <= 1);
  expect(await read()).toEqual([kept[1]]);
  await desk.sql('delete from parked_event');
});

test('marks a delivery skipped when its lease ends after its endpoint was disabled', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  const [delivery] = await desk.lease();
  await one.update({ enabled: false });
  expect(await one.deliveries()).toMatchObject([{ status: 'DELIVERY_STATUS_PENDING' }]);
  await desk.sql('update webhook_queue set leased_until = now() where delivery_id = $1', [delivery!.delivery_id]);
  expect(await desk.lease()).toEqual([]);
  expect(await one.deliveries()).toMatchObject([{ status: 'DELIVERY_STATUS_SKIPPED' }]);
  expect(await desk.report(delivery!)).toMatchObject({ status: 'DELIVERY_STATUS_SUCCEEDED' });
});

test('stores attempts reported together as if they were reported one by one', async () => {
  const [one, other] = [await desk.endpoint(), await desk.endpoint()];
  const old = one.event({ timestamp: now() - DAY });
  await desk.fanOut(old, ...Array.from({ length: 4 }, () => one.event()), other.event());
  const leased = await desk.lease({ cap: 5 });
  const [a, b, c, d, e] = leased.filter(({ endpoint_id }) => endpoint_id === one.id);
  const elsewhere = leased.find(({ endpoint_id }) => endpoint_id === other.id)!;
  const at = now();
  const gone = { ...a!, delivery_id: '00000000-0000-8000-8000-000000000000' };
  const attempts = [
    reportOf(a!, { ended_at: at }),
    reportOf(b!, { response_status: 503, ended_at: at - 2 * SECOND, started_at: at - 3 * SECOND }),
    reportOf(elsewhere),
    reportOf(c!, { response_status: 410, ended_at: at + 1 }),
    reportOf(d!, { response_status: 500, ended_at: at + 2 }),
    reportOf(gone),
    reportOf(a!, { ended_at: at }),
  ];
  const { answers } = await desk.deliveries.reportAll({ attempts });
  expect(answers.map(({ status, endpoint_disabled, unknown }) => [status.replace('DELIVERY_STATUS_', ''), endpoint_disabled, unknown])).toEqual([
    ['SUCCEEDED', false, false],
    ['PENDING', false, false],
    ['SUCCEEDED', false, false],
    ['SKIPPED', true, false],
    ['SKIPPED', false, false],
    ['UNSPECIFIED', false, true],
    ['SUCCEEDED', false, false],
  ]);
  expect((await one.deliveries()).map(({ attempts: list }) => list.length).toSorted()).toEqual([0, 1, 1, 1, 1]);
  expect(await desk.deliveries.reportAll({ attempts })).toMatchObject({ answers: answers.map(({ status }) => ({ status, endpoint_disabled: false })) });
  expect((await one.deliveries()).flatMap(({ attempts: list }) => list)).toHaveLength(4);
  expect(await one.read()).toMatchObject({ enabled: false, disabled_reason: 'DISABLED_REASON_GONE' });
  expect(await desk.report(e!)).toMatchObject({ status: 'DELIVERY_STATUS_SUCCEEDED' });
});

test('disables the endpoint after 410, and keeps its deliveries for a recovery', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event(), one.event({ timestamp: now() + 1000 }));
  const [delivery] = await desk.lease({ max: 1 });
  expect(await desk.report(delivery!, { response_status: 410 })).toMatchObject({ endpoint_disabled: true, status: 'DELIVERY_STATUS_SKIPPED' });
  expect(await one.read()).toMatchObject({ enabled: false, disabled_reason: 'DISABLED_REASON_GONE' });
  await desk.fanOut(one.event({ timestamp: now() + 2000 }));
  expect((await one.deliveries()).map(({ status }) => status)).toEqual(Array(3).fill('DELIVERY_STATUS_SKIPPED'));
  expect(await desk.lease()).toEqual([]);

  await one.update({ enabled: true });
  expect(await one.read()).toMatchObject({ enabled: true, disabled_reason: null });
  const recovered = await desk.webhooks.recoverWebhook({ caller: one.caller, id: one.id, since: now() - DAY, until: now() + DAY });
  expect(recovered.data).toEqual({ queued: 3, remaining: 0 });
  const leased = await desk.lease();
  expect(leased).toHaveLength(3);
  await Promise.all(leased.map((each) => desk.report(each)));
  expect((await one.deliveries()).map(({ status }) => status)).toEqual(Array(3).fill('DELIVERY_STATUS_SUCCEEDED'));
});

test('continues a recovery after its response until all is queued, even after a restart', async () => {
  const one = await desk.endpoint({ enabled: false });
  const since = now() - DAY / 24;
  const skip = (count: number) =>
    desk.sql(
      `insert into webhook_deliveries (day, id, company_id, endpoint_id, event_id, event_type, subject, sequence, occurred_at, state)
       select (at at time zone 'UTC')::date, overlay(gen_random_uuid()::text placing (
           select substr(time, 1, 8) || '-' || substr(time, 9) from lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') time) from 1)::uuid,
         $1, $2, gen_random_uuid(), 'service_request.created', i::text, 1, at, 'SKIPPED'
       from generate_series(1, $3::int) i cross join lateral (select date_trunc('milliseconds', now()) - i * interval '1 millisecond' as at) t`,
      [one.company.id, one.id, count],
    );
  await skip(4500);
  const { data } = await desk.webhooks.recoverWebhook({ caller: one.caller, id: one.id, since });
  expect(data?.queued).toBe(2000);
  expect(data?.remaining).toBeLessThanOrEqual(2500);
  await desk.restart();
  const queued = async () => (await desk.sql('select count(*) from webhook_queue where endpoint_id = $1', [one.id]))[0]!['count'] as number;
  await until('all deliveries', queued, (count) => count >= 4500);
  await until('the recovery to end', async () => (await desk.sql('select from webhook_replays')).length === 0);
  expect((await desk.webhooks.recoverWebhook({ caller: one.caller, id: one.id, since })).data).toEqual({ queued: 0, remaining: 0 });
});

test('disables an endpoint after five days of only failures and e-mails its creator, unless there was a success', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event(), one.event(), one.event());
  const leased = await desk.lease();
  await desk.report(leased[0]!, FAILURE);
  const since = `update webhook_endpoints set failing_since = now() - interval '5 days' where id = $1`;
  await desk.sql(since, [one.id]);
  await desk.report(leased[1]!);
  expect(await desk.report(leased[2]!, FAILURE)).toMatchObject({ endpoint_disabled: false });
  await desk.sql(since, [one.id]);
  await desk.fanOut(one.event());
  const [last] = await desk.lease();
  expect(await desk.report(last!, FAILURE)).toMatchObject({ endpoint_disabled: true });
  expect(await one.read()).toMatchObject({ enabled: false, disabled_reason: 'DISABLED_REASON_FAILING' });
  const mails = await desk.sql('select user_id, subject from mails where company_id = $1', [one.company.id]);
  expect(mails).toEqual([{ user_id: one.user.id, subject: 'Webhook endpoint disabled: Lead sync' }]);
});

test('pauses an endpoint that asks to slow down, and then leases one delivery at a time', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event(), one.event(), one.event());
  const [delivery] = await desk.lease({ max: 1 });
  const answer = await desk.report(delivery!, { response_status: 429, retry_after_seconds: 120 });
  expect(answer.next_attempt_at).toBeGreaterThanOrEqual(now() + 100 * SECOND);
  expect(await desk.lease()).toEqual([]);
  await desk.sql('update webhook_endpoints set resume_at = now() where id = $1', [one.id]);
  const [next, ...others] = await desk.lease();
  expect(others).toEqual([]);
  await desk.report(next!);
  const [last] = await desk.lease();
  await desk.report(last!);
});

test('excludes endpoints with an open circuit, and does not let a busy endpoint push others out of a batch', async () => {
  const [busy, quiet] = [await desk.endpoint(), await desk.endpoint()];
  await desk.fanOut(...Array.from({ length: 30 }, () => busy.event()), quiet.event());
  expect((await desk.lease({ without: [busy.id], max: 5 })).map(({ endpoint_id }) => endpoint_id)).toEqual([quiet.id]);
  await desk.sql('update webhook_queue set leased_until = now() where endpoint_id = $1', [quiet.id]);
  const leased = await desk.lease({ max: 5, cap: 10 });
  expect(leased.filter(({ endpoint_id }) => endpoint_id === quiet.id)).toHaveLength(1);
  expect(leased).toHaveLength(5);
});
