import { until } from '@truckroll/testing/until';
import { append } from '../src/index.ts';
import { Relay } from '../src/relay.ts';
import type { OutboxRow } from '../src/event.ts';
import { Collected, SCHEMA, createMetrics, event, metric, newTopic, openSetting, silentLog, textOf } from './setting.ts';

let setting: Awaited<ReturnType<typeof openSetting>>;
let relay: Relay | undefined;
const topic = newTopic();

beforeEach(async () => {
  setting = await openSetting();
});
afterEach(async () => {
  await relay?.stop();
  await setting.close();
});

async function startRelay(publish: (rows: readonly OutboxRow[]) => Promise<void>, announce?: (at: number) => Promise<void>, metrics = createMetrics('trial')) {
  const publisher = { publish, close: async () => undefined, ...(announce && { announce }) };
  relay = new Relay({ database: setting.database, publisher, log: silentLog, metrics });
  await relay.start();
  return relay;
}

const pokes = (of: Relay) => () => of.poke();
const commit = (...texts: readonly string[]) =>
  setting.database.transaction((tx) =>
    append(
      tx,
      texts.map((text) => event(topic, text, text)),
    ),
  );
const many = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`);

test('publishes watermarks during an endless backlog, each after all rows committed before it', async () => {
  await commit(...many('first', 1500));
  const published = new Set<string>();
  const missing = new Collected<number>();
  let more = 0;
  await startRelay(
    async (rows) => {
      for (const row of rows) published.add(textOf(row)!);
      await commit(...many(`more${(more += 1)}.`, 600));
    },
    async () => missing.add(many('first', 1500).filter((text) => !published.has(text)).length),
  );
  await missing.count(2);
  expect(missing.items.slice(0, 2)).toEqual([0, 0]);
});

test('publishes a row that commits after rows with higher ids were published', async () => {
  const published = new Collected<OutboxRow>();
  const poke = pokes(await startRelay(async (rows) => published.add(...rows)));
  await setting.database.transaction(async (late) => {
    await append(late, [event(topic, 'late', 'late')]);
    await commit('b');
    poke();
    await published.count(1);
    await commit('c');
    poke();
    await published.count(2);
  });
  poke();
  await published.count(3);
  expect(published.items.map(textOf)).toEqual(['b', 'c', 'late']);
});

test('does not read dead rows again while a long transaction keeps them from being vacuumed', async () => {
  const scans = async () => {
    const { rows } = await setting.database.query<{ scans: number; read: number }>({
      text: `select idx_scan as scans, idx_tup_read as read from pg_stat_all_indexes where schemaname = '${SCHEMA}' and indexrelname = 'outbox_pkey'`,
    });
    return rows[0]!;
  };
  await setting.database.transaction(
    async (reader) => {
      await reader.query({ text: 'select count(*) from applied' });
      const published = new Collected<OutboxRow>();
      const poke = pokes(await startRelay(async (rows) => published.add(...rows)));
      await commit(...many('dead', 3000));
      poke();
      await published.count(3000);
      let before = await scans();
      // PostgreSQL updates its scan statistics about once a second.
      await until(
        'scans of few rows',
        async () => {
          poke();
          const now = await scans();
          const each = now.scans > before.scans ? (now.read - before.read) / (now.scans - before.scans) : Infinity;
          if (now.scans > before.scans) before = now;
          return each;
        },
        (each) => each < 10,
      );
    },
    { isolation: 'REPEATABLE READ' },
  );
});

test('counts the rows that wait, the age of the oldest, and the events that Kafka has acknowledged', async () => {
  await commit(...many('waits', 1200));
  await setting.database.query({ text: `update outbox set created_at = now() - interval '1 hour'` });
  const metrics = createMetrics('trial');
  const values = async () => await Promise.all(['rows', 'oldest_seconds', 'published_total', 'active'].map((name) => metric(metrics, `outbox_${name}`)));
  const sizes: number[] = [];
  const turns = Array.from({ length: 4 }, () => ({ begun: Promise.withResolvers<void>(), ended: Promise.withResolvers<void>() }));
  const started = await startRelay(
    async (rows) => {
      const turn = turns[sizes.push(rows.length) - 1]!;
      turn.begun.resolve();
      await turn.ended.promise;
    },
    undefined,
    metrics,
  );
  await turns[0]!.begun.promise;
  const [rows, oldest, published, active] = await values();
  expect([rows, published ?? 0, active]).toEqual([1200, 0, 1]);
  expect(oldest).toBeGreaterThanOrEqual(3600);
  expect(oldest).toBeLessThan(7200);
  for (const place of [0, 1]) {
    turns[place]!.ended.resolve();
    await turns[place + 1]!.begun.promise;
  }
  // The last batch is all that waits.
  expect([sizes, (await values()).with(1, 0)]).toEqual([
    [500, 500, 200],
    [200, 0, 1000, 1],
  ]);
  turns[2]!.ended.resolve();
  await until('an empty outbox', values, ([left, age, all]) => left === 0 && age === 0 && all === 1200);
  await started.stop();
  relay = undefined;
  expect((await values())[3]).toBe(0);
});

test('tries half of a batch that is too large, down to a single row, and more rows again afterwards', async () => {
  await commit(...many('k', 5));
  const sizes: number[] = [];
  let refusals = 4;
  await startRelay(async (rows) => {
    sizes.push(rows.length);
    if (refusals-- > 0) throw Object.assign(new Error('too large'), { type: refusals % 2 === 0 ? 'MESSAGE_TOO_LARGE' : 'RECORD_LIST_TOO_LARGE' });
  });
  await until(
    'seven batches',
    async () => sizes.length,
    (length) => length === 7,
  );
  expect(sizes).toEqual([5, 3, 2, 1, 1, 2, 2]);
});
