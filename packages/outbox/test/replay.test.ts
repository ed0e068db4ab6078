import { silentLog } from '@truckroll/telemetry';
import { openProducer } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import type { Admin, ConsumerConfig } from 'kafkajs';
import { Outbox, beginningsOf, endsOf, ensureTopics, moveGroup, replay, type IncomingEvent, type KafkaClient } from '../src/index.ts';
import { HEADERS, createMetrics, createTopic, event, kafka, newTopic, openSetting, rowsLeft, textOf } from './setting.ts';

const signal = new AbortController().signal;
let admin: Admin;

beforeAll(async () => {
  admin = kafka.admin();
  await admin.connect();
});
afterAll(() => admin.disconnect());

test('replays a whole compacted topic up to where it ended at the start, in order per key', async () => {
  const setting = await openSetting();
  const topic = newTopic('latest', 3);
  const outbox = new Outbox({ database: setting.database, kafka, source: '/trial', topics: [topic], log: silentLog, metrics: createMetrics('trial') });
  await outbox.start();
  const keys = Array.from({ length: 40 }, (_, index) => `key ${index}`);
  await setting.database.transaction((tx) =>
    outbox.append(
      tx,
      keys.flatMap((key) => [event(topic, key, 'old'), event(topic, key, 'new')]),
    ),
  );
  await setting.database.transaction((tx) => outbox.append(tx, [event(topic, 'key 0', null)]));
  await until(
    'an empty outbox',
    () => rowsLeft(setting.database),
    (rows) => rows === 0,
  );
  const state = new Map<string, IncomingEvent>();
  const shares: number[] = [];
  const count = await replay({
    kafka,
    topic,
    progress: (share) => void shares.push(share),
    apply: async (events) => {
      for (const item of events) state.set(item.key, item);
    },
  });
  expect(count).toBe(81);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(shares.at(-1)).toBe(1);
  expect([...state.keys()].sort()).toEqual([...keys].sort());
  expect(state.get('key 0')?.payload).toBeNull();
  expect(keys.slice(1).map((key) => textOf(state.get(key)!))).toEqual(keys.slice(1).map(() => 'new'));
  await outbox.stop();
  await setting.close();
});

/** A producer, and a new topic of one partition with as many events, each its own batch of this size. */
async function published(count: number, bytes = 1) {
  const topic = await createTopic('latest');
  const producer = await openProducer(kafka);
  const headers = { ...HEADERS, ce_id: 'd3b07384-d9a0-4c3b-8a57-0d4f4d2a1f10' };
  const send = (key: string, size = 1) => producer.send({ topic: topic.name, messages: [{ key, value: 'x'.repeat(size), headers }] });
  for (let place = 0; place < count; place += 1) await send(`key ${place}`, bytes);
  return { topic, send, close: () => producer.disconnect() };
}

test('leaves out what is published while it reads', async () => {
  const { topic, send, close } = await published(2, 600_000);
  const keys: string[] = [];
  const shares: number[] = [];
  const apply = async (events: readonly IncomingEvent[]) => {
    // Small, so that it comes with the second event; a fetch has room for one of those.
    if (keys.length === 0) await send('late');
    keys.push(...events.map(({ key }) => key));
  };
  const count = await replay({ kafka, topic, apply, progress: (share) => void shares.push(share) });
  await close();
  expect([count, keys]).toEqual([2, ['key 0', 'key 1']]);
  expect(shares).toEqual([0.5, 1]);
});

test('ends when it is aborted', async () => {
  const { topic, close } = await published(1);
  const stopping = new AbortController();
  const reading = replay({
    kafka,
    topic,
    signal: stopping.signal,
    apply: async () => stopping.abort(new Error('the service stops')),
  });
  await expect(reading).rejects.toThrow('the service stops');
  await close();
});

test('begins again while Kafka is not ready', async () => {
  const { topic, close } = await published(1);
  const keys: string[] = [];
  let begun = 0;
  const notReady = Object.assign(Object.create(kafka) as KafkaClient, {
    consumer(config: ConsumerConfig) {
      const consumer = kafka.consumer(config);
      begun += 1;
      const loading = Object.assign(new Error('The coordinator is loading'), { retriable: true });
      return begun === 1 ? { ...consumer, run: () => Promise.reject(loading) } : consumer;
    },
  });
  await replay({ kafka: notReady, topic, apply: async (events) => void keys.push(...events.map(({ key }) => key)) });
  await close();
  expect([begun, keys]).toEqual([2, ['key 0']]);
});

test('ends at once for an empty topic', async () => {
  const topic = await createTopic('latest', 3);
  expect(await replay({ kafka, topic, apply: async () => undefined })).toBe(0);
});

test('rejects with the error of apply, and leaves no group behind', async () => {
  const { topic, close } = await published(1);
  await close();
  const replays = async () => (await admin.listGroups()).groups.map(({ groupId }) => groupId).filter((id) => id.startsWith('truckroll-replay'));
  const before = new Set(await replays());
  await expect(replay({ kafka, topic, apply: () => Promise.reject(new Error('table full')) })).rejects.toThrow('table full');
  expect((await replays()).filter((id) => !before.has(id))).toEqual([]);
});

test('creates topics once, with their retention, when several callers race', async () => {
  const state = newTopic('latest', 2);
  const events = newTopic({ days: 3 }, 4);
  await Promise.all([1, 2, 3].map(() => ensureTopics(kafka, [state, events], silentLog, signal)));
  // A topic that was just made may have no leader for a moment.
  const { topics } = await until(
    'topics with leaders',
    () => admin.fetchTopicMetadata({ topics: [state.name, events.name] }).catch(() => ({ topics: [] })),
    ({ topics: { length } }) => length === 2,
  );
  const partitions = new Map(topics.map((topic) => [topic.name, topic.partitions.length]));
  expect([partitions.get(state.name), partitions.get(events.name)]).toEqual([2, 4]);
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [state, events].map((topic) => ({ type: 2, name: topic.name, configNames: ['cleanup.policy', 'retention.ms', 'delete.retention.ms'] })),
  });
  const settings = resources.map((resource) => Object.fromEntries(resource.configEntries.map((entry) => [entry.configName, entry.configValue])));
  expect(settings[0]).toMatchObject({ 'cleanup.policy': 'compact', 'delete.retention.ms': String(14 * 86_400_000) });
  expect(settings[1]).toMatchObject({ 'cleanup.policy': 'delete', 'retention.ms': String(3 * 86_400_000) });
});

test('moves a group to the ends or beginnings of its topics, after which it has no members', async () => {
  const [one, two] = await Promise.all([published(3), published(5)]);
  const topics = [one.topic, two.topic];
  const groupId = one.topic.name;
  const offsets = async () => {
    const found = await admin.fetchOffsets({ groupId, topics: topics.map(({ name }) => name) });
    return topics.map(({ name }) => found.find(({ topic }) => topic === name)?.partitions.map(({ offset }) => offset));
  };
  await moveGroup(kafka, groupId, await endsOf(kafka, topics));
  expect(await offsets()).toEqual([['3'], ['5']]);
  await moveGroup(kafka, groupId, await beginningsOf(kafka, topics));
  expect(await offsets()).toEqual([['0'], ['0']]);
  expect((await admin.describeGroups([groupId])).groups).toMatchObject([{ members: [] }]);
  await Promise.all([one.close(), two.close()]);
});
