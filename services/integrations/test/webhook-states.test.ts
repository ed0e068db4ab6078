// A pause or resume loses no event and sends none twice (decisions §15).
import { randomUUID } from 'node:crypto';
import { formatInstant, now } from '@truckroll/contract';
import { WebhookHealthState } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import { WebhookState } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { pinClock, type PinnedClock } from '@truckroll/testing';
import { skipOverdue, skipQueued } from '../src/webhooks/queue/skip.ts';
import { queueSkipped, recoverSome, sendResumed } from '../src/webhooks/queue/recover.ts';
import { refusal } from './harness.ts';
import { DAY, FAILURE, SECOND, startDesk } from './webhooks.ts';

const { ENABLED, PAUSED, DISABLED } = WebhookState;

let desk: Awaited<ReturnType<typeof startDesk>>;
let clock: PinnedClock;
beforeAll(async () => {
  desk = await startDesk();
  clock = await pinClock(desk.database.url, 'integrations');
}, 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(async () => {
  await clock.close();
  await desk.stop();
});

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;

const stateOf = async (one: Endpoint) => {
  const { state, enabled, health } = await one.read();
  return { state, enabled, health: health!.state };
};
const eventsOf = (leased: { event_id: string }[]) => leased.map(({ event_id: id }) => id);
const statusesOf = async (one: Endpoint) => (await one.deliveries()).map(({ status }) => status.replace('DELIVERY_STATUS_', ''));
const story = (one: Endpoint, length: number, since = now()) => {
  const subject = randomUUID();
  return Array.from({ length }, (_, index) => one.event({ subject, sequence: index + 1, timestamp: since + index * SECOND }));
};
async function drain(): Promise<string[]> {
  const sent: string[] = [];
  for (;;) {
    const [delivery] = await desk.lease({ max: 1 });
    if (delivery === undefined) return sent;
    sent.push(delivery.event_id);
    await desk.report(delivery);
  }
}

describe('a paused endpoint', () => {
  test('keeps what is pending and queues new events, which are sent in order once it is resumed', async () => {
    const one = await desk.endpoint();
    const [first, second, third] = story(one, 3);
    await desk.fanOut(first!);
    await one.update({ state: PAUSED });
    expect(await stateOf(one)).toEqual({ state: PAUSED, enabled: false, health: WebhookHealthState.PAUSED });
    expect(await desk.deliveries.fanOut({ events: [second!], dead_letter_ids: [], lease: desk.asked({}) })).toEqual({ pending: 1, skipped: 0, deliveries: [] });
    await desk.fanOut(third!);
    expect(await desk.lease()).toEqual([]);
    expect(await one.deliveries()).toMatchObject([{}, {}, {}].map(() => ({ status: 'DELIVERY_STATUS_PENDING', next_attempt_at: null })));
    await one.update({ state: ENABLED });
    expect(await stateOf(one)).toMatchObject({ state: ENABLED, enabled: true });
    expect(await drain()).toEqual([first!.id, second!.id, third!.id]);
  });

  test('keeps a delivery whose attempt was under way, whatever the endpoint answers', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event(), one.event());
    const [gone, slow] = await desk.lease();
    await one.update({ state: PAUSED });
    await desk.report(gone!, { response_status: 410 });
    await desk.report(slow!, { response_status: 429 });
    expect(await stateOf(one)).toMatchObject({ state: PAUSED });
    expect(await statusesOf(one)).toEqual(['PENDING', 'PENDING']);
    await desk.sql('update webhook_queue set due_at = now()');
    expect(await desk.lease()).toEqual([]);
    await one.update({ enabled: true });
    expect(eventsOf(await desk.lease()).toSorted()).toEqual([gone!.event_id, slow!.event_id].toSorted());
  });

  test('stays paused after a success that ends a slow-down', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event(), one.event());
    const [slow, later] = await desk.lease();
    await desk.report(slow!, { response_status: 429 });
    await one.update({ state: PAUSED });
    await desk.report(later!);
    await desk.sql('update webhook_queue set due_at = now()');
    expect(await desk.lease()).toEqual([]);
  });

  test('stays paused when `enabled` is set to false or its URL changes, and when a release that knows no pause changes it', async () => {
    const one = await desk.endpoint({ state: PAUSED });
    await desk.fanOut(one.event());
    await one.update({ enabled: false });
    await one.update({ url: 'https://example.com/other' });
    await desk.sql('update webhook_endpoints set resume_at = null, slowdowns = 0 where id = $1', [one.id]);
    expect(await stateOf(one)).toMatchObject({ state: PAUSED });
    expect(await statusesOf(one)).toEqual(['PENDING']);
    expect(await desk.lease()).toEqual([]);
  });

  test('counts as paused since the first of several pauses', async () => {
    const one = await desk.endpoint({ state: PAUSED });
    const pausedAt = () => desk.sql('select paused_at from webhook_endpoints where id = $1', [one.id]);
    const first = await pausedAt();
    await one.update({ state: PAUSED });
    expect(await pausedAt()).toEqual(first);
  });

  test('stays paused when endpoints begin to send whose skipped events are all queued', async () => {
    const [one, resuming] = [await desk.endpoint({ state: PAUSED }), await desk.endpoint()];
    await desk.sql('update webhook_endpoints set resuming = true where id = $1', [resuming.id]);
    const stop = new AbortController();
    const notices = desk.deliveries.watchDue({ worker_id: 'test' }, { signal: stop.signal })[Symbol.asyncIterator]();
    await notices.next();
    const notice = notices.next();
    await sendResumed(clock.database);
    expect(await notice).toEqual({ done: false, value: { restarted_endpoint_ids: [resuming.id] } });
    stop.abort();
    const rows = await desk.sql('select resuming, resume_at is null as sends from webhook_endpoints where id = any($1) order by sends', [
      [one.id, resuming.id],
    ]);
    expect(rows).toEqual([
      { resuming: false, sends: false },
      { resuming: false, sends: true },
    ]);
  });

  test('receives tests and redeliveries', async () => {
    const one = await desk.endpoint({ state: PAUSED });
    const { data } = await desk.webhooks.testWebhook({ caller: one.caller, id: one.id });
    expect(eventsOf(await desk.lease())).toEqual([data!.event_id]);
  });

  test('skips waiting deliveries when it is disabled', async () => {
    const one = await desk.endpoint({ state: PAUSED });
    await desk.fanOut(one.event());
    await one.update({ state: DISABLED });
    expect(await stateOf(one)).toEqual({ state: DISABLED, enabled: false, health: WebhookHealthState.DISABLED });
    expect(await desk.sql('select paused_at, resume_at from webhook_endpoints where id = $1', [one.id])).toEqual([{ paused_at: null, resume_at: null }]);
    await desk.fanOut(one.event({ timestamp: now() + SECOND }));
    expect(await statusesOf(one)).toEqual(['SKIPPED', 'SKIPPED']);
    await one.update({ state: ENABLED });
    await desk.fanOut(one.event({ timestamp: now() + 2 * SECOND }));
    expect(await statusesOf(one)).toEqual(['SKIPPED', 'SKIPPED', 'PENDING']);
    expect(await desk.lease()).toHaveLength(1);
  });

  test('skips the oldest five days after the pause began and the delivery was due', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(...story(one, 3));
    await one.update({ state: PAUSED });
    const at = now();
    // A leased delivery is left to its report.
    await desk.sql(`update webhook_queue set due_at = $1, leased_until = now() + interval '1 hour' where sequence = 3`, [formatInstant(at - 6 * DAY)]);
    // What a user has requested is never skipped.
    await desk.sql('update webhook_queue set due_at = $1, forced = true where sequence = 2', [formatInstant(at - 6 * DAY)]);
    const waits = async (dueAt: number, pausedAt: number) => {
      await desk.sql('update webhook_queue set due_at = $1 where sequence = 1', [formatInstant(dueAt)]);
      await desk.sql('update webhook_endpoints set paused_at = $1 where id = $2', [formatInstant(pausedAt), one.id]);
      await clock.set(at);
      return await skipOverdue(clock.database);
    };
    expect(await waits(at - 5 * DAY, at - 6 * DAY)).toBe(false);
    expect(await waits(at - 6 * DAY, at - 5 * DAY)).toBe(false);
    // The service may skip it first.
    await waits(at - 5 * DAY - 1, at - 5 * DAY - 1);
    expect(await skipOverdue(clock.database)).toBe(false);
    expect(await statusesOf(one)).toEqual(['SKIPPED', 'PENDING', 'PENDING']);
    expect(await stateOf(one)).toMatchObject({ state: PAUSED });
    await one.update({ state: ENABLED, resume_skipped: true });
    expect(await drain()).toHaveLength(2);
  });
});

describe('resumeSkipped', () => {
  test('queues what was skipped since the endpoint was disabled, in order, and nothing else', async () => {
    const one = await desk.endpoint();
    const [failed, before, pending, during] = story(one, 4);
    await desk.fanOut(failed!, before!, pending!);
    await desk.sql(`update webhook_deliveries set state = 'FAILED' where event_id = $1`, [failed!.id]);
    await desk.sql(`update webhook_deliveries set state = 'SKIPPED', changed_at = now() - interval '1 hour' where event_id = $1`, [before!.id]);
    await desk.sql('delete from webhook_queue where sequence < 3');
    await one.update({ enabled: false });
    await desk.fanOut(during!);
    expect(await statusesOf(one)).toEqual(['FAILED', 'SKIPPED', 'SKIPPED', 'SKIPPED']);
    await one.update({ state: ENABLED, resume_skipped: true });
    expect(await statusesOf(one)).toEqual(['FAILED', 'SKIPPED', 'PENDING', 'PENDING']);
    expect(await drain()).toEqual([pending!.id, during!.id]);
  });

  test('lets no new event overtake a backlog that takes several transactions to queue', async () => {
    const one = await desk.endpoint({ state: DISABLED });
    const [old, fresh] = story(one, 2);
    await desk.fanOut(old!);
    await desk.sql(
      `insert into webhook_deliveries (day, id, company_id, endpoint_id, event_id, event_type, subject, sequence, occurred_at, state)
        select day, overlay(id::text placing 'ffff' || to_char(n, 'FM0000') from 29)::uuid, company_id, endpoint_id, event_id, event_type, gen_random_uuid()::text, 1,
          occurred_at, state from webhook_deliveries, generate_series(1, 2500) n where endpoint_id = $1`,
      [one.id],
    );
    // Within the transaction that enables the endpoint, because the service queues the rest in the background after it.
    await clock.database.transaction(async (tx) => {
      await tx.query({ text: 'update webhook_endpoints set enabled = true where id = $1', values: [one.id] });
      await queueSkipped(tx, one.company.id, one.id, now() - 60 * SECOND);
      const { rows } = await tx.query({ text: `select resuming, resume_at > '2199-01-01' as held from webhook_endpoints where id = $1`, values: [one.id] });
      expect(rows).toEqual([{ resuming: true, held: true }]);
    });
    await desk.fanOut(fresh!);
    const resuming = async () => (await desk.sql('select resuming from webhook_endpoints where id = $1', [one.id]))[0]!['resuming'] as boolean;
    while (await resuming()) if (!(await recoverSome(clock.database))) await sendResumed(clock.database);
    const [{ count, skipped }] = (await desk.sql(
      `select count(*), count(*) filter (where state = 'SKIPPED') as skipped from webhook_deliveries where endpoint_id = $1`,
      [one.id],
    )) as [{ count: number; skipped: number }];
    expect({ count, skipped }).toEqual({ count: 2502, skipped: 0 });
    expect(await desk.sql('select from webhook_queue')).toHaveLength(2502);
    expect(await desk.lease({ max: 1 })).toHaveLength(1);
  });

  test('ends when the endpoint is disabled again, and a recovery that its user began does not', async () => {
    const one = await desk.endpoint();
    await clock.database.transaction(async (tx) => {
      await tx.query({
        text: `with resumed as (insert into webhook_recoveries (endpoint_id, since, until, skipped_since) values ($1, now(), now(), now()))
          insert into webhook_replays (endpoint_id, since, until, delivered) values ($1, now(), now(), false)`,
        values: [one.id],
      });
      await skipQueued(tx, one.company.id, one.id);
      const { rows } = await tx.query({
        text: 'select (select count(*) from webhook_recoveries where endpoint_id = $1) as resumed, (select count(*) from webhook_replays where endpoint_id = $1) as begun',
        values: [one.id],
      });
      expect(rows).toEqual([{ resumed: 0, begun: 1 }]);
    });
  });

  test.each([
    [{ resume_skipped: true }, 'resumeSkipped'],
    [{ state: PAUSED, resume_skipped: true }, 'resumeSkipped'],
    [{ state: PAUSED, enabled: true }, 'enabled'],
    [{ state: ENABLED, enabled: false }, 'enabled'],
  ])('is refused with %j', async (change, field) => {
    const one = await desk.endpoint();
    expect((await refusal(one.update(change))).details).toMatchObject([{ field, code: 'INVALID_FORMAT' }]);
  });
});

test('an endpoint that was disabled for failing counts as stopped since then', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(...story(one, 2));
  const [delivery] = await desk.lease();
  await desk.report(delivery!, { ...FAILURE, response_status: 410 });
  expect(await stateOf(one)).toMatchObject({ state: DISABLED });
  expect(await statusesOf(one)).toEqual(['SKIPPED', 'SKIPPED']);
  await one.update({ enabled: true, resume_skipped: true });
  expect(await drain()).toHaveLength(2);
});

test('an endpoint that was disabled before its stops were noted counts as stopped since its last change', async () => {
  const one = await desk.endpoint({ state: DISABLED });
  await desk.fanOut(...story(one, 2));
  const [kept] = await one.deliveries();
  const change = `update webhook_endpoints set stopped_at = null, updated_at = now() - interval '1 hour' where id = $1`;
  await desk.sql('alter table webhook_endpoints disable trigger user');
  await desk.sql(change, [one.id]);
  await desk.sql('alter table webhook_endpoints enable trigger user');
  await desk.sql(`update webhook_deliveries set changed_at = now() - interval '2 hours' where id = $1`, [kept!.id]);
  await one.update({ enabled: true, resume_skipped: true });
  expect(await drain()).toHaveLength(1);
});

test('an endpoint has each event type once, and its audit trail has its settings but nothing that deliveries change', async () => {
  const one = await desk.endpoint({ event_types: ['service_request.created', 'interaction.completed', 'service_request.created'] });
  expect((await one.read()).event_types).toEqual(['service_request.created', 'interaction.completed']);
  await one.update({ event_types: { values: ['interaction.completed', 'interaction.completed'] } });
  expect((await one.read()).event_types).toEqual(['interaction.completed']);
  const [created, updated] = await desk.sql('select before, after from audit_events where object_id = $1 order by at', [one.id]);
  const [state, after] = [created!['after'], updated!['after']].map((text) => JSON.parse(String(text)) as Record<string, unknown>);
  expect(JSON.parse(String(updated!['before']))).toEqual({ eventTypes: state!['eventTypes'], updatedAt: state!['updatedAt'] });
  expect(after).toEqual({ eventTypes: ['interaction.completed'], updatedAt: expect.any(String) });
  for (const field of ['lastDeliveryAt', 'lastDeliveryStatus', 'health', 'signingSecret']) expect(state).not.toHaveProperty(field);
});
