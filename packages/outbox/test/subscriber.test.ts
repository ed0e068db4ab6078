import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { openProducer, openProxy } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import type { Producer } from 'kafkajs';
import { messageOf, type IncomingEvent } from '../src/event.ts';
import { Subscriber, deadLetterHandlers, retryDeadLetters, type Subscription, type Topic } from '../src/index.ts';
import type { SubscriberOptions } from '../src/subscription.ts';
import { COMPANY, Collected, createMetrics, createTopic, kafka, metric, openSetting, textOf } from './setting.ts';

let setting: Awaited<ReturnType<typeof openSetting>>;
let producer: Producer;
const parts: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  producer = await openProducer(kafka);
});
afterAll(() => producer.disconnect());
beforeEach(async () => {
  setting = await openSetting();
});
afterEach(async () => {
  await Promise.all(parts.splice(0).map((part) => part.stop()));
  await setting.close();
});

interface Sent {
  key?: string;
  text?: string | null;
  version?: number;
}

let sent = 0;
/** Sends events as a relay would. By default each has its own key and a version greater than all earlier ones. */
async function send(topic: Topic, ...events: Sent[]): Promise<void> {
  const messages = events.map(({ key, text = '', version }) =>
    messageOf(
      {
        id: version ?? (sent += 1),
        event_id: randomUUID(),
        topic: topic.name,
        key: key ?? `k${sent}`,
        type: 'thing.changed',
        company_id: COMPANY,
        sequence: null,
        trace: null,
        request_id: null,
        payload: text === null ? null : Buffer.from(text),
        created_at: 0,
      },
      '/trial',
    ),
  );
  await producer.send({ topic: topic.name, messages });
}

const placed = (): Pick<SubscriberOptions, 'reached' | 'storedOffsets'> => ({
  async reached(tx, topic, offsets) {
    await tx.query({
      text: `insert into places select $1, partition, place + 1 from unnest($2::int[], $3::bigint[]) p(partition, place)
        on conflict (topic, partition) do update set next = greatest(places.next, excluded.next)`,
      values: [topic, [...offsets.keys()], [...offsets.values()]],
    });
  },
  async storedOffsets() {
    const { rows } = await setting.database.query<{ topic: string; partition: number; next: number }>({ text: 'select * from places' });
    return (topic, partition) => rows.find((row) => row.topic === topic && row.partition === partition)?.next ?? 0;
  },
});

function subscribe(topic: Topic, own: Partial<Subscription> & { database?: Database } = {}, more: Pick<SubscriberOptions, 'reached' | 'storedOffsets'> = {}) {
  const applied = new Collected<IncomingEvent>();
  const metrics = createMetrics('trial');
  const { database = setting.database, ...rest } = own;
  const subscription: Subscription = {
    topic,
    deduplicate: 'version',
    apply: async (tx, events) => tx.afterCommit(() => applied.add(...events)),
    ...rest,
  };
  const subscriber = new Subscriber({ database, kafka, group: topic.name, subscriptions: [subscription], log: silentLog, metrics, ...more });
  parts.push(subscriber);
  return { subscriber, applied, metrics };
}

const texts = (applied: Collected<IncomingEvent>) => applied.items.map(textOf);

test('reads from the beginning in a new group, and continues at the committed offset after a restart', async () => {
  const topic = await createTopic();
  await send(topic, { text: '1' }, { text: '2' });
  const first = subscribe(topic);
  await first.subscriber.start();
  await first.applied.count(2);
  await first.subscriber.stop();
  await send(topic, { text: '3' });
  const second = subscribe(topic, { deduplicate: 'handler' });
  await second.subscriber.start();
  await second.applied.count(1);
  expect([...texts(first.applied), ...texts(second.applied)]).toEqual(['1', '2', '3']);
});

test('applies a repeated event once, in one batch or in two', async () => {
  const topic = await createTopic();
  const event = { key: 'k', version: 1, text: 'once' };
  const { subscriber, applied, metrics } = subscribe(topic);
  await send(topic, event, { text: 'between' }, event);
  await subscriber.start();
  await applied.count(2);
  await send(topic, event, { text: 'last' });
  await applied.count(3);
  expect(texts(applied)).toEqual(['once', 'between', 'last']);
  await until(
    'two repeated events',
    async () => (await metrics.render()).body,
    (body) => /consumer_events_total\{.*result="repeated".*\} 2/.test(body),
  );
});

test('deletes old versions while it runs', async () => {
  const topic = await createTopic('latest');
  await setting.database.query({
    text: `insert into inbox_version (consumer, topic, key, version, applied_at) values ($1, $1, 'old', 1, now() - interval '15 days')`,
    values: [topic.name],
  });
  await subscribe(topic).subscriber.start();
  await until(
    'no stored versions',
    async () => (await setting.database.query({ text: 'select from inbox_version' })).rowCount,
    (count) => count === 0,
  );
});

test('applies only newer events of a compacted topic, deletions included', async () => {
  const topic = await createTopic('latest');
  const { subscriber, applied } = subscribe(topic);
  await subscriber.start();
  await send(topic, { key: 'a', text: 'a5', version: 5 });
  await applied.count(1);
  await send(topic, { key: 'a', text: 'a4', version: 4 }, { key: 'a', text: null, version: 7 }, { key: 'b', text: 'b1', version: 1 });
  await applied.count(3);
  await send(topic, { key: 'a', text: 'a6', version: 6 }, { key: 'b', text: 'b2', version: 2 });
  await applied.count(4);
  expect(texts(applied)).toEqual(['a5', undefined, 'b1', 'b2']);
});

test('makes a dead letter of an event that cannot be applied, continues, and can apply it later', async () => {
  const topic = await createTopic();
  let fixed = false;
  const applied = new Collected<string | undefined>();
  const { subscriber, metrics } = subscribe(topic, {
    apply: async (tx, events) => {
      await tx.query({ text: 'insert into applied (payload) select unnest($1::text[])', values: [events.map(textOf)] });
      if (!fixed && events.some((item) => textOf(item) === 'poison')) throw new TypeError('cannot read it');
      tx.afterCommit(() => applied.add(...events.map(textOf)));
    },
  });
  await send(topic, { text: 'before' }, { key: 'k', text: 'poison' }, { text: 'after' });
  await subscriber.start();
  await applied.count(2);
  expect(applied.items).toEqual(['before', 'after']);
  const letters = await setting.database.query({ text: 'select key, convert_from(payload, $1) as payload, reason from parked_event', values: ['UTF8'] });
  expect(letters.rows).toEqual([{ key: 'k', payload: 'poison', reason: 'TypeError: cannot read it' }]);
  expect((await metrics.render()).body).toMatch(/consumer_events_total\{.*result="parked".*\} 1/);
  expect(await retryDeadLetters(subscriber)).toEqual({ applied: 0, reason: 'TypeError: cannot read it' });
  fixed = true;
  expect(await retryDeadLetters(subscriber)).toEqual({ applied: 1, reason: null });
  expect(applied.items).toEqual(['before', 'after', 'poison']);
  expect(await retryDeadLetters(subscriber)).toEqual({ applied: 0, reason: null });
  const { rows } = await setting.database.query({ text: 'select payload from applied order by position' });
  expect(rows.map((row) => row['payload'])).toEqual(['before', 'after', 'poison']);
});

test('applies queued events of several partitions in one transaction, and a failing event blocks no other partition', async () => {
  const topic = await createTopic('latest', 4);
  const batches: string[][] = [];
  const { subscriber, applied } = subscribe(topic, {
    apply: async (tx, events) => {
      const texts = events.map((item) => textOf(item) as string);
      batches.push(texts);
      if (texts.includes('poison')) throw new TypeError('cannot read it');
      tx.afterCommit(() => applied.add(...events));
    },
  });
  const keys = Array.from({ length: 20 }, (_, i) => `key ${i}`);
  await send(
    topic,
    ...keys.flatMap((key) => [
      { key, text: `${key} first` },
      { key, text: `${key} last` },
    ]),
  );
  await subscriber.start();
  await applied.count(keys.length);
  expect(new Set(applied.items.map(({ partition }) => partition)).size).toBe(4);
  expect(batches.length).toBeLessThan(4);
  expect(texts(applied).toSorted()).toEqual(keys.map((key) => `${key} last`).toSorted());
  await send(topic, ...keys.map((key, i) => ({ key, text: i === 7 ? 'poison' : `${key} again` })));
  await applied.count(2 * keys.length - 1);
  const { rows } = await setting.database.query({ text: `select convert_from(payload, 'UTF8') as payload from parked_event` });
  expect(rows).toEqual([{ payload: 'poison' }]);
});

test('neither undoes a newer event with a dead letter of a compacted topic, nor applies an older one after it', async () => {
  const topic = await createTopic('latest');
  let broken = true;
  const { subscriber, applied } = subscribe(topic, {
    apply: async (tx, events) => {
      if (broken) throw new TypeError('cannot read it');
      tx.afterCommit(() => applied.add(...events));
    },
  });
  await subscriber.start();
  await send(topic, { key: 'a', text: 'a2', version: 2 }, { key: 'b', text: 'b2', version: 2 });
  const letters = () => setting.database.query({ text: 'select from parked_event' });
  await until('two dead letters', letters, ({ rowCount }) => rowCount === 2);
  broken = false;
  await send(topic, { key: 'b', text: 'b1', version: 1 }, { key: 'a', text: 'a3', version: 3 });
  await applied.count(1);
  expect(await retryDeadLetters(subscriber)).toEqual({ applied: 2, reason: null });
  expect(texts(applied)).toEqual(['a3', 'b2']);
  expect((await letters()).rowCount).toBe(0);
});

test('stores its offset after a dead letter, so that a restart does not try it again', async () => {
  const topic = await createTopic();
  const apply = () => Promise.reject(new TypeError('cannot read it'));
  await send(topic, { text: 'poison' });
  await subscribe(topic, { apply }, placed()).subscriber.start();
  await until(
    'a dead letter',
    () => setting.database.query({ text: 'select from parked_event' }),
    ({ rowCount }) => rowCount === 1,
  );
  expect((await setting.database.query({ text: 'select topic, next from places' })).rows).toEqual([{ topic: topic.name, next: 1 }]);
});

test('lists dead letters with their reasons, and applies them again up to the first that fails', async () => {
  const topic = await createTopic();
  let fixed: readonly string[] = [];
  const applied = new Collected<string | undefined>();
  const { subscriber } = subscribe(topic, {
    apply: async (tx, events) => {
      for (const text of events.map(textOf)) if (text !== 'last' && !fixed.includes(text ?? '')) throw new TypeError(`cannot read ${text}`);
      tx.afterCommit(() => applied.add(...events.map(textOf)));
    },
  });
  const deadLetters = deadLetterHandlers(setting.database, subscriber, topic.name);
  const call = undefined as never;
  await send(topic, { key: 'k', text: '1' }, { text: '2' }, { text: 'last' });
  await subscriber.start();
  await applied.count(1);
  expect(await deadLetters.listParkedEvents({ limit: 1 }, call)).toMatchObject({
    count: 2,
    events: [{ topic: topic.name, key: 'k', type: 'thing.changed', reason: 'TypeError: cannot read 1' }],
  });
  fixed = ['1'];
  expect(await deadLetters.retryParkedEvents({}, call)).toEqual({ applied: 1, reason: 'TypeError: cannot read 2' });
  fixed = ['1', '2'];
  expect(await deadLetters.retryParkedEvents({}, call)).toEqual({ applied: 1, reason: null });
  expect(await deadLetters.listParkedEvents({ limit: 100 }, call)).toEqual({ count: 0, events: [] });
});

test('makes a dead letter of a message that is not an event, and continues', async () => {
  const topic = await createTopic();
  const { subscriber, applied, metrics } = subscribe(topic);
  await producer.send({ topic: topic.name, messages: [{ key: 'x', value: 'hello', headers: { who: 'stranger' } }] });
  await send(topic, { text: 'ours' });
  await subscriber.start();
  await applied.count(1);
  const { rows } = await setting.database.query({ text: 'select reason, headers from parked_event' });
  expect(rows).toEqual([{ reason: 'the message is no event', headers: { 'header who': 'stranger' } }]);
  expect(await metric(metrics, 'consumer_unreadable_total')).toBe(1);
  expect(await retryDeadLetters(subscriber)).toEqual({ applied: 0, reason: null });
});

test('makes no dead letters while PostgreSQL is down, and waits', async () => {
  const { hostname, port } = new URL(setting.server.url);
  const proxy = await openProxy({ host: hostname, port: Number(port) });
  const url = new URL(setting.server.url);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const database = new Database({ url: url.href, schema: 'trial' });
  const topic = await createTopic();
  const { subscriber, applied, metrics } = subscribe(topic, { database });
  await subscriber.start();
  await send(topic, { text: '1' });
  await applied.count(1);
  await proxy.cut();
  await send(topic, { text: '2' });
  await until(
    'retries',
    () => metric(metrics, 'consumer_retries_total'),
    (retries) => (retries ?? 0) > 1,
  );
  await proxy.restore();
  await applied.count(2);
  expect((await setting.database.query({ text: 'select from parked_event' })).rowCount).toBe(0);
  await subscriber.stop();
  await database.close();
  await proxy.close();
});

test('moves the offset only after the commit', async () => {
  const topic = await createTopic();
  const attempted = new Collected<number>();
  const { subscriber } = subscribe(topic, {
    apply: async (tx, events) => {
      attempted.add(events.length);
      await tx.query({ text: 'select pg_terminate_backend(pg_backend_pid())' });
    },
  });
  await send(topic, { text: '1' }, { text: '2' });
  await subscriber.start();
  await attempted.count(2);
  await subscriber.stop();
  const after = subscribe(topic);
  await after.subscriber.start();
  await after.applied.count(2);
  expect(texts(after.applied)).toEqual(['1', '2']);
});

test('commits the reached offset to Kafka although no more events arrive', async () => {
  const topic = await createTopic();
  const { subscriber, applied } = subscribe(topic);
  await send(topic, { text: '1' }, { text: '2' });
  await subscriber.start();
  await applied.count(2);
  const admin = kafka.admin();
  await admin.connect();
  const committed = async () => (await admin.fetchOffsets({ groupId: topic.name, topics: [topic.name] }))[0]?.partitions[0]?.offset;
  await until('the committed offset', committed, (offset) => offset === '2');
  await admin.disconnect();
});

test.each([
  ['committed to Kafka', () => ({})],
  ['kept, and events read ahead,', placed],
] as const)('shares partitions between replicas, and with stored offsets %s applies every event once while they come and go', async (_, kept) => {
  const topic = await createTopic({ days: 1 }, 4);
  const all = new Collected<string | undefined>();
  const own: Partial<Subscription> = {
    apply: async (tx, events) => {
      await tx.query({
        text: 'insert into applied (key, version) select * from unnest($1::text[], $2::bigint[])',
        values: [events.map((item) => item.partition), events.map((item) => item.version)],
      });
      tx.afterCommit(() => all.add(...events.map(textOf)));
    },
  };
  const first = subscribe(topic, own, kept());
  await first.subscriber.start();
  const before = sent;
  const sendSome = async () => {
    for (let round = 0; round < 20; round += 1) {
      await send(topic, ...Array.from({ length: 6 }, () => ({})));
      await turn();
    }
  };
  await sendSome();
  const second = subscribe(topic, own, kept());
  await second.subscriber.start();
  await sendSome();
  await all.count(sent - before);
  await first.subscriber.stop();
  await sendSome();
  await all.count(sent - before);
  const { rows } = await setting.database.query<{ key: string; version: number }>({ text: 'select key, version from applied order by position' });
  expect(rows.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual(Array.from({ length: sent - before }, (_, index) => before + index + 1));
  for (const [, ofPartition] of Map.groupBy(rows, ({ key }) => key)) {
    const versions = ofPartition.map(({ version }) => version);
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
  }
});
