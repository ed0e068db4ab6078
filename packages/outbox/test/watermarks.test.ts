import { randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { Watermark } from '@truckroll/contract/gen/events/v1/watermarks';
import type { Database, DatabaseSession } from '@truckroll/postgres';
import type { OutboxRow } from '../src/event.ts';
import { append, ensureTopics, type KafkaClient, type Topic } from '../src/index.ts';
import { createPublisher } from '../src/publisher.ts';
import { READ_BATCH } from '../src/read-batch.ts';
import { Relay, type RelayOptions } from '../src/relay.ts';
import { COMPANY, Collected, createMetrics, deafKafka, event, kafka, newTopic, openSetting, silentLog, textOf } from './setting.ts';

const SOURCE = '/trial';

describe('the relay', () => {
  let setting: Awaited<ReturnType<typeof openSetting>>;
  let relay: Relay | undefined;
  const topic = newTopic();
  const published = new Set<string>();
  beforeEach(async () => {
    setting = await openSetting();
    published.clear();
  });
  afterEach(async () => {
    await relay?.stop();
    await setting.close();
  });

  /** The database, with sessions that run one statement at a time, and `work` once after the first read of the outbox. */
  function afterRead(work: () => Promise<unknown>): Database {
    const { database } = setting;
    let pending: (() => Promise<unknown>) | undefined = work;
    const session = async (): Promise<DatabaseSession> => {
      const own = await database.session();
      let last: Promise<unknown> = Promise.resolve();
      const inTurn = <T>(name: string | undefined, run: () => Promise<T>): Promise<T> => {
        const running = last.then(run);
        last = running.then(async () => {
          if (name !== READ_BATCH.name) return;
          const now = pending;
          pending = undefined;
          await now?.();
        });
        return running;
      };
      return {
        ...own,
        query: (statement) => inTurn(statement.name, () => own.query(statement)),
        queryBinary: (statement) => inTurn(statement.name, () => own.queryBinary(statement)),
      };
    };
    return { options: database.options, query: database.query.bind(database), session } as unknown as Database;
  }

  async function startRelay(database: Database, announce: (at: number) => Promise<void>, more: Pick<RelayOptions, 'complete'> = {}): Promise<void> {
    const publish = async (rows: readonly OutboxRow[]) => rows.forEach((row) => published.add(textOf(row)!));
    const publisher = { publish, announce, close: async () => undefined };
    relay = new Relay({ database, publisher, log: silentLog, metrics: createMetrics('trial'), ...more });
    await relay.start();
  }

  const clock = async () => (await setting.database.query<{ now: number }>({ text: 'select clock_timestamp() as now' })).rows[0]!.now;
  const commit = (text: string) => setting.database.transaction((tx) => append(tx, [event(topic, 'k', text)]));

  test('publishes no watermark for a time after an event that it has not read', async () => {
    let committed = Infinity;
    const watermarks = new Collected<{ at: number; isPublished: boolean }>();
    const database = afterRead(async () => {
      await commit('late');
      committed = await clock();
    });
    await startRelay(database, async (at) => watermarks.add({ at, isPublished: published.has('late') }));
    await watermarks.until((items) => items.some(({ at }) => at > committed));
    expect(watermarks.items.filter(({ at, isPublished }) => at > committed && !isPublished)).toEqual([]);
  });

  test('publishes no watermark for a time after an event for which a batch had no room', async () => {
    const large = (text: string): string => text.padEnd(400_000, '.');
    for (const text of ['one', 'two', 'three']) await commit(large(text));
    const committed = await clock();
    const watermarks = new Collected<{ at: number; isPublished: boolean }>();
    await startRelay(setting.database, async (at) => watermarks.add({ at, isPublished: published.has(large('three')) }));
    await watermarks.until((items) => items.some(({ at }) => at > committed));
    expect(watermarks.items.filter(({ at, isPublished }) => at > committed && !isPublished)).toEqual([]);
  });

  test('publishes no watermark for a time after a change that was appended only after it had read the outbox', async () => {
    // Billing does the same for a change of a replica that does not publish.
    await setting.database.query({ text: 'create table unpublished (id int)' });
    await setting.database.query({ text: 'insert into unpublished values (1)' });
    const committed = await clock();
    const watermarks = new Collected<{ at: number; isPublished: boolean }>();
    const database = afterRead(() =>
      setting.database.transaction(async (tx) => {
        await tx.query({ text: 'delete from unpublished' });
        await append(tx, [event(topic, 'k', 'noted')]);
      }),
    );
    const complete: RelayOptions['complete'] = async (session) =>
      (await session.query<{ complete: boolean }>({ name: 'complete', text: 'select not exists (select from unpublished) as complete' })).rows[0]!.complete;
    await startRelay(database, async (at) => watermarks.add({ at, isPublished: published.has('noted') }), { complete });
    await watermarks.count(1);
    expect(watermarks.items[0]).toEqual({ at: expect.any(Number), isPublished: true });
    expect(watermarks.items[0]!.at).toBeGreaterThan(committed);
  });

  test('gives up its lock only after the publisher is closed', async () => {
    const held = new Collected<boolean>();
    const watermarks = new Collected<number>();
    const isHeld = async (): Promise<boolean> => {
      const { rowCount } = await setting.database.query({
        text: `select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
      });
      return rowCount > 0;
    };
    const publisher = { publish: async () => undefined, announce: async (at: number) => watermarks.add(at), close: async () => held.add(await isHeld()) };
    const { database } = setting;
    relay = new Relay({ database, publisher, log: silentLog, metrics: createMetrics('trial') });
    await relay.start();
    await watermarks.count(1);
    await relay.stop();
    expect(held.items[0]).toBe(true);
    expect(await isHeld()).toBe(false);
    relay = undefined;
  });
});

describe('the publisher', () => {
  let state: Topic;
  beforeEach(async () => {
    state = newTopic('latest', 4);
    await ensureTopics(kafka, [state, topics.watermarks], silentLog, new AbortController().signal);
  });

  let id = 0;
  const rows = (...keys: string[]): OutboxRow[] =>
    keys.map((key) => ({
      id: (id += 1),
      event_id: randomUUID(),
      topic: state.name,
      key,
      type: 'thing.changed',
      company_id: COMPANY,
      sequence: null,
      trace: null,
      request_id: null,
      payload: Buffer.from(key),
      created_at: 0,
    }));

  function noting(client: KafkaClient): { client: KafkaClient; named: Watermark['positions'][] } {
    const named: Watermark['positions'][] = [];
    const producer: KafkaClient['producer'] = (options) => {
      const own = client.producer(options);
      return {
        ...own,
        async sendBatch(batch) {
          const sent = await own.sendBatch(batch);
          for (const { topic, messages } of batch.topicMessages ?? []) {
            if (topic === topics.watermarks.name) named.push(...messages.map(({ value }) => inOrder(Watermark.decode(value as Buffer).positions)));
          }
          return sent;
        },
      };
    };
    return { client: Object.assign(Object.create(client) as KafkaClient, { producer }), named };
  }
  const inOrder = (positions: Watermark['positions']) => positions.toSorted((a, b) => a.partition - b.partition);

  async function lastOffsets(): Promise<Watermark['positions']> {
    const admin = kafka.admin();
    await admin.connect();
    const offsets = await admin.fetchTopicOffsets(state.name);
    await admin.disconnect();
    return inOrder(offsets.flatMap(({ partition, high }) => (high === '0' ? [] : [{ topic: state.name, partition, offset: Number(high) - 1 }])));
  }

  test('names the last message of every partition, whether it or an earlier publisher sent the message', async () => {
    const expected: Watermark['positions'][] = [];
    const before = createPublisher(kafka, SOURCE, [state]);
    await before.publish(rows('a', 'b', 'c', 'a'));
    await before.close();
    const { client, named } = noting(kafka);
    const publisher = createPublisher(client, SOURCE, [state]);
    for (const keys of [[], ['a', 'b', 'a'], ['a', 'd', 'e', 'f', 'g']]) {
      if (keys.length > 0) await publisher.publish(rows(...keys));
      await publisher.announce?.(1_000_000);
      expected.push(await lastOffsets());
    }
    await publisher.close();
    expect(named).toEqual(expected);
    expect(expected.at(-1)!.length).toBeGreaterThan(1);
  });

  test('names messages that arrived although their response was lost', async () => {
    const { client: deaf, deafen } = deafKafka();
    const { client, named } = noting(deaf);
    const publisher = createPublisher(client, SOURCE, [state]);
    await publisher.publish(rows('a'));
    await publisher.announce?.(1_000_000);
    deafen(true);
    await expect(publisher.publish(rows('a', 'b'))).rejects.toThrow();
    deafen(false);
    await publisher.announce?.(2_000_000);
    await publisher.close();
    expect(named.at(-1)).toEqual(await lastOffsets());
  });
});
