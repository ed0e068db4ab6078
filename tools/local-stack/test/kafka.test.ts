import { existsSync, mkdirSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import { createKafka } from '@truckroll/outbox';
import { silentLog } from '@truckroll/telemetry';
import { Problem } from '../src/problem.ts';
import { startKafka } from '../src/servers/kafka.ts';
import { Scratch, kill } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());
/** One node for two tests: Java takes seconds to format and start another. */
const context = scratch.context();

async function withAdmin<T>(broker: string, work: (admin: ReturnType<ReturnType<typeof createKafka>['admin']>) => Promise<T>): Promise<T> {
  const admin = createKafka('test', { kafkaBrokers: [broker] }, silentLog).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

test('a killed node comes back with its topics and messages, at the same address', async () => {
  const first = await startKafka(context);
  await withAdmin(first.url, (admin) => admin.createTopics({ topics: [{ topic: 'kept', numPartitions: 1 }], waitForLeaders: false }));
  // On a busy machine the topic may be without a leader for a while.
  const producer = createKafka('test', { kafkaBrokers: [first.url] }, silentLog).producer({ retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 40 } });
  await producer.connect();
  await producer.send({ topic: 'kept', messages: [{ value: 'one' }, { value: 'two' }] });
  await producer.disconnect();
  await kill(first);

  const second = await startKafka(context);
  expect(second.url).toBe(first.url);
  const [offsets] = await withAdmin(second.url, (admin) => admin.fetchTopicOffsets('kept'));
  expect(offsets).toMatchObject({ low: '0', high: '2' });
  await second.daemon.stop();
});

test('reports a damaged data folder in one sentence that says what to do', async () => {
  if (!existsSync(join(context.folder, 'kafka/data'))) await (await startKafka(context)).daemon.stop();
  rmSync(join(context.folder, 'kafka/data/meta.properties'));
  const error = await startKafka(context).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Problem);
  expect((error as Problem).message).toMatch(/^Kafka cannot use its data folder [^\n]*delete it to begin without the events of the past[^\n]*\.$/);
});

describe('a machine', () => {
  const path = process.env['PATH'];
  const home = process.env['JAVA_HOME'];
  afterEach(() => {
    process.env['PATH'] = path;
    process.env['JAVA_HOME'] = home;
    delete process.env['XDG_CACHE_HOME'];
  });

  function commands(given: Readonly<Record<string, string>>): void {
    const folder = scratch.folder();
    mkdirSync(folder, { recursive: true });
    for (const [name, output] of Object.entries(given)) {
      writeFileSync(join(folder, name), `#!/bin/sh\necho '${output}' >&2\n`);
      chmodSync(join(folder, name), 0o755);
    }
    process.env['PATH'] = folder;
    delete process.env['JAVA_HOME'];
  }

  test('without Java gets an error that says where to get it', async () => {
    commands({});
    await expect(startKafka(scratch.context())).rejects.toThrow(/^Java is missing, which Kafka needs: install Java 17 or newer [^\n]*KAFKA_BROKERS\.$/);
  });

  test('with an old Java gets an error with the version required', async () => {
    commands({ java: 'openjdk version "11.0.22" 2024-01-16' });
    await expect(startKafka(scratch.context())).rejects.toThrow(/^Java 11 is too old for Kafka: install Java 17 or newer [^\n]*\.$/);
  });

  test('without Maven gets an error that says where to get it, unless Kafka is already there', async () => {
    commands({ java: 'openjdk version "17.0.15" 2025-04-15' });
    process.env['XDG_CACHE_HOME'] = scratch.folder();
    await expect(startKafka(scratch.context())).rejects.toThrow(/^Maven is missing, which downloads Kafka once: install it [^\n]*KAFKA_BROKERS\.$/);
  });
});
