import { until } from '@truckroll/testing/until';
import { Consumer, EventTooLarge, Outbox, append, type IncomingEvent, type KafkaClient, type Topic } from '../src/index.ts';
import { createPublisher } from '../src/publisher.ts';
import { Relay } from '../src/relay.ts';
import {
  Collected,
  createMetrics,
  event,
  interruptibleKafka,
  kafka,
  killLockHolder,
  metric,
  newTopic,
  openSetting,
  rowsLeft,
  silentLog,
  textOf,
} from './setting.ts';

let setting: Awaited<ReturnType<typeof openSetting>>;
const parts: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  setting = await openSetting();
});
afterEach(async () => {
  await Promise.all(parts.splice(0).map((part) => part.stop()));
  await setting.close();
});

async function startOutbox(topics: readonly Topic[], client: KafkaClient = kafka) {
  const metrics = createMetrics('trial');
  const outbox = new Outbox({ database: setting.database, kafka: client, source: '/trial', topics, log: silentLog, metrics });
  parts.push(outbox);
  await outbox.start();
  return { outbox, metrics };
}

async function startConsumer(topic: Topic, client: KafkaClient = kafka) {
  const applied = new Collected<IncomingEvent>();
  const consumer = new Consumer({
    kafka: client,
    group: topic.name,
    topics: [topic],
    log: silentLog,
    metrics: createMetrics('trial'),
    async handle(events) {
      const { rows } = await setting.database.query<{ version: number }>({
        text: `insert into applied (key, payload, version) select * from unnest($1::text[], $2::text[], $3::bigint[])
          on conflict do nothing returning version`,
        values: [events.map((item) => item.key), events.map(textOf), events.map((item) => item.version)],
      });
      const fresh = new Set(rows.map(({ version }) => version));
      applied.add(...events.filter(({ version }) => fresh.delete(version)));
    },
  });
  parts.push(consumer);
  await consumer.start();
  return applied;
}

const stored = async (key: string) =>
  (await setting.database.query<{ payload: string }>({ text: 'select payload from applied where key = $1 order by position', values: [key] })).rows.map(
    (row) => row.payload,
  );
const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

test('delivers a committed event with its attributes and deletes its row', async () => {
  const topic = newTopic();
  const { outbox } = await startOutbox([topic]);
  const applied = await startConsumer(topic);
  await setting.database.transaction((tx) => outbox.append(tx, [event(topic, 'k', 'hello', { sequence: 3 })]));
  await applied.count(1);
  expect(applied.items[0]).toMatchObject({ type: 'thing.changed', source: '/trial', key: 'k', sequence: 3, topic: topic.name });
  expect(textOf(applied.items[0]!)).toBe('hello');
  await until(
    'an empty outbox',
    () => rowsLeft(setting.database),
    (rows) => rows === 0,
  );
});

test('applies events once that a dying relay published twice', async () => {
  const topic = newTopic();
  await (await startOutbox([topic])).outbox.stop();
  const real = createPublisher(kafka, '/trial');
  let deaths = 1;
  const relay = new Relay({
    database: setting.database,
    log: silentLog,
    metrics: createMetrics('trial'),
    publisher: {
      async publish(rows) {
        await real.publish(rows);
        if (deaths-- > 0) await killLockHolder(setting.database);
      },
      close: real.close,
    },
  });
  parts.push(relay);
  await setting.database.transaction((tx) =>
    append(
      tx,
      numbers(20).map((text) => event(topic, 'k', text)),
    ),
  );
  await relay.start();
  await until(
    'an empty outbox',
    () => rowsLeft(setting.database),
    (rows) => rows === 0,
  );
  await setting.database.transaction((tx) => append(tx, [event(topic, 'k', 'last')]));
  const applied = await startConsumer(topic);
  await applied.until((items) => items.some((item) => textOf(item) === 'last'));
  expect(Number(applied.items.at(-1)!.offset)).toBe(40);
  expect(await stored('k')).toEqual([...numbers(20), 'last']);
});

test('accepts writes while Kafka is down, and delivers everything once and in order afterwards', async () => {
  const topic = newTopic();
  const broker = interruptibleKafka();
  const { outbox, metrics } = await startOutbox([topic], broker.client);
  const applied = await startConsumer(topic, broker.client);
  const write = (text: string) => setting.database.transaction((tx) => outbox.append(tx, [event(topic, 'k', text)]));
  await write('0');
  await applied.count(1);
  broker.down();
  for (const text of numbers(100).slice(1)) await write(text);
  await until(
    'a failure to publish',
    () => metric(metrics, 'outbox_failures_total'),
    (failures) => (failures ?? 0) > 0,
  );
  expect(await rowsLeft(setting.database)).toBe(99);
  broker.up();
  await applied.count(100);
  expect(await stored('k')).toEqual(numbers(100));
  await until(
    'an empty outbox',
    () => rowsLeft(setting.database),
    (rows) => rows === 0,
  );
});

test('neither loses, reorders nor repeats events when two relays keep losing the lock', async () => {
  const topic = newTopic();
  const outboxes = await Promise.all([startOutbox([topic]), startOutbox([topic])]);
  const applied = await startConsumer(topic);
  const subjects = ['a', 'b', 'c', 'd'];
  await setting.database.query({ text: 'insert into applied (key, version) select unnest($1::text[]), 0', values: [subjects.map((key) => `row ${key}`)] });
  const perSubject = 100;
  const writer = async (key: string, outbox: Outbox) => {
    for (const text of numbers(perSubject)) {
      await setting.database.transaction(async (tx) => {
        await tx.query({ text: 'select from applied where key = $1 for update', values: [`row ${key}`] });
        await outbox.append(tx, [event(topic, key, text)]);
      });
      if (Number(text) % 25 === 10) await killLockHolder(setting.database);
    }
  };
  await Promise.all(subjects.map((key, index) => writer(key, outboxes[index % 2]!.outbox)));
  await applied.count(subjects.length * perSubject);
  await until(
    'an empty outbox',
    () => rowsLeft(setting.database),
    (rows) => rows === 0,
  );
  for (const key of subjects) expect(await stored(key)).toEqual(numbers(perSubject));
});

test('starts without Kafka, and catches up when Kafka is available', async () => {
  const topic = newTopic();
  const broker = interruptibleKafka();
  broker.down();
  const { outbox, metrics } = await startOutbox([topic], broker.client);
  const applied = await startConsumer(topic, broker.client);
  await setting.database.transaction((tx) => outbox.append(tx, [event(topic, 'k', 'early')]));
  await until(
    'a failure to publish',
    () => metric(metrics, 'outbox_failures_total'),
    (failures) => (failures ?? 0) > 0,
  );
  broker.up();
  await applied.count(1);
  expect(await stored('k')).toEqual(['early']);
});

test('delivers an event as large as an imported record may be, and refuses to store a larger one', async () => {
  const topic = newTopic();
  const { outbox } = await startOutbox([topic]);
  const applied = await startConsumer(topic);
  const write = (bytes: number) => setting.database.transaction((tx) => outbox.append(tx, [event(topic, 'k', 'x'.repeat(bytes)), event(topic, 'k', 'after')]));
  await write(3.5 * 1024 * 1024);
  await applied.count(2);
  expect(applied.items.map(({ payload }) => payload?.length)).toEqual([3.5 * 1024 * 1024, 5]);
  await expect(write(4 * 1024 * 1024)).rejects.toBeInstanceOf(EventTooLarge);
});

test('refuses events above the smaller limit of a topic that an operator created', async () => {
  const topic = newTopic();
  await createSmall(topic, 1_000_000);
  const { outbox } = await startOutbox([topic]);
  const write = (bytes: number) => setting.database.transaction((tx) => outbox.append(tx, [event(topic, 'k', 'x'.repeat(bytes))]));
  await until(
    'a write that succeeds',
    () =>
      write(1_000_000).then(
        () => undefined,
        (error: unknown) => error,
      ),
    (error) => error instanceof EventTooLarge,
  );
  await write(900_000);
});

test('publishes events in order that together are above the limit of their topic', async () => {
  const topic = newTopic({ days: 1 }, 1);
  await createSmall(topic, 200_000);
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
  await setting.database.transaction((tx) =>
    append(
      tx,
      keys.map((key) => event(topic, key, 'x'.repeat(30_000))),
    ),
  );
  const applied = await startConsumer(topic);
  const { metrics } = await startOutbox([topic]);
  await applied.count(keys.length);
  expect(applied.items.map(({ key }) => key)).toEqual(keys);
  expect(await metric(metrics, 'outbox_failures_total')).toBeGreaterThan(0);
});

/** Creates a topic as an operator may do, with a smaller limit for the size of a batch. */
async function createSmall({ name, partitions }: Topic, bytes: number): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  const configEntries = [{ name: 'max.message.bytes', value: String(bytes) }];
  await admin.createTopics({ topics: [{ topic: name, numPartitions: partitions, configEntries }], waitForLeaders: false });
  await until(
    'the topic',
    () => admin.listTopics(),
    (names) => names.includes(name),
  );
  await admin.disconnect();
}
