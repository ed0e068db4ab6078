import { ensureTopics, type KafkaClient } from '../src/index.ts';
import { largestPayload } from '../src/topic-limits.ts';
import { kafka, newTopic, silentLog } from './setting.ts';

test('is satisfied with topics whose settings it may not read, and assumes the usual limit', async () => {
  const topic = newTopic();
  const stopping = new AbortController();
  await ensureTopics(kafka, [topic], silentLog, stopping.signal);
  let refused = 0;
  const client: KafkaClient = {
    ...kafka,
    admin: (of) => {
      const admin = kafka.admin(of);
      return {
        ...admin,
        async describeConfigs() {
          refused += 1;
          // A second try would go on for ever.
          if (refused > 1) stopping.abort();
          throw new Error('Cluster authorization failed');
        },
      };
    },
  };
  const other = newTopic();
  await ensureTopics(client, [topic, other], silentLog, stopping.signal);
  expect([refused, largestPayload(topic.name) > 4_000_000]).toEqual([1, true]);
  const admin = kafka.admin();
  await admin.connect();
  expect(await admin.listTopics()).toEqual(expect.arrayContaining([topic.name, other.name]));
  await admin.disconnect();
});
