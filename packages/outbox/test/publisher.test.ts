import { randomUUID } from 'node:crypto';
import type { OutboxRow } from '../src/event.ts';
import { replay, type Topic } from '../src/index.ts';
import { createPublisher } from '../src/publisher.ts';
import { COMPANY, createTopic, deafKafka, kafka, newTopic, textOf } from './setting.ts';

let id = 0;
const row = (topic: Topic, text: string): OutboxRow => ({
  id: (id += 1),
  event_id: randomUUID(),
  topic: topic.name,
  key: 'k',
  type: 'thing.changed',
  company_id: COMPANY,
  sequence: null,
  trace: null,
  request_id: null,
  payload: Buffer.from(text),
  created_at: 0,
});

async function stored(topic: Topic): Promise<(string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  await replay({ kafka, topic, apply: async (events) => void texts.push(...events.map(textOf)) });
  return texts;
}

test('stores the batch that follows one whose response was lost', async () => {
  const topic = await createTopic();
  const { client, deafen } = deafKafka();
  const publisher = createPublisher(client, '/trial');
  await publisher.publish([row(topic, 'first')]);
  deafen(true);
  await expect(publisher.publish([row(topic, 'unacknowledged')])).rejects.toThrow();
  deafen(false);
  await publisher.publish([row(topic, 'next')]);
  await publisher.close();
  // The broker has dropped what kafkajs sent again while responses were lost.
  expect(await stored(topic)).toEqual(['first', 'unacknowledged', 'next']);
});

test('publishes one batch to several topics, in order on each', async () => {
  const [a, b] = [await createTopic(), await createTopic()];
  const publisher = createPublisher(kafka, '/trial');
  await publisher.publish([row(a, 'a1'), row(b, 'b1'), row(a, 'a2'), row(b, 'b2')]);
  await publisher.close();
  expect([await stored(a), await stored(b)]).toEqual([
    ['a1', 'a2'],
    ['b1', 'b2'],
  ]);
});

test('rejects a batch for a missing topic, and does not create the topic', async () => {
  const topic = newTopic();
  const publisher = createPublisher(kafka, '/trial');
  await expect(publisher.publish([row(topic, 'x')])).rejects.toThrow();
  await publisher.close();
  const admin = kafka.admin();
  await admin.connect();
  expect(await admin.listTopics()).not.toContain(topic.name);
  await admin.disconnect();
});
