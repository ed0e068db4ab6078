import { formatDate, now } from '@truckroll/contract';
import { createSession, type Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { until } from '@truckroll/testing/until';
import { Partitions, oldestDay } from '../src/webhooks/log/partitions.ts';
import { DAY, FAILURE, SECOND, startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
let database: Database;
beforeAll(async () => {
  desk = await startDesk();
  database = desk.openDatabase();
}, 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

const partitions = async (): Promise<string[]> =>
  (await desk.sql(`select relname from pg_class where relname ~ '^webhook_(events|event_log|deliveries|attempts)_[0-9]{8}$' order by 1`)).map(
    ({ relname }) => relname,
  );

test('stores an old event in the partition of its day, and ignores one from before the oldest day', async () => {
  const one = await desk.endpoint();
  const timestamp = now() - 20 * DAY;
  expect(await desk.fanOut(one.event({ timestamp }), one.event({ timestamp: now() - 40 * DAY }))).toMatchObject({ pending: 1, skipped: 0 });
  const day = formatDate(Math.floor(timestamp / DAY)).replaceAll('-', '');
  expect(await partitions()).toEqual(
    expect.arrayContaining([`webhook_events_${day}`, `webhook_event_log_${day}`, `webhook_deliveries_${day}`, `webhook_attempts_${day}`]),
  );
  const [delivery] = await desk.lease();
  await desk.report(delivery!);
  expect(await one.deliveries()).toMatchObject([{ created_at: timestamp, status: 'DELIVERY_STATUS_SUCCEEDED' }]);
});

test('drops days older than 30 days with their queued deliveries, and nothing else; nothing while a company is frozen', async () => {
  const one = await desk.endpoint();
  const timestamp = now() - 29 * DAY;
  await desk.fanOut(one.event({ timestamp }), one.event({ timestamp: timestamp + DAY }), one.event());
  const tidy = new Partitions(database, silentLog);
  expect((await tidy.drop()).filter((name) => name.includes(oldestDay().replaceAll('-', '')))).toEqual([]);
  expect(await tidy.drop(now() + DAY)).toEqual([]);
  await desk.sql('insert into frozen_companies (company_id) values ($1)', [one.company.id]);
  expect(await tidy.drop(now() + 2 * DAY)).toEqual([]);
  await desk.sql('delete from frozen_companies');
  const dropped = await tidy.drop(now() + 2 * DAY);
  expect(dropped).toHaveLength(4);
  expect(await partitions()).not.toEqual(expect.arrayContaining(dropped));
  const left = await one.deliveries();
  expect(left).toHaveLength(2);
  expect((await desk.lease()).map(({ delivery_id }) => delivery_id).toSorted()).toEqual(left.map(({ id }) => id).toSorted());
  expect(await tidy.drop()).toEqual([]);
});

test('creates a new day once when two processes race', async () => {
  const day = formatDate(Math.floor(now() / DAY) - 10);
  await Promise.all([new Partitions(database, silentLog), new Partitions(database, silentLog)].map((each) => each.ensure([day])));
  expect((await partitions()).filter((name) => name.endsWith(day.replaceAll('-', '')))).toHaveLength(4);
});

test('identifies rows of new partitions by the whole row, and of those that an older release created', async () => {
  const day = formatDate(Math.floor(now() / DAY) - 11);
  const tidy = new Partitions(database, silentLog);
  await tidy.ensure([day]);
  const identities = (): ReturnType<typeof desk.sql> =>
    desk.sql(
      `select p.relname::text as table, c.relreplident::text as by from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
        where p.relkind = 'p' and c.relname like $1 order by 1`,
      [`%${day.replaceAll('-', '')}`],
    );
  const identified = [
    { table: 'webhook_attempts', by: 'f' },
    { table: 'webhook_deliveries', by: 'f' },
    // Its key contains the company.
    { table: 'webhook_event_log', by: 'd' },
    { table: 'webhook_events', by: 'f' },
  ];
  expect(await identities()).toEqual(identified);
  await desk.sql(`alter table webhook_deliveries_${day.replaceAll('-', '')} replica identity default`);
  await tidy.identify();
  expect(await identities()).toEqual(identified);
});

describe('partitions that an older release created', () => {
  const days = ['12', '13'].map((ago) => formatDate(Math.floor(now() / DAY) - Number(ago)));
  const [early, late] = days.map((day) => `webhook_events_${day.replaceAll('-', '')}`).toSorted() as [string, string];
  const warned: unknown[] = [];
  const log = { ...silentLog, warn: (fields: unknown) => void warned.push(fields) };
  const identities = async () =>
    (await desk.sql('select relreplident::text as by from pg_class where relname = any($1) order by relname', [[early, late]])).map(({ by }) => by);

  beforeEach(async () => {
    warned.length = 0;
    await new Partitions(database, silentLog).ensure(days);
    for (const name of [early, late]) await desk.sql(`alter table ${name} replica identity default`);
  });

  test('are identified while another one is in use, which is logged and done the next time', async () => {
    const tidy = new Partitions(database, log);
    const reader = await desk.session();
    try {
      await reader.query({ text: 'begin' });
      await reader.query({ text: `lock table ${early} in access share mode` });
      await tidy.identify();
      expect([await identities(), warned]).toEqual([['d', 'f'], [{ locked: [early] }]]);
    } finally {
      await reader.close();
    }
    await tidy.identify();
    expect([await identities(), warned.length]).toEqual([['f', 'f'], 1]);
  });

  test('are passed over if another replica has just dropped or identified them', async () => {
    const reader = await desk.session();
    const meanwhile = async (): Promise<void> => {
      await reader.query({ text: `drop table ${early}` });
      await reader.query({ text: `alter table ${late} replica identity full` });
      await reader.query({ text: 'begin' });
      await reader.query({ text: `lock table ${late} in access share mode` });
    };
    const raced = {
      query: async (statement: { text: string }) => {
        const listed = await database.query(statement);
        await meanwhile();
        return listed;
      },
      transaction: (work: Parameters<Database['transaction']>[0]) => database.transaction(work),
    } as unknown as Database;
    try {
      await new Partitions(raced, log).identify();
      expect([await identities(), warned]).toEqual([['f'], []]);
    } finally {
      await reader.close();
    }
  });
});

test('shows an attempt and the time of the next one together, or neither, when reading while it is stored', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  const [leased] = await desk.lease();
  await desk.report(leased!, FAILURE);
  const [before] = await one.deliveries();
  const report = await createSession({ url: desk.database.url, schema: 'integrations' });
  try {
    await report.query({ text: 'begin' });
    // The reader reads the queue first and then waits for the lock on the attempts.
    await report.query({ text: 'lock table webhook_attempts in access exclusive mode' });
    const reading = one.deliveries();
    const waiting = `select from pg_locks where relation = 'webhook_attempts'::regclass and not granted`;
    await until('the reader to wait', async () => (await desk.sql(waiting)).length > 0);
    await report.query({
      text: `insert into webhook_attempts select a.day, a.delivery_id, gen_random_uuid(), 2, a.started_at, a.ended_at, a.succeeded, a.status, a.error, a.error_message,
          a.address, a.request_headers, a.response_headers, a.response_body, a.response_truncated from webhook_attempts a where a.delivery_id = $1`,
      values: [leased!.delivery_id],
    });
    await report.query({ text: `update webhook_queue set due_at = due_at + interval '1 hour' where delivery_id = $1`, values: [leased!.delivery_id] });
    await report.query({ text: 'commit' });
    expect(await reading).toEqual([before]);
  } finally {
    await report.close();
  }
  const [after] = await one.deliveries();
  expect([after!.attempts.length, after!.next_attempt_at! - before!.next_attempt_at!]).toEqual([2, 3_600_000_000]);
});

test('shows an attempt with its times, and the end of the latest one as the time of the last delivery', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event({ timestamp: now() - 60 * SECOND }), one.event());
  const [early, late] = (await desk.lease()).toSorted((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1));
  const at = now();
  const times = (of: number) => ({ started_at: at - of * SECOND - 7, ended_at: at - of * SECOND });
  await desk.report(late!, times(20));
  await desk.report(early!, times(10));
  expect((await one.deliveries()).flatMap(({ attempts }) => attempts)).toMatchObject([times(10), times(20)]);
  // That of the newest event, whichever was sent last.
  expect((await one.read()).last_delivery_at).toBe(at - 20 * SECOND);
});

test('leases a delivery with the request and the trace of its event, and the number of the attempt', async () => {
  const one = await desk.endpoint();
  const about = { request_id: '6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c11', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  await desk.fanOut(one.event(about));
  const [first] = await desk.lease();
  expect(first).toMatchObject({ ...about, attempt: 1 });
  await desk.report(first!, FAILURE);
  await desk.sql('update webhook_queue set due_at = now()');
  const [second] = await desk.lease();
  expect(second).toMatchObject({ ...about, attempt: 2 });
  await desk.report(second!);
  expect(await one.deliveries()).toMatchObject([{ request_id: about.request_id }]);
});

describe('a list of deliveries', () => {
  const shown = async (one: Awaited<ReturnType<typeof desk.endpoint>>) => {
    const [listed] = await one.deliveries();
    const key = { company_id: one.company.id, time_zone: 'America/Chicago', id: listed!.id };
    const { data } = await desk.log.getWebhookDelivery({ key, webhook_id: one.id });
    return { listed: listed!, whole: data! };
  };

  test('shows the first 2048 characters of a body, and of the headers of an answer together', async () => {
    const one = await desk.endpoint();
    const body = 'é'.repeat(2049);
    await desk.fanOut(one.event());
    await desk.sql('update webhook_events set body = $2 where company_id = $1', [one.company.id, Buffer.from(body)]);
    const headers = ['a', 'b', 'c'].map((name, index) => ({ name, value: 'x'.repeat([1000, 1046, 1][index]!) }));
    await desk.report((await desk.lease())[0]!, { response_headers: headers, response_body: Buffer.from('é'.repeat(2048)) });
    const cut = [...headers.slice(0, 2), { name: 'c', value: '… (cut)' }];
    const { listed, whole } = await shown(one);
    expect(listed).toMatchObject({ request_body: body.slice(1), request_body_truncated: true });
    expect(listed.attempts[0]!.response).toMatchObject({ headers: cut, body: 'é'.repeat(2048), body_truncated: false });
    expect(whole).toMatchObject({ request_body: body, request_body_truncated: false, attempts: [{ response: { headers } }] });
  });

  test('shows no half of a character, and says that a body is cut', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event());
    // The 2048th UTF-16 code unit is the first half of an emoji.
    const long = `x${'😀'.repeat(9000)}`;
    await desk.sql('update webhook_events set body = $2 where company_id = $1', [one.company.id, Buffer.from(long)]);
    await desk.report((await desk.lease())[0]!, { response_body: Buffer.from(long) });
    const beginning = `x${'😀'.repeat(1023)}\uFFFD`;
    const { listed, whole } = await shown(one);
    expect(listed).toMatchObject({
      request_body: beginning,
      request_body_truncated: true,
      attempts: [{ response: { body: beginning, body_truncated: true } }],
    });
    expect(whole).toMatchObject({ request_body: long, request_body_truncated: false, attempts: [{ response: { body: long, body_truncated: false } }] });
  });

  test('shows five attempts, and a cursor only where there are more', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event());
    const cursors = [];
    for (let attempt = 1; attempt <= 6; attempt++) {
      await desk.report((await desk.lease())[0]!, FAILURE);
      await desk.sql('update webhook_queue set due_at = now()');
      const { listed, whole } = await shown(one);
      expect(whole.attempts_next_cursor ?? null).toBeNull();
      cursors.push([listed.attempts.length, listed.attempts_next_cursor != null]);
    }
    expect(cursors.slice(3)).toEqual([
      [4, false],
      [5, false],
      [5, true],
    ]);
  });
});

test('shows as many attempts in a page as have a megabyte of answers together, and one that has more alone', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  for (let attempt = 0; attempt < 4; attempt++) {
    await desk.report((await desk.lease())[0]!, FAILURE);
    await desk.sql('update webhook_queue set due_at = now()');
  }
  const { id } = (await one.deliveries())[0]!;
  await desk.sql(
    `update webhook_attempts set response_body = decode(repeat('78', case number when 1 then 1 when 2 then 1000001 else 490000 end), 'hex') where delivery_id = $1`,
    [id],
  );
  const pages: number[][] = [];
  for (let after = Buffer.alloc(0); pages.length === 0 || after.length > 0; ) {
    const collection = { company_id: one.company.id, time_zone: 'America/Chicago', limit: 100, after, ids: [] };
    const { data, next } = await desk.log.listWebhookDeliveryAttempts({ collection, webhook_id: one.id, delivery_id: id });
    pages.push(data.map(({ number }) => number));
    after = Buffer.from(next);
  }
  expect(pages).toEqual([[4, 3], [2], [1]]);
});

test('shows and queues a delivery at its own endpoint only, not at another one of the company', async () => {
  const one = await desk.endpoint();
  const { data: other } = await desk.webhooks.createWebhook({
    caller: one.caller,
    name: 'Other',
    url: 'https://example.com',
    event_types: ['interaction.completed'],
  });
  await desk.fanOut(one.event());
  for (const delivery of await desk.lease()) await desk.report(delivery);
  const { id } = (await one.deliveries())[0]!;
  const scope = { company_id: one.company.id, time_zone: 'America/Chicago' };
  const collection = { ...scope, limit: 10, after: Buffer.alloc(0), ids: [id] };
  const found = async (webhook_id: string) => ({
    listed: (await desk.log.listWebhookDeliveries({ collection, webhook_id, status: [], event_type: [], progress: [] })).data.length,
    shown: await desk.log.getWebhookDelivery({ key: { ...scope, id }, webhook_id }).then(
      () => 200,
      ({ status }: { status: number }) => status,
    ),
    attempts: await desk.log.listWebhookDeliveryAttempts({ collection: { ...collection, ids: [] }, webhook_id, delivery_id: id }).then(
      ({ data }) => data.length,
      ({ status }: { status: number }) => status,
    ),
    queued: (await desk.log.redeliverWebhooks({ caller: one.caller, webhook_id, delivery_ids: [id] })).data[0]?.queued,
  });
  expect(await found(other!.id)).toEqual({ listed: 0, shown: 404, attempts: 404, queued: false });
  expect(await found(one.id)).toEqual({ listed: 1, shown: 200, attempts: 1, queued: true });
});
