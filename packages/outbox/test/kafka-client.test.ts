import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { createKafka } from '../src/index.ts';
import { newTopic, silentLog } from './setting.ts';

const [host = '', port = ''] = (process.env['KAFKA_BROKERS'] ?? '').split(',')[0]!.split(':');
/** Connects by another host name than the one the brokers advertise, as in a cluster. */
const kafka = createKafka('test', { kafkaBrokers: [`${host === '127.0.0.1' ? 'localhost' : '127.0.0.1'}:${port}`] }, silentLog);

const sockets = new Set<Socket>();
subscribe('net.client.socket', (message) => {
  const { socket } = message as { socket: Socket };
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});
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
