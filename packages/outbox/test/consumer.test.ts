import { openProducer, samplesOf } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { Consumer, createKafka, endsOf, ensureTopics, hasPassed, type IncomingEvent, type KafkaClient, type Topic } from '../src/index.ts';
import type { ConsumerOptions } from '../src/consumer.ts';
import { Collected, HEADERS, brokers, createMetrics, createTopic, kafka, newTopic, silentLog, textOf } from './setting.ts';

const parts: Consumer[] = [];
afterEach(async () => {
  await Promise.all(parts.splice(0).map((part) => part.stop()));
});

async function start(topic: Topic, own: Partial<ConsumerOptions>, client: KafkaClient = kafka) {
  const handled = new Collected<IncomingEvent>();
  const metrics = createMetrics('trial');
  const handle = async (events: readonly IncomingEvent[]) => handled.add(...events);
  const consumer = new Consumer({ kafka: client, group: topic.name, topics: [topic], log: silentLog, metrics, handle, ...own });
  parts.push(consumer);
  await consumer.start();
  const samples = async (name: string) => (await samplesOf(metrics, name)).map((sample) => sample.replaceAll(topic.name, 'T'));
  return { handled, samples, consumer, topic };
}

/** A consumer of a new topic that has these texts, one event each; undefined is a message that is no event. */
async function consume(texts: readonly (string | undefined)[], own: Partial<ConsumerOptions>) {
  const topic = await createTopic();
  const producer = await openProducer(kafka);
  const messages = texts.map((text) => ({ key: 'k', value: text ?? 'x', headers: text === undefined ? {} : { ...HEADERS, ce_id: crypto.randomUUID() } }));
  await producer.send({ topic: topic.name, messages });
  await producer.disconnect();
  return await start(topic, own);
}

test('measures how far it is behind, how long batches take, and how many fail', async () => {
  const failures = new Collected<number>();
  let tries = 0;
  const { samples } = await consume(['one', 'two', 'three'], {
    handle: async () => {
      tries += 1;
      if (tries <= 2) throw new Error('the database is away');
      failures.add(tries);
    },
  });
  await failures.count(1);
  await until(
    'the lag',
    () => samples('consumer_lag'),
    (lag) => lag.length > 0,
  );
  expect(await samples('consumer_lag')).toEqual(['group="T",topic="T",partition="0",component="trial" 0']);
  expect(await samples('consumer_retries_total')).toEqual(['group="T",topic="T",component="trial" 2']);
  const group = 'component="trial",messaging_consumer_group_name="T",messaging_destination_name="T"';
  expect(await samples('messaging_process_duration_seconds_count')).toEqual([`${group},error_type="failed" 2`, `${group},error_type="" 1`]);
});

test('commits at once what has been applied, when asked to', async () => {
  // With stored offsets, it would commit seconds later.
  const { consumer, topic, samples } = await consume(['one'], { storedOffsets: async () => () => undefined });
  await until(
    'the end',
    () => samples('consumer_lag'),
    (lag) => lag.length > 0,
  );
  const ends = await endsOf(kafka, [topic]);
  expect(await hasPassed(kafka, topic.name, ends)).toBe(false);
  await consumer.commit();
  expect(await hasPassed(kafka, topic.name, ends)).toBe(true);
});

test('counts messages that are no events, and passes each on once, in order, although the events between them fail at first', async () => {
  const unreadable: string[] = [];
  let fails = true;
  const done = new Collected<string | undefined>();
  const { samples } = await consume([undefined, 'one', undefined, 'two'], {
    unreadable: async (_, partition, { offset }) => void unreadable.push(`${partition}/${offset}`),
    handle: async (events) => {
      if (fails) {
        fails = false;
        throw new Error('the database is away');
      }
      done.add(...events.map(textOf));
    },
  });
  await done.count(2);
  expect([unreadable, done.items]).toEqual([
    ['0/0', '0/2'],
    ['one', 'two'],
  ]);
  expect(await samples('consumer_unreadable_total')).toEqual(['group="T",topic="T",component="trial" 2']);
});

test('handles together what arrives while it gathers', async () => {
  const topic = await createTopic();
  const producer = await openProducer(kafka);
  const batches = new Collected<(string | undefined)[]>();
  const send = (value: string) => producer.send({ topic: topic.name, messages: [{ key: 'k', value, headers: { ...HEADERS, ce_id: crypto.randomUUID() } }] });
  await send('one');
  await start(topic, { gathers: true, handle: async (events) => batches.add(events.map(textOf)) });
  await batches.count(1);
  for (const value of ['two', 'three', 'four']) await send(value);
  await batches.count(2);
  await producer.disconnect();
  expect(batches.items).toEqual([['one'], ['two', 'three', 'four']]);
});

test('continues at the stored offset once it could be read, although that failed at first', async () => {
  let reads = 0;
  const { handled } = await consume(['zero', 'one', 'two', 'three'], {
    storedOffsets: async () => {
      reads += 1;
      if (reads <= 2) throw new Error('the database is away');
      return (_, partition) => (partition === 0 ? 2 : undefined);
    },
  });
  await handled.count(2);
  expect([reads, handled.items.map(textOf)]).toEqual([3, ['two', 'three']]);
});

test('commits the stored offsets, although no message comes', async () => {
  const topic = await createTopic();
  const producer = await openProducer(kafka);
  await producer.send({ topic: topic.name, messages: [{ value: 'one' }, { value: 'two' }] });
  await producer.disconnect();
  const { handled } = await start(topic, { storedOffsets: async () => () => 2 });
  const ends = await endsOf(kafka, [topic]);
  await until(
    'the commit',
    () => hasPassed(kafka, topic.name, ends),
    (passed) => passed,
  );
  expect(handled.items).toEqual([]);
});

test('reports the end of what it has read when all messages of a batch belong to a transaction that was rolled back', async () => {
  const client = createKafka('test', { kafkaBrokers: brokers, kafkaPrefix: 'trial.' }, silentLog);
  const topic = newTopic({ days: 1 }, 1);
  await ensureTopics(client, [topic], silentLog, new AbortController().signal);
  const producer = client.producer({ transactionalId: topic.name, maxInFlightRequests: 1, idempotent: true });
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({ topic: `trial.${topic.name}`, messages: [{ value: 'one' }, { value: 'two' }] });
  await transaction.abort();
  await producer.disconnect();
  const passed = new Collected<[topic: string, partition: number, offset: number]>();
  const own: Partial<ConsumerOptions> = {
    async passed(...place) {
      passed.add(place);
      throw new Error('the database is away');
    },
  };
  await start(topic, own, client);
  // Two messages, and the mark of the roll-back.
  await passed.until((places) => places.at(-1)?.[2] === 2);
  expect(passed.items.at(-1)).toEqual([topic.name, 0, 2]);
});
