// Whether a group has applied what was published before (docs/adr/0026).
import type { Admin } from 'kafkajs';
import { openProducer } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { KeptAdmin, withAdmin } from '../src/admin.ts';
import { endsOf, hasPassed, moveGroup, type Offsets, type Topic } from '../src/index.ts';
import { createTopic, kafka } from './setting.ts';

async function topicWith(...texts: string[]): Promise<Topic> {
  const topic = await createTopic();
  const producer = await openProducer(kafka);
  await producer.send({ topic: topic.name, messages: texts.map((value) => ({ value })) });
  await producer.disconnect();
  return topic;
}

/** Repeats the call until Kafka has made its own topics. */
const passes = (group: string, ends: Offsets): Promise<boolean | undefined> =>
  until(
    'an answer',
    () => hasPassed(kafka, group, ends).catch(() => undefined),
    (answer) => answer !== undefined,
  );

test('a group has passed messages that it has committed, or that the topic no longer has', async () => {
  const [read, deleted] = [await topicWith('one', 'two'), await topicWith('one', 'two')];
  const ends = await endsOf(kafka, [read, deleted]);
  const passed = () => passes(read.name, ends);
  expect(await passed()).toBe(false);
  await moveGroup(kafka, read.name, await endsOf(kafka, [read]));
  expect(await passed()).toBe(false);
  await withAdmin(kafka, async (admin) => {
    // Looks up the leader, too.
    await admin.fetchTopicOffsets(deleted.name);
    await admin.deleteTopicRecords({ topic: deleted.name, partitions: [{ partition: 0, offset: '2' }] });
  });
  expect(await passed()).toBe(true);
});

test('a group has passed what it says itself that it has applied, up to the end of the topic', async () => {
  const topic = await topicWith('one', 'two');
  const ends = await endsOf(kafka, [topic]);
  expect(await passes(topic.name, ends)).toBe(false);
  const passed: boolean[] = [];
  // 7 is from before the topic was lost and made again.
  for (const place of [1, 2, 7]) passed.push(await hasPassed(kafka, topic.name, ends, (name) => (name === topic.name ? place : undefined)));
  expect(passed).toEqual([false, true, false]);
});

test('a group has passed a topic that ends before, because it was lost and made again, once it has committed that end', async () => {
  const topic = await topicWith('one');
  const ends = new Map([[topic.name, [{ partition: 0, offset: '7' }]]]);
  expect(await passes(topic.name, ends)).toBe(false);
  await moveGroup(kafka, topic.name, await endsOf(kafka, [topic]));
  expect(await passes(topic.name, ends)).toBe(true);
});

test('an admin that is kept is replaced after work that failed, once, and by none after the end', async () => {
  const topic = await topicWith('one');
  const admin = new KeptAdmin();
  const kept = (): Promise<Admin> => admin.use(kafka, async (own) => own);
  const begun = Promise.withResolvers<void>();
  const slow = admin.use(kafka, async () => await begun.promise);
  const lost = admin.use(kafka, async (own) => {
    await own.disconnect();
    throw new Error('lost');
  });
  await expect(lost).rejects.toThrow('lost');
  const next = await kept();
  begun.reject(new Error('lost, too'));
  await expect(slow).rejects.toThrow('lost, too');
  expect(await kept()).toBe(next);
  const ends = await endsOf(kafka, [topic], admin.use);
  await admin.stop();
  expect(await endsOf(kafka, [topic], admin.use)).toEqual(ends);
  expect(await kept()).not.toBe(await kept());
});
