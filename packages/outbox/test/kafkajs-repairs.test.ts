import { connect, type Socket } from 'node:net';
import kafkajs from 'kafkajs';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { repairKafkajs } from '../src/driver/kafkajs-repairs.ts';

const { Kafka, KafkaJSConnectionError, KafkaJSRequestTimeoutError, logLevel } = kafkajs;
const [host = '', port = ''] = (process.env['KAFKA_BROKERS'] ?? '').split(',')[0]!.split(':');
beforeAll(repairKafkajs);

function newQueue({ requestTimeout = 60_000, maxInFlightRequests = 1 } = {}) {
  const logger = { debug: () => undefined, warn: () => undefined };
  return new RequestQueue({ maxInFlightRequests, requestTimeout, enforceRequestTimeout: true, clientId: 'test', broker: 'test', logger });
}

function request(queue: RequestQueue, correlationId: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    queue.push({ entry: { correlationId, resolve, reject }, expectResponse: true, requestTimeout: null, sendRequest: () => undefined });
  });
}

test('rejects a pending request when its connection ends', async () => {
  const queue = newQueue();
  const outcomes = Promise.allSettled([request(queue, 1), request(queue, 2)]);
  queue.destroy();
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(KafkaJSConnectionError) });
  }
});

test('rejects each request at its own timeout, and no others', async () => {
  const queue = newQueue({ requestTimeout: 200, maxInFlightRequests: 2 });
  queue.scheduleRequestTimeoutCheck();
  for (const round of [1, 2]) {
    const late = request(queue, round);
    const answered = request(queue, 10 + round);
    queue.fulfillRequest({ correlationId: 10 + round, payload: 'answer', size: 6 });
    expect(await answered).toMatchObject({ payload: 'answer' });
    await expect(late).rejects.toThrow(KafkaJSRequestTimeoutError);
  }
  queue.destroy();
});

test('sets no timers on an idle connection', async () => {
  const kafka = new Kafka({ clientId: 'test', brokers: [`${host}:${port}`], logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  let timers = 0;
  const repeated = globalThis.setInterval;
  globalThis.setInterval = ((...args: Parameters<typeof setInterval>) => {
    timers += 1;
    return repeated(...args);
  }) as typeof setInterval;
  await admin.connect();
  await admin.listTopics();
  globalThis.setInterval = repeated;
  const original = globalThis.setTimeout;
  globalThis.setTimeout = ((...args: Parameters<typeof setTimeout>) => {
    timers += 1;
    return original(...args);
  }) as typeof setTimeout;
  await new Promise((resolve) => original(resolve, 200));
  globalThis.setTimeout = original;
  await admin.disconnect();
  expect(timers).toBe(0);
});

test('opens one connection for concurrent callers', async () => {
  const sockets: Socket[] = [];
  const kafka = new Kafka({
    clientId: 'test',
    brokers: [`${host}:${port}`],
    logLevel: logLevel.NOTHING,
    socketFactory: ({ host: to, port: at, onConnect }) => {
      const socket = connect({ host: to, port: at }, onConnect);
      sockets.push(socket);
      return socket;
    },
  });
  const admin = kafka.admin();
  await admin.connect();
  await admin.listTopics();
  const before = sockets.length;
  const closed = new Promise((resolve) => sockets.at(-1)!.once('close', resolve));
  sockets.at(-1)!.destroy(new Error('read ECONNRESET'));
  await closed;
  await Promise.all([admin.listTopics(), admin.listTopics(), admin.listTopics(), admin.listTopics()]);
  expect(sockets.length - before).toBe(1);
  await admin.disconnect();
});
