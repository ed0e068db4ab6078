// Which batches of events a subscriber applies in one transaction, and what it does when one fails. Without Kafka: the batches are given to it.
import { randomUUID } from 'node:crypto';
import type { Transaction } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { samplesOf } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import type { IncomingEvent } from '../src/event.ts';
import { Subscriber, type Topic } from '../src/index.ts';
import { COMPANY, createMetrics, kafka, newTopic, openSetting, textOf } from './setting.ts';

let setting: Awaited<ReturnType<typeof openSetting>>;
beforeAll(async () => {
  setting = await openSetting();
});
afterEach(() => setting.database.query({ text: 'delete from parked_event' }));
afterAll(() => setting.close());

let offset = 0;
const eventOf = (topic: Topic, text: string, partition = 0): IncomingEvent => {
  offset += 1;
  const [key, id] = [randomUUID(), randomUUID()];
  return {
    id,
    type: 't',
    companyId: COMPANY,
    key,
    topic: topic.name,
    partition,
    offset: String(offset),
    version: offset,
    payload: Buffer.from(text),
  } as IncomingEvent;
};

/** A subscriber that applies with `apply`, and what it has stored as reached. */
function subscriberOf(topics: readonly Topic[], apply: (tx: Transaction, events: readonly IncomingEvent[]) => Promise<void>) {
  const reached: [topic: string, places: [partition: number, offset: number][]][] = [];
  const metrics = createMetrics('trial');
  const subscriber = new Subscriber({
    database: setting.database,
    kafka,
    group: randomUUID(),
    subscriptions: topics.map((topic) => ({ topic, deduplicate: 'version', apply })),
    reached: async (_, topic, offsets) => void reached.push([topic, [...offsets]]),
    log: silentLog,
    metrics,
  });
  const results = async () => (await samplesOf(metrics, 'consumer_events_total')).map((sample) => sample.replace(/^.*result="(\w+)".* /, '$1 '));
  return { subscriber, reached, results };
}

const letters = async () => (await setting.database.query({ text: 'select reason from parked_event' })).rows.map(({ reason }) => reason);

test('stores the last offset of each partition whose batch it has applied', async () => {
  const topic = newTopic();
  const { subscriber, reached, results } = subscriberOf([topic], async () => undefined);
  const [first, second] = [
    [eventOf(topic, '1', 0), eventOf(topic, '2', 0)],
    [eventOf(topic, '3', 1), eventOf(topic, '4', 1)],
  ];
  await Promise.all([first, second].map((batch) => subscriber.handle(batch)));
  expect(reached).toEqual([[topic.name, [first, second].map((batch) => [batch[1]!.partition, Number(batch[1]!.offset)])]]);
  expect(await results()).toEqual(['applied 4']);
  await Promise.all([subscriber.handle(first), subscriber.handle([])]);
  expect(await results()).toEqual(['applied 4', 'repeated 2']);
});

test('applies 2000 events together at most, and a larger batch on its own', async () => {
  const topic = newTopic();
  const sizes: number[] = [];
  const { subscriber } = subscriberOf([topic], async (_, events) => void sizes.push(events.length));
  const batch = (count: number) => Array.from({ length: count }, () => eventOf(topic, ''));
  await Promise.all([1000, 1000, 1, 2001].map((count) => subscriber.handle(batch(count))));
  expect(sizes).toEqual([2000, 1, 2001]);
});

test('applies events of two topics at once at most', async () => {
  const topics = [newTopic(), newTopic(), newTopic()];
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const { subscriber } = subscriberOf(topics, async (_, events) => {
    begun.push(textOf(events[0]!)!);
    await new Promise<void>((end) => ends.push(end));
  });
  const all = Promise.all(topics.map((topic, place) => subscriber.handle([eventOf(topic, String(place))])));
  await until('two transactions', () => begun.length >= 2);
  // A transaction of another topic would have begun before this one of the same pool has ended.
  await setting.database.transaction((tx) => tx.query({ text: 'select 1' }));
  expect(begun.toSorted()).toEqual(['0', '1']);
  ends[0]!();
  await until('a third transaction', () => begun.length >= 3);
  for (const end of ends) end();
  await all;
});

test.each([
  [3, ['applied 1'], []],
  [4, [], ['Error: try 4']],
])('makes a dead letter of an event only if it fails three times on its own, after its batch: %i failures', async (failures, counted, stored) => {
  const topic = newTopic();
  let tries = 0;
  const { subscriber, results } = subscriberOf([topic], async () => {
    tries += 1;
    if (tries <= failures) throw new Error(`try ${tries}`);
  });
  await subscriber.handle([eventOf(topic, '')]);
  expect([(await results()).filter((result) => result.startsWith('applied')), await letters()]).toEqual([counted, stored]);
});

test.each(['40001', '57P01'])('makes no dead letter of an event while PostgreSQL ends its transactions with %s, but fails its batch', async (state) => {
  const topic = newTopic();
  let tries = 0;
  const { subscriber, reached } = subscriberOf([topic], async (tx) => {
    tries += 1;
    await tx.query({ text: `do $$ begin raise exception 'passing' using errcode = '${state}'; end $$` });
  });
  await expect(subscriber.handle([eventOf(topic, '')])).rejects.toThrow();
  const alone = tries;
  const together = [eventOf(topic, '', 0), eventOf(topic, '', 1)].map((event) => subscriber.handle([event]));
  expect((await Promise.allSettled(together)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  // Neither is tried again apart.
  expect([tries, await letters(), reached]).toEqual([2 * alone, [], []]);
});
