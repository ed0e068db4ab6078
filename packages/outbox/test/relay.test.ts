import { Database, createSession, type Transaction } from '@truckroll/postgres';
import type { OutboxRow } from '../src/event.ts';
import { append } from '../src/index.ts';
import type { Publisher } from '../src/publisher.ts';
import { READ_BATCH } from '../src/read-batch.ts';
import { Relay, betweenWatermarks, type RelayOptions } from '../src/relay.ts';
import { Collected, SCHEMA, createMetrics, event, killLockHolder, metric, newTopic, openSetting, rowsLeft, silentLog, textOf } from './setting.ts';

let setting: Awaited<ReturnType<typeof openSetting>>;
const running: Relay[] = [];
const topic = newTopic();

beforeEach(async () => {
  setting = await openSetting();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((relay) => relay.stop()));
  await setting.close();
});

async function startRelay(
  publish: (rows: readonly OutboxRow[]) => Promise<void>,
  close = async () => undefined as void,
  more: Partial<Publisher> & Partial<Pick<RelayOptions, 'complete' | 'restMs' | 'database'>> = {},
) {
  const { complete, restMs, database = setting.database, ...announcing } = more;
  const publisher: Publisher = { publish, close, ...announcing };
  const metrics = createMetrics('trial');
  const relay = new Relay({ database, publisher, log: silentLog, metrics, ...(complete && { complete }), ...(restMs !== undefined && { restMs }) });
  running.push(relay);
  await relay.start();
  return { relay, metrics };
}

const add = (tx: Transaction, text: string, key = 'k') => append(tx, [event(topic, key, text)]);
const commit = (text: string) => setting.database.transaction((tx) => add(tx, text));

test('loses nothing when transactions commit in the reverse order of their ids', async () => {
  const published = new Collected<OutboxRow>();
  await startRelay(async (rows) => published.add(...rows));
  await setting.database.transaction(async (earlier) => {
    await add(earlier, 'lower id, later commit', 'a');
    await setting.database.transaction((later) => add(later, 'higher id, earlier commit', 'b'));
    // The relay publishes the higher id before the lower one is visible.
    await published.count(1);
  });
  await published.count(2);
  expect(published.items.map(textOf)).toEqual(['higher id, earlier commit', 'lower id, later commit']);
  expect(published.items[0]!.id).toBeGreaterThan(published.items[1]!.id);
});

test('publishes the events of a subject in commit order', async () => {
  const published = new Collected<OutboxRow>();
  await setting.database.query({ text: `insert into applied (key) values ('subject')` });
  await startRelay(async (rows) => published.add(...rows));
  await Promise.all(
    Array.from({ length: 50 }, () =>
      setting.database.transaction(async (tx) => {
        const text = `update applied set version = coalesce(version, 0) + 1 where key = 'subject' returning version`;
        const { rows } = await tx.query<{ version: number }>({ text });
        await add(tx, String(rows[0]!.version), 'subject');
      }),
    ),
  );
  await published.count(50);
  expect(published.items.map(textOf)).toEqual(Array.from({ length: 50 }, (_, index) => String(index + 1)));
});

test('publishes rows with all stored attributes', async () => {
  const published = new Collected<OutboxRow>();
  await startRelay(async (rows) => published.add(...rows));
  const stored = await setting.database.transaction(async (tx) => {
    await append(tx, [event(topic, 'removed', null), event(topic, 'changed', 'größer', { sequence: 2 ** 40 })]);
    await tx.query({ text: `update outbox set trace = '00-trace', request_id = gen_random_uuid() where key = 'changed'` });
    return (await tx.query({ text: 'select * from outbox order by id' })).rows;
  });
  await published.count(2);
  expect(published.items).toMatchObject(stored);
});

test('reads no more rows than one request can carry, however large the backlog', async () => {
  await setting.database.transaction((tx) =>
    append(
      tx,
      Array.from({ length: 2000 }, (_, index) => event(topic, `k${index}`, 'waits')),
    ),
  );
  const { rows } = await setting.database.query<{ 'QUERY PLAN': string }>({
    text: `explain (analyze, costs off, timing off, summary off) ${READ_BATCH.text}`,
    values: [0],
  });
  const read = rows.flatMap((row) => Number(/actual rows=([\d.]+)/.exec(row['QUERY PLAN'])?.[1] ?? 0));
  expect(Math.max(...read)).toBe(500);
});

test('never publishes events of a transaction that was rolled back', async () => {
  const published = new Collected<OutboxRow>();
  await startRelay(async (rows) => published.add(...rows));
  await setting.database
    .transaction(async (tx) => {
      await add(tx, 'undone');
      throw new Error('no');
    })
    .catch(() => undefined);
  await commit('done');
  await published.count(1);
  expect(published.items.map(textOf)).toEqual(['done']);
});

test('retries a batch that Kafka refuses, in order, while writes continue', async () => {
  const published = new Collected<OutboxRow>();
  const tries = new Collected<number>();
  let up = false;
  const { metrics } = await startRelay(async (rows) => {
    tries.add(rows.length);
    if (!up) throw new Error('away');
    published.add(...rows);
  });
  await commit('1');
  await tries.count(1);
  await commit('2');
  await commit('3');
  await tries.count(2);
  expect(await metric(metrics, 'outbox_failures_total')).toBeGreaterThan(0);
  up = true;
  await published.count(3);
  expect(published.items.map(textOf)).toEqual(['1', '2', '3']);
});

test('lets one of two relays publish; when it dies, the other takes over and nothing is lost', async () => {
  const first = new Collected<OutboxRow>();
  const second = new Collected<OutboxRow>();
  await startRelay(async (rows) => first.add(...rows));
  await commit('1');
  await first.count(1);
  const other = await startRelay(async (rows) => second.add(...rows));
  await commit('2');
  await first.count(2);
  expect(second.items).toEqual([]);
  expect(await metric(other.metrics, 'outbox_active')).toBe(0);
  const [dying] = running.splice(0, 1);
  await dying!.stop();
  await commit('3');
  await second.count(1);
  expect(second.items.map(textOf)).toEqual(['3']);
});

test('publishes rows again when a relay dies after publishing them and before deleting them', async () => {
  const published = new Collected<OutboxRow>();
  let deaths = 1;
  const publish = async (rows: readonly OutboxRow[]) => {
    published.add(...rows);
    if (deaths-- > 0) await killLockHolder(setting.database);
  };
  await setting.database.transaction((tx) =>
    append(
      tx,
      ['1', '2'].map((text) => event(topic, 'k', text)),
    ),
  );
  await startRelay(publish);
  await startRelay(publish);
  await published.count(4);
  expect(published.items.map(textOf)).toEqual(['1', '2', '1', '2']);
  expect(published.items[2]!.event_id).toBe(published.items[0]!.event_id);
});

test('abandons the current batch when it loses the lock', async () => {
  const order = new Collected<string>();
  let hanging = true;
  const publish = async () => {
    order.add('publishes');
    // The first publish never ends, so only losing the lock can end it. Either relay may get the lock next.
    if (hanging) await new Promise(() => (hanging = false));
  };
  await startRelay(publish, async () => order.add('gives up'));
  await commit('1');
  await order.count(1);
  await startRelay(publish);
  await killLockHolder(setting.database);
  await order.until((items) => items.includes('gives up') && items.filter((item) => item === 'publishes').length === 2);
});

test('continues after losing PostgreSQL', async () => {
  const published = new Collected<OutboxRow>();
  await startRelay(async (rows) => published.add(...rows));
  await commit('1');
  await published.count(1);
  const admin = await createSession({ url: setting.server.url });
  await admin.query({ text: 'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()' });
  await admin.query({
    text: `insert into ${SCHEMA}.outbox (event_id, topic, key, type, company_id) select event_id, 't', 'k', 't', event_id from (select gen_random_uuid() as event_id) one`,
  });
  await admin.close();
  await published.count(2);
});

test('publishes a large backlog in batches that Kafka accepts', async () => {
  const batches = new Collected<number>();
  const big = 'x'.repeat(300_000);
  await setting.database.transaction((tx) =>
    append(
      tx,
      Array.from({ length: 5 }, () => event(topic, 'k', big)),
    ),
  );
  await setting.database.transaction((tx) =>
    append(
      tx,
      Array.from({ length: 1200 }, () => event(topic, 'k', 'small')),
    ),
  );
  await startRelay(async (rows) => batches.add(rows.length));
  await batches.until((items) => items.reduce((sum, count) => sum + count, 0) === 1205);
  expect(batches.items.slice(0, 2)).toEqual([2, 2]);
  expect(Math.max(...batches.items)).toBe(500);
});

test('refuses to append a payload that is too large for Kafka', async () => {
  await expect(setting.database.transaction((tx) => add(tx, 'x'.repeat(5_000_000)))).rejects.toThrow(RangeError);
  expect(await rowsLeft(setting.database)).toBe(0);
});

test('waits for the current batch when it stops, and deletes its rows', async () => {
  const begun = Promise.withResolvers<void>();
  const acknowledged = Promise.withResolvers<void>();
  const { relay } = await startRelay(() => {
    begun.resolve();
    return acknowledged.promise;
  });
  await commit('1');
  await begun.promise;
  const stopped = relay.stop();
  acknowledged.resolve();
  await stopped;
  expect(await rowsLeft(setting.database)).toBe(0);
});

test('publishes a watermark once everything committed before it is published, and none while rows wait', async () => {
  const announced = new Collected<{ at: number; published: number }>();
  const published = new Collected<OutboxRow>();
  await setting.database.transaction((tx) =>
    append(
      tx,
      Array.from({ length: 1200 }, () => event(topic, 'k', 'before')),
    ),
  );
  await startRelay(async (rows) => published.add(...rows), undefined, { announce: async (at) => announced.add({ at, published: published.items.length }) });
  await announced.count(1);
  expect(announced.items[0]!.published).toBe(1200);
  await commit('after');
  const { rows } = await setting.database.query<{ now: number }>({ text: 'select clock_timestamp() as now' });
  await announced.until((items) => items.at(-1)!.at > rows[0]!.now);
  const later = announced.items.filter(({ at }) => at > rows[0]!.now);
  expect(later.every((watermark) => watermark.published === 1201)).toBe(true);
  expect(announced.items.map(({ at }) => at)).toEqual(announced.items.map(({ at }) => at).sort((a, b) => a - b));
});

test('publishes no watermark while the service has changes that are not appended, or while Kafka refuses events', async () => {
  const announced = new Collected<number>();
  const asked = new Collected<boolean>();
  const refused = new Collected<boolean>();
  let complete = false;
  let up = false;
  await startRelay(
    async () => {
      if (up) return;
      refused.add(true);
      throw new Error('away');
    },
    undefined,
    { announce: async (at) => announced.add(at), complete: async () => (asked.add(complete), complete) },
  );
  await asked.count(2);
  expect(announced.items).toEqual([]);
  await commit('waits');
  complete = true;
  await refused.count(2);
  expect(announced.items).toEqual([]);
  up = true;
  await announced.count(1);
  expect(await rowsLeft(setting.database)).toBe(0);
});

/** A poll interval longer than the test's time limit: a relay that waits for its next poll fails the test. */
const NEVER_MS = 3_600_000;

test('publishes an event of a standby replica without waiting for the active relay to poll', async () => {
  const published = new Collected<OutboxRow>();
  await startRelay(async (rows) => published.add(...rows), undefined, { restMs: NEVER_MS });
  await commit('looked for');
  await published.count(1);
  const { relay: standby } = await startRelay(async () => undefined, undefined, { restMs: NEVER_MS });
  for (let count = 2; count <= 4; count += 1) {
    await commit('announced');
    standby.poke();
    await published.count(count);
  }
});

async function otherOwner(): Promise<Database> {
  await setting.database.query({ text: 'create schema other' });
  await setting.database.query({ text: 'create table other.outbox (like outbox including all)' });
  return new Database({ url: setting.server.url, schema: 'other' });
}

test('makes the relays of one database known to each other, whichever started first', async () => {
  const greetings = new Collected<string>();
  const listening = await setting.database.session();
  listening.onNotification((schema) => greetings.add(schema));
  await listening.query({ text: 'listen truckroll_outbox_relays' });
  const announce = async () => undefined;
  const other = await otherOwner();
  try {
    await startRelay(async () => undefined, undefined, { announce });
    await greetings.count(1);
    await startRelay(async () => undefined, undefined, { database: other, announce });
    // The first relay answers the second one's greeting, and the second answers that: each may be new to the other.
    await greetings.count(4);
    expect(greetings.items).toEqual([SCHEMA, 'other', SCHEMA, 'other']);
    await Promise.all(running.splice(0).map((each) => each.stop()));
  } finally {
    await listening.close();
    await other.close();
  }
});

test('rests only if it is notified of the events of all other owners and none had any for a while', () => {
  expect(betweenWatermarks(1000, 2)).toBeLessThan(betweenWatermarks(30_000, 2));
  expect(betweenWatermarks(30_000, 2)).toBeLessThan(betweenWatermarks(90_000, 2));
  expect(betweenWatermarks(90_000, 1)).toBe(betweenWatermarks(30_000, 1));
});

test('publishes a new watermark of an idle owner as soon as another owner has new events', async () => {
  const announced = new Collected<number>();
  await startRelay(async () => undefined, undefined, { restMs: NEVER_MS, announce: async (at) => announced.add(at) });
  await announced.count(1);
  const other = await otherOwner();
  try {
    const { relay } = await startRelay(async () => undefined, undefined, { database: other, restMs: NEVER_MS, announce: async () => undefined });
    await other.transaction((tx) => add(tx, 'news'));
    const { rows } = await setting.database.query<{ now: number }>({ text: 'select clock_timestamp() as now' });
    relay.poke();
    await announced.until((items) => items.at(-1)! > rows[0]!.now);
    await Promise.all(running.splice(0).map((each) => each.stop()));
  } finally {
    await other.close();
  }
});
