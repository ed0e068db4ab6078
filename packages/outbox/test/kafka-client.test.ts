import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { createKafka, ensureTopics } from '../src/index.ts';
import { newTopic, silentLog } from './setting.ts';

const [host = '', port = ''] = (process.env['KAFKA_BROKERS'] ?? '').split(',')[0]!.split(':');
/** Connects by another host name than the one the brokers advertise, as in a cluster. */
const kafka = createKafka('test', { kafkaBrokers: [`${host === '127.0.0.1' ? 'localhost' : '127.0.0.1'}:${port}`] }, silentLog);

/** The id of fetches in Kafka's protocol, which follows the length of a request. */
const FETCH = 1;
const sockets = new Set<Socket>();
let fetching = Promise.withResolvers<void>();
const onSocket = (message: unknown): void => {
  const { socket } = message as { socket: Socket };
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  // Connecting resets `write`.
  socket.once('connect', () => {
    const write = socket.write.bind(socket) as (...of: unknown[]) => boolean;
    socket.write = (bytes: unknown, ...more: unknown[]) => {
      if (Buffer.isBuffer(bytes) && bytes.readInt16BE(4) === FETCH) fetching.resolve();
      return write(bytes, ...more);
    };
  });
};
subscribe('net.client.socket', onSocket);
// The channel is Node's: the test files that this worker runs next would have their sockets changed too.
afterAll(() => unsubscribe('net.client.socket', onSocket));
const stillOpen = (): unknown[] => [...sockets].filter(({ destroyed }) => !destroyed).map(({ remotePort }) => remotePort);

test('leaves no connection open after disconnecting, even if concurrent calls looked up the brokers', async () => {
  const admin = kafka.admin();
  await admin.connect();
  const names = ['a', 'b', 'c', 'd'].map(() => newTopic().name);
  await admin.createTopics({ topics: names.map((topic) => ({ topic, numPartitions: 1 })), waitForLeaders: false });
  await Promise.all(names.map((name) => admin.fetchTopicOffsets(name).catch(() => undefined)));
  expect(sockets.size).toBeGreaterThan(0);
  await admin.disconnect();
  expect(stillOpen()).toEqual([]);
});

test('does not connect again for a call after disconnecting', async () => {
  const admin = kafka.admin();
  await admin.connect();
  await admin.listTopics();
  await admin.disconnect();
  await expect(admin.listTopics()).rejects.toThrow('the client has disconnected');
  expect(stillOpen()).toEqual([]);
});

test('stops a consumer, which leaves its group, without waiting for the response to its fetch', async () => {
  const topic = newTopic();
  await ensureTopics(kafka, [topic], silentLog, new AbortController().signal);
  const consumer = kafka.consumer({ groupId: topic.name, maxWaitTimeInMs: 3_600_000 });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic.name] });
  fetching = Promise.withResolvers();
  await consumer.run({ eachBatch: async () => undefined });
  await fetching.promise;
  await consumer.disconnect();
  expect(stillOpen()).toEqual([]);
  const admin = kafka.admin();
  await admin.connect();
  const { groups } = await admin.describeGroups([topic.name]);
  await admin.disconnect();
  expect(groups).toMatchObject([{ state: 'Empty', members: [] }]);
});
