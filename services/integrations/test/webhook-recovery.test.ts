import type { PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { RecoveryInclude } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { formatInstant, now } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { FAILURE, SECOND, startDesk } from './webhooks.ts';

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

const status = (value: string): string => JSON.stringify({ summary: { $eq: value } });
const { MISSED, ALL } = RecoveryInclude;

async function recover(one: Endpoint, include?: RecoveryInclude, range: { since?: number; until?: number } = {}) {
  const { data } = await desk.webhooks.recoverWebhook({ caller: one.caller, id: one.id, since: now() - 60 * SECOND, include, ...range });
  return data!;
}

async function deliver(...events: PublicEvent[]): Promise<void> {
  await desk.fanOut(...events);
  for (const leased of await desk.lease()) await desk.report(leased);
}

const sent = async (): Promise<string[]> => (await desk.lease()).map(({ event_id }) => event_id);

test('of all events sends delivered ones again, with the id that they had, and leaves waiting ones alone', async () => {
  const one = await desk.endpoint();
  const [delivered, failed, waiting] = [one.event(), one.event(), one.event()];
  await deliver(delivered);
  await desk.fanOut(failed);
  await desk.sql(`update webhook_deliveries set state = 'FAILED' where event_id = $1`, [failed.id]);
  await desk.sql('delete from webhook_queue');
  await desk.fanOut(waiting);
  const queue = await desk.sql('select * from webhook_queue');
  expect(await recover(one)).toEqual({ queued: 1, remaining: 0 });
  expect(await recover(one, MISSED)).toEqual({ queued: 0, remaining: 0 });
  expect(await recover(one, ALL)).toEqual({ queued: 1, remaining: 0 });
  expect(await desk.sql('select * from webhook_queue where delivery_id = $1', [queue[0]!['delivery_id']])).toEqual(queue);
  expect((await sent()).toSorted()).toEqual([delivered.id, failed.id, waiting.id].toSorted());
  expect(await one.deliveries()).toHaveLength(3);
});

test.each([
  ['stored deliveries', ''],
  ['events without one', status('BOOKED')],
])('covers the period from its start to before its end, for %s', async (_, filter) => {
  const one = await desk.endpoint({ filter });
  await desk.sql(`update webhook_endpoints set created_at = created_at - interval '1 hour' where id = $1`, [one.id]);
  const at = now() - 10 * SECOND;
  const events = [at - 1, at, at + SECOND - 1, at + SECOND].map((timestamp) => one.event({ timestamp, data: { summary: 'NEW' } }));
  await deliver(...events);
  await one.update({ filter: '' });
  expect(await recover(one, ALL, { since: at, until: at + SECOND })).toEqual({ queued: 2, remaining: 0 });
  expect((await sent()).toSorted()).toEqual([events[1]!.id, events[2]!.id].toSorted());
});

test('ends now at the latest, also with a later end', async () => {
  const one = await desk.endpoint();
  const events = [now(), now() + 60 * SECOND].map((timestamp) => one.event({ timestamp }));
  await deliver(...events);
  expect(await recover(one, ALL, { until: now() + 120 * SECOND })).toEqual({ queued: 1, remaining: 0 });
  expect(await sent()).toEqual([events[0]!.id]);
});

test('applies the current filter, to stored deliveries and to events without one', async () => {
  const one = await desk.endpoint({ filter: status('NEW') });
  const [early, booked, closed] = [
    one.event({ data: { summary: 'NEW' } }),
    one.event({ data: { summary: 'BOOKED' } }),
    one.event({ data: { summary: 'CLOSED' } }),
  ];
  await deliver(early, booked, closed);
  await one.update({ filter: status('BOOKED') });
  expect(await recover(one, ALL)).toEqual({ queued: 1, remaining: 0 });
  expect(await sent()).toEqual([booked.id]);
  expect(await recover(one)).toEqual({ queued: 0, remaining: 0 });
  await one.update({ filter: '' });
  expect(await recover(one)).toEqual({ queued: 1, remaining: 0 });
  expect(await sent()).toEqual([closed.id]);
});

test('of missed events has those of types that were added since, and none from before the endpoint', async () => {
  const company = await desk.endpoint();
  const before = company.event({ type: 'interaction.completed' });
  await desk.fanOut(before);
  const { data } = await desk.webhooks.createWebhook({
    caller: company.caller,
    name: 'New',
    url: 'https://example.com/new',
    event_types: ['service_request.created'],
  });
  const one = { ...company, id: data!.id };
  const [added, other] = [company.event({ type: 'interaction.completed' }), company.event({ type: 'service_request.booked' })];
  await desk.fanOut(added, other);
  await desk.webhooks.updateWebhook({ caller: one.caller, id: one.id, event_types: { values: ['interaction.completed'] } });
  expect(await recover(one)).toEqual({ queued: 1, remaining: 0 });
  expect((await desk.lease()).filter(({ endpoint_id }) => endpoint_id === one.id).map(({ event_id }) => event_id)).toEqual([added.id]);
});

test('sends a subject in order, even where a later event was stored and an earlier one was not', async () => {
  const one = await desk.endpoint({ filter: status('BOOKED') });
  const subject = 'a subject';
  const [first, second] = [one.event({ subject, sequence: 1, data: { summary: 'NEW' } }), one.event({ subject, sequence: 2, data: { summary: 'BOOKED' } })];
  await deliver(first, second);
  await one.update({ filter: '' });
  expect(await recover(one, ALL)).toEqual({ queued: 2, remaining: 0 });
  const [leased, ...others] = await desk.lease();
  expect([leased!.event_id, others]).toEqual([first.id, []]);
  await desk.report(leased!);
  expect(await sent()).toEqual([second.id]);
});

test('continues in the background, sends everything once, and only shows its progress when it is repeated', async () => {
  const one = await desk.endpoint();
  await desk.sql(`update webhook_endpoints set created_at = created_at - interval '1 hour' where id = $1`, [one.id]);
  const at = Math.floor((now() - 30 * SECOND) / 1000) * 1000;
  for (let i = 0; i < 5; i++) {
    const events = Array.from({ length: 900 }, (_, index) =>
      one.event({ timestamp: at + (i * 900 + index) * 1000, data: { summary: index % 2 ? 'NEW' : 'BOOKED' } }),
    );
    await desk.fanOut(...events);
  }
  await desk.sql(`update webhook_deliveries set state = 'SUCCEEDED' where endpoint_id = $1`, [one.id]);
  await desk.sql('delete from webhook_queue');
  await one.update({ filter: status('BOOKED') });
  expect(await recover(one, ALL)).toMatchObject({ queued: 1000, remaining: expect.any(Number) });
  const again = await recover(one, ALL);
  expect(again.queued).toBe(again.remaining === 0 ? 2250 : 0);
  await until('the recovery to end', async () => (await desk.sql('select from webhook_replays')).length === 0);
  const [counted] = await desk.sql('select count(*), count(distinct subject) as subjects from webhook_queue where endpoint_id = $1', [one.id]);
  expect(counted).toEqual({ count: 2250, subjects: 2250 });
}, 60_000);

test('sends all events of one millisecond together, although they are more than a transaction takes', async () => {
  const one = await desk.endpoint();
  const at = Math.floor((now() - 30 * SECOND) / 1000) * 1000;
  for (let i = 0; i < 3; i++) await desk.fanOut(...Array.from({ length: 700 }, (_, index) => one.event({ timestamp: at + (index % 2) })));
  await desk.sql(`update webhook_deliveries set state = 'SUCCEEDED' where endpoint_id = $1`, [one.id]);
  await desk.sql('delete from webhook_queue');
  expect(await recover(one, ALL, { since: at, until: at + 1000 })).toEqual({ queued: 2100, remaining: 0 });
}, 30_000);

test('of all events begins although one of missed events still goes on', async () => {
  const one = await desk.endpoint();
  await deliver(one.event());
  const later = now() + 60 * SECOND;
  await desk.sql(`insert into webhook_replays (endpoint_id, since, until, delivered) values ($1, $2, $2, false)`, [one.id, formatInstant(later)]);
  expect(await recover(one, ALL)).toEqual({ queued: 1, remaining: 0 });
});

test('that release 1.1.0 began goes on, as one of missed events', async () => {
  const one = await desk.endpoint();
  const failed = one.event();
  await desk.fanOut(failed);
  await desk.sql(`update webhook_deliveries set state = 'FAILED' where endpoint_id = $1`, [one.id]);
  await desk.sql('delete from webhook_queue');
  await desk.sql(`insert into webhook_recoveries (endpoint_id, since, until) values ($1, now() - interval '1 minute', now())`, [one.id]);
  await until('the event to be queued', async () => (await desk.sql('select from webhook_queue where endpoint_id = $1', [one.id])).length === 1);
  expect(await desk.sql('select from webhook_recoveries where endpoint_id = $1', [one.id])).toEqual([]);
});

test('ends with its endpoint', async () => {
  const one = await desk.endpoint({ enabled: false });
  await desk.sql(`insert into webhook_replays (endpoint_id, since, until, delivered) values ($1, now(), now(), true)`, [one.id]);
  await desk.webhooks.deleteWebhook({ caller: one.caller, id: one.id });
  expect(await desk.sql('select from webhook_replays where endpoint_id = $1', [one.id])).toEqual([]);
});

describe('a test', () => {
  const start = async (one: Endpoint, event_type?: string) => (await desk.webhooks.testWebhook({ caller: one.caller, id: one.id, event_type })).data!;

  test('sends the example of any type once, even to an endpoint that does not subscribe to it', async () => {
    const one = await desk.endpoint({ enabled: false });
    const { id, event_id } = await start(one, 'interaction.completed');
    const [leased] = await desk.lease();
    expect(leased).toMatchObject({ delivery_id: id, event_id, event_type: 'interaction.completed' });
    const body = JSON.parse(leased!.body.toString());
    expect(body).toMatchObject({
      id: event_id,
      type: 'interaction.completed',
      company_id: one.company.id,
      sequence: 1,
      data: { status: 'COMPLETED', channel: 'CALL' },
    });
    expect(Date.parse(body.timestamp)).toBeGreaterThan(Date.now() - 60_000);
    expect(await desk.report(leased!, FAILURE)).toMatchObject({ status: 'DELIVERY_STATUS_FAILED', next_attempt_at: null });
    expect(await one.deliveries()).toMatchObject([{ id, event_type: 'interaction.completed', test: true }]);
  });

  test('is never recovered, and is no event of the company', async () => {
    const one = await desk.endpoint();
    for (const type of ['service_request.created', undefined]) {
      await start(one, type);
      await desk.report((await desk.lease())[0]!, FAILURE);
    }
    expect((await one.deliveries()).map(({ test }) => test)).toEqual([true, true]);
    for (const include of [MISSED, ALL]) expect(await recover(one, include)).toEqual({ queued: 0, remaining: 0 });
    expect(await desk.sql('select from webhook_event_log where company_id = $1', [one.company.id])).toEqual([]);
  });

  test('of no type is webhook.test', async () => {
    const one = await desk.endpoint();
    await start(one);
    const [leased] = await desk.lease();
    expect(JSON.parse(leased!.body.toString())).toMatchObject({ type: 'webhook.test', data: { webhook_id: one.id } });
  });
});
