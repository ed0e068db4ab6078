import { now } from '@truckroll/contract';
import { oldestDay } from '../src/webhooks/log/partitions.ts';
import { refusal } from './harness.ts';
import { DAY, startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

const BOOKED = JSON.stringify({ summary: { $eq: 'BOOKED' } });
const TYPES = ['service_request.created', 'interaction.completed'];

test('stores deliveries only of events that match, and leases them at once', async () => {
  const one = await desk.endpoint({ filter: BOOKED, event_types: TYPES });
  const { data: other } = await desk.webhooks.createWebhook({ caller: one.caller, name: 'All', url: 'https://example.com/all', event_types: TYPES });
  const events = [
    one.event({ data: { summary: 'NEW' } }),
    one.event({ data: { summary: 'BOOKED' } }),
    one.event({ data: { summary: null } }),
    one.event({ type: 'interaction.completed', data: { summary: 'COMPLETED' } }),
  ];
  const { pending, deliveries } = await desk.deliveries.fanOut({ events, dead_letter_ids: [], lease: desk.asked({}) });
  expect(pending).toBe(5);
  expect(deliveries.filter(({ endpoint_id }) => endpoint_id === one.id).map(({ event_id }) => event_id)).toEqual([events[1]!.id]);
  expect(deliveries.filter(({ endpoint_id }) => endpoint_id === other!.id)).toHaveLength(4);
  expect((await one.deliveries()).map(({ event_id }) => event_id)).toEqual([events[1]!.id]);
});

test('keeps every event, once, even if no endpoint gets it', async () => {
  const one = await desk.endpoint({ filter: BOOKED });
  const event = one.event({ data: { summary: 'NEW' }, subject_number: 'SR-1', customer_name: 'Whitfield', sequence: 7 });
  for (let i = 0; i < 2; i++) expect(await desk.fanOut(event)).toMatchObject({ pending: 0, skipped: 0 });
  expect(
    await desk.sql('select id, type, subject, sequence, subject_number, customer_name from webhook_event_log where company_id = $1', [one.company.id]),
  ).toEqual([{ id: event.id, type: event.type, subject: event.subject, sequence: 7, subject_number: 'SR-1', customer_name: 'Whitfield' }]);
  expect(await desk.sql('select body from webhook_events where id = $1', [event.id])).toEqual([{ body: event.body }]);
});

test('shows, changes and removes a filter', async () => {
  const one = await desk.endpoint({ filter: BOOKED });
  expect((await one.read()).filter).toBe(BOOKED);
  const changed = '{"summary":{"$ne":"BOOKED"}}';
  expect((await one.update({ filter: changed })).data?.filter).toBe(changed);
  await desk.fanOut(one.event({ data: { summary: 'BOOKED' } }), one.event({ data: { summary: 'NEW' } }));
  expect(await one.deliveries()).toHaveLength(1);
  expect((await one.update({ url: 'https://example.com/other' })).data?.filter).toBe(changed);
  expect((await one.update({ filter: '' })).data?.filter).toBeNull();
  await desk.fanOut(one.event({ data: { summary: 'BOOKED' } }));
  expect(await one.deliveries()).toHaveLength(2);
  expect((await (await desk.endpoint({ filter: '' })).read()).filter).toBeNull();
});

test('checks a filter against the event types, when either is changed', async () => {
  const filter = JSON.stringify({ previous_status: { $eq: 'NEW' } });
  const caller = (await desk.endpoint()).caller;
  const request = { caller, name: 'Lead sync', url: 'http://example.com', event_types: ['service_request.created'], filter };
  expect((await refusal(desk.webhooks.createWebhook(request))).details.map(({ field }) => field)).toEqual(['url', 'filter.previous_status']);
  const one = await desk.endpoint({ filter, event_types: ['service_request.status_changed'] });
  const fields = async (change: Parameters<typeof one.update>[0]) => (await refusal(one.update(change))).details.map(({ field }) => field);
  expect(await fields({ event_types: { values: ['service_request.created'] } })).toEqual(['filter.previous_status']);
  expect(await fields({ filter: '{"outcome":{"$exists":true}}' })).toEqual(['filter.outcome']);
  expect((await one.read()).filter).toBe(filter);
  await one.update({ event_types: { values: ['interaction.completed'] }, filter: '{"outcome":{"$exists":true}}' });
  // A filter that is removed is not checked against the new types.
  const { data } = await one.update({ event_types: { values: ['service_request.created'] }, filter: '' });
  expect(data).toMatchObject({ event_types: ['service_request.created'], filter: null });
});

test('creates partitions of the event log where an older release has created the others', async () => {
  const one = await desk.endpoint();
  const [{ today }] = (await desk.sql(`select to_char(now() at time zone 'UTC', 'YYYYMMDD') as today`)) as [{ today: string }];
  await desk.sql(`drop table webhook_event_log_${today}`);
  await desk.restart();
  await desk.fanOut(one.event());
  expect(await desk.sql('select from webhook_event_log where company_id = $1', [one.company.id])).toHaveLength(1);
});

test('refuses a filter that no event of its types can fulfil when either is set, and leaves a stored one alone', async () => {
  const never = '{"status":{"$eq":"BOOKED"}}';
  const one = await desk.endpoint({ event_types: ['service_request.booked'], filter: never });
  const refused = [{ field: 'filter.status', code: 'OUT_OF_RANGE', message: expect.stringContaining('in service_request.created it is NEW') }];
  const created = { values: ['service_request.created'] };
  expect((await refusal(one.update({ event_types: created }))).details).toMatchObject(refused);
  expect((await refusal(desk.endpoint({ filter: never }))).details).toMatchObject(refused);
  await desk.sql(`update webhook_endpoints set event_types = '{service_request.created}' where id = $1`, [one.id]);
  expect((await one.update({ name: 'Renamed', url: 'https://example.com/other' })).data).toMatchObject({ name: 'Renamed', filter: never });
  expect((await refusal(one.update({ filter: never }))).details).toMatchObject(refused);
  expect((await refusal(one.update({ event_types: created }))).details).toMatchObject(refused);
  const preview = await desk.webhooks.previewWebhookFilter({ caller: one.caller, event_types: created.values, filter: never });
  expect(preview.data?.events).toEqual([]);
});

describe('the size of filters', () => {
  /** A filter of this many bytes, of characters with two bytes each. */
  const sized = (bytes: number): string => {
    const empty = Buffer.byteLength(JSON.stringify({ summary: { $eq: '' } }));
    return JSON.stringify({ summary: { $eq: `${'é'.repeat((bytes - empty) >> 1)}${'x'.repeat((bytes - empty) & 1)}` } });
  };

  test('is at most 16 KB of UTF-8, also in a preview', async () => {
    const one = await desk.endpoint({ filter: sized(16_384) });
    expect((await one.update({ filter: sized(16_383) })).data?.filter).toBe(sized(16_383));
    const message = 'Shorten it to 16384 bytes of UTF-8: it has 16385.';
    const tooLarge = [{ field: 'filter', code: 'TOO_LARGE', message }];
    expect((await refusal(one.update({ filter: sized(16_385) }))).details).toMatchObject(tooLarge);
    const preview = desk.webhooks.previewWebhookFilter({ caller: one.caller, event_types: ['service_request.created'], filter: sized(16_385) });
    expect((await refusal(preview)).details).toMatchObject(tooLarge);
  });

  test('is at most 512 KB for a company together, and filters that were stored before stay and may become shorter', async () => {
    const one = await desk.endpoint();
    const create = async (filter: string) => {
      const request = { caller: one.caller, name: 'Other', url: 'https://example.com/other', event_types: ['service_request.created'], filter };
      return (await desk.webhooks.createWebhook(request)).data!.id;
    };
    const other = await create(BOOKED);
    await desk.sql(`update webhook_endpoints set filter = '"' || repeat('é', 262135) || '"' where id = $1`, [other]);
    expect((await one.update({ filter: '' })).data?.filter).toBeNull();
    const smallest = '{"summary":{"$eq":"NEW"}}';
    for (const refused of [one.update({ filter: smallest }), create(smallest)]) {
      expect(await refusal(refused)).toMatchObject({
        code: 'LIMIT_REACHED',
        status: 409,
        message: expect.stringContaining('other endpoints have 524272 bytes'),
      });
    }
    expect((await desk.webhooks.updateWebhook({ caller: one.caller, id: other, name: 'Renamed' })).data?.name).toBe('Renamed');
    expect((await desk.webhooks.updateWebhook({ caller: one.caller, id: other, filter: smallest })).data?.filter).toBe(smallest);
    expect((await one.update({ filter: sized(16_384) })).data?.filter).toBe(sized(16_384));
    await desk.webhooks.deleteWebhook({ caller: one.caller, id: other });
    // The size of another company's filters is its own.
    await desk.sql(`update webhook_endpoints set filter = repeat('x', 524288) where id = $1`, [(await desk.endpoint()).id]);
    expect((await one.update({ filter: sized(16_383) })).data?.filter).toBe(sized(16_383));
  });
});

describe('a preview', () => {
  const preview = async (one: Awaited<ReturnType<typeof desk.endpoint>>, filter: string | undefined, event_types = ['service_request.created']) =>
    (await desk.webhooks.previewWebhookFilter({ caller: one.caller, event_types, filter })).data!;

  test('shows which of the newest events a filter would have let through, newest first', async () => {
    const one = await desk.endpoint({ filter: BOOKED });
    const other = await desk.endpoint();
    const events = ['NEW', 'BOOKED', 'NEW', 'CLOSED'].map((summary, index) =>
      one.event({ data: { summary }, timestamp: now() - DAY + index, subject_number: `SR-${index}` }),
    );
    await desk.fanOut(...events, one.event({ type: 'interaction.completed', data: { summary: 'COMPLETED' } }), other.event({ data: { summary: 'NEW' } }));
    const shown = await preview(one, JSON.stringify({ summary: { $eq: 'NEW' } }));
    expect(shown).toMatchObject({ examined: 5, oldest_at: events[0]!.timestamp });
    expect(shown.events.map(({ subject_number }) => subject_number)).toEqual(['SR-2', 'SR-0']);
    expect(shown.events[1]).toMatchObject({
      id: events[0]!.id,
      event_type: 'service_request.created',
      created_at: events[0]!.timestamp,
      subject: events[0]!.subject,
    });
    for (const none of [undefined, '']) expect((await preview(one, none)).events).toHaveLength(4);
    expect((await preview(one, undefined, ['interaction.completed'])).events).toHaveLength(1);
    expect((await refusal(preview(one, '{"stratus":{"$exists":true}}'))).details).toMatchObject([{ field: 'filter.stratus', code: 'UNKNOWN_FIELD' }]);
  });

  test('examines events from the oldest day that is kept, and none of a day before, which may not be dropped yet', async () => {
    const one = await desk.endpoint();
    const oldest = Date.parse(oldestDay()) * 1000;
    await desk.fanOut(one.event({ timestamp: oldest }));
    const day = new Date(oldest / 1000 - 86_400_000).toISOString().slice(0, 10);
    await desk.sql(`create table webhook_event_log_past partition of webhook_event_log for values from ('${day}') to ('${oldestDay()}')`);
    await desk.sql(
      `insert into webhook_event_log (day, company_id, occurred_at, id, type, subject, sequence)
       select day - 1, company_id, occurred_at - interval '1 microsecond', gen_random_uuid(), type, 'x', 1 from webhook_event_log where company_id = $1`,
      [one.company.id],
    );
    expect(await preview(one, undefined)).toMatchObject({ examined: 1, oldest_at: oldest });
    await desk.sql('drop table webhook_event_log_past');
  });

  test('examines the newest thousand events only, of the last 30 days', async () => {
    const one = await desk.endpoint();
    const event = one.event({ data: { summary: 'NEW' } });
    await desk.fanOut(event);
    expect(await preview(await desk.endpoint(), undefined)).toEqual({ examined: 0, oldest_at: null, events: [] });
    await desk.sql(
      `insert into webhook_event_log (day, company_id, occurred_at, id, type, subject, sequence)
       select day, company_id, occurred_at + i * interval '1 microsecond', gen_random_uuid(), 'interaction.completed', 'x', 1
       from webhook_event_log, generate_series(1, 1000) i where id = $1`,
      [event.id],
    );
    expect(await preview(one, undefined)).toMatchObject({ examined: 1000, events: [] });
    await desk.sql(
      `delete from webhook_event_log where company_id = $1 and id in (
      select id from webhook_event_log where company_id = $1 and type = 'interaction.completed' limit 1)`,
      [one.company.id],
    );
    expect((await preview(one, undefined)).events).toHaveLength(1);
  });
});
