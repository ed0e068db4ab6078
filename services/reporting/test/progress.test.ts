import { randomUUID } from 'node:crypto';
import { topics, watermarkSources } from '@truckroll/contract';
import { Watermark } from '@truckroll/contract/gen/events/v1/watermarks';
import type { IncomingEvent } from '@truckroll/outbox';
import type { Database, Statement } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { asOf } from '../src/freshness/as-of.ts';
import { appliedTo, followProgress, storedOffsets } from '../src/freshness/progress.ts';
import { schema } from '../src/schema.ts';
import { deadLetter } from './records.ts';

const SOURCE = '/truckroll/billing';
const NAMED = [
  { topic: topics.payments.name, partition: 1, offset: 7 },
  { topic: topics.invoices.name, partition: 2, offset: 3 },
];

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema));
});
afterAll(() => close());
beforeEach(() => database.query({ text: 'truncate positions, watermarks, applied_until, parked_event, inbox_version' }));

const counted = async (): Promise<number | undefined> =>
  (await database.query<{ at: number }>({ text: 'select at from applied_until where source = $1', values: [SOURCE] })).rows[0]?.at;

const TIMEOUT_MS = 10_000;
async function isCounted(at: number): Promise<void> {
  for (const startedAt = performance.now(); ; await new Promise((resolve) => setImmediate(resolve))) {
    const seen = await counted();
    if (seen === at) return;
    if (performance.now() - startedAt > TIMEOUT_MS) throw new Error(`waited for the watermark at ${at} to count; ${seen} counts`);
  }
}
const watermark = (at: number, positions = NAMED, source = SOURCE) =>
  ({ source, payload: Buffer.from(Watermark.encode({ at, positions }).finish()) }) as IncomingEvent;
const waiting = async (): Promise<number> => (await database.query({ text: 'select from watermarks' })).rowCount;

function follow(through = database) {
  const { reached, watermarks } = followProgress(through, silentLog);
  const apply = ({ topic, partition, offset }: (typeof NAMED)[number]) => database.transaction((tx) => reached(tx, topic, new Map([[partition, offset]])));
  const announce = (at: number, positions = NAMED) => database.transaction((tx) => watermarks.apply(tx, [watermark(at, positions)]));
  return { apply, announce, watermarks };
}

test('counts a watermark that arrives early as soon as everything it names is applied, and not before', async () => {
  const { apply, announce } = follow();
  await apply({ ...NAMED[0]!, offset: 6 });
  await announce(5_000_000);
  await apply(NAMED[0]!);
  expect(await counted()).toBeUndefined();
  await Promise.all([apply(NAMED[1]!), apply(NAMED[0]!)]);
  await isCounted(5_000_000);
});

test('counts a watermark whose last event is applied while the watermark is being stored', async () => {
  const { apply, watermarks } = follow();
  await apply(NAMED[0]!);
  await database.transaction(async (tx) => {
    await watermarks.apply(tx, [watermark(5_000_000)]);
    await apply(NAMED[1]!);
  });
  await isCounted(5_000_000);
});

test('counts a watermark whose last event is applied while pending watermarks are being checked', async () => {
  const checked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const slow: Pick<Database, 'query'> = {
    async query<R>(statement: Statement) {
      const result = await database.query<R>(statement);
      checked.resolve();
      await released.promise;
      return result;
    },
  };
  const { apply, announce } = follow(slow as Database);
  await announce(5_000_000);
  await apply(NAMED[0]!);
  await checked.promise;
  await apply(NAMED[1]!);
  released.resolve();
  await isCounted(5_000_000);
});

test.each(NAMED)('counts no watermark while the last event of $topic that it names is not applied', async (short) => {
  const { apply, announce } = follow();
  for (const place of NAMED) await apply(place === short ? { ...place, offset: place.offset - 1 } : place);
  await announce(5_000_000);
  expect(await counted()).toBeUndefined();
  await apply(short);
  await announce(6_000_000);
  expect(await counted()).toBe(6_000_000);
  expect(await waiting()).toBe(0);
});

test('counts no watermark that names a partition from which nothing is applied', async () => {
  const { announce } = follow();
  await announce(5_000_000, [{ ...NAMED[0]!, offset: 0 }]);
  expect(await counted()).toBeUndefined();
});

test('does not go back when an earlier event or watermark is delivered again', async () => {
  const { apply, announce } = follow();
  for (const place of NAMED) await apply(place);
  await announce(5_000_000);
  await apply({ ...NAMED[0]!, offset: 2 });
  await announce(6_000_000);
  expect(await counted()).toBe(6_000_000);
  await announce(5_000_000);
  expect(await counted()).toBe(6_000_000);
});

test('keeps 50 pending watermarks of each owner, including the newest, and none that has counted', async () => {
  const { apply, announce, watermarks } = follow();
  for (let second = 1; second <= 49; second += 1) await announce(second * 1_000_000);
  for (let second = 100; second < 110; second += 1) {
    await database.transaction((tx) => watermarks.apply(tx, [watermark(second * 1_000_000, NAMED, '/truckroll/scheduling')]));
  }
  expect(await waiting()).toBe(59);
  for (const second of [50, 51, 52]) await announce(second * 1_000_000);
  expect(await waiting()).toBe(60);
  for (const place of NAMED) await apply(place);
  await isCounted(52_000_000);
  expect(await waiting()).toBe(0);
});

test('counts a watermark of one owner without forgetting an earlier one of another that still waits', async () => {
  const { apply, announce, watermarks } = follow();
  await announce(3_000_000);
  await database.transaction((tx) => watermarks.apply(tx, [watermark(5_000_000, [], '/truckroll/scheduling')]));
  expect(await waiting()).toBe(1);
  for (const place of NAMED) await apply(place);
  await isCounted(3_000_000);
});

test('keeps a watermark that must wait although one of another owner, for a later time, has counted before or counts with it', async () => {
  const { apply, watermarks } = follow();
  const scheduling = (at: number) => watermark(at, [], '/truckroll/scheduling');
  await database.transaction((tx) => watermarks.apply(tx, [scheduling(5_000_000)]));
  await database.transaction((tx) => watermarks.apply(tx, [watermark(3_000_000)]));
  expect(await waiting()).toBe(1);
  await database.transaction((tx) => watermarks.apply(tx, [scheduling(9_000_000), watermark(4_000_000)]));
  expect(await waiting()).toBe(2);
  for (const place of NAMED) await apply(place);
  await isCounted(4_000_000);
});

test('reads topics that no report is made of on from what is committed, and ignores offsets that watermarks name of them', async () => {
  const { announce, apply } = follow();
  await apply({ topic: topics.names.name, partition: 0, offset: 4 });
  await apply({ topic: topics.watermarks.name, partition: 0, offset: 4 });
  expect((await storedOffsets(database))(topics.names.name, 0)).toBeUndefined();
  // A freeze waits for names.
  const applied = await appliedTo(database);
  expect([applied(topics.names.name, 0), applied(topics.watermarks.name, 0)]).toEqual([5, undefined]);
  await announce(5_000_000, [{ topic: topics.names.name, partition: 0, offset: 9 }]);
  expect(await counted()).toBe(5_000_000);
});

test('reads each partition on after its last applied event, or from its beginning', async () => {
  await follow().apply(NAMED[0]!);
  const offsetOf = await storedOffsets(database);
  expect([offsetOf(topics.payments.name, 1), offsetOf(topics.payments.name, 2), offsetOf(topics.watermarks.name, 1)]).toEqual([8, 0, undefined]);
});

describe('as_of', () => {
  const company = randomUUID();
  const known = (second: number, ...sources: string[]) =>
    database.query({ text: 'insert into applied_until select source, to_timestamp($2) from unnest($1::text[]) source', values: [sources, second] });
  const letter = (second: number, topic?: string) => deadLetter(database, company, second * 1_000_000, topic);

  test('is unknown until every owner has published, and then the earliest of their watermarks', async () => {
    const [first, ...others] = watermarkSources;
    await known(50, '/truckroll/of-no-owner');
    await known(200, ...others);
    expect(await asOf(database, company)).toBeUndefined();
    await known(100, first);
    expect(await asOf(database, company)).toBe(100_000_000);
  });

  test('stays before a dead letter of the company until a newer event of its record is applied', async () => {
    await known(100, ...watermarkSources);
    await letter(50);
    expect(await asOf(database, randomUUID())).toBe(100_000_000);
    const apply = (version: number, record = 1, topic = topics.payments.name) =>
      database.query({
        text: `insert into inbox_version values ('reporting', $1, $2, $3) on conflict (consumer, topic, key) do update set version = excluded.version`,
        values: [topic, `${company}/${record}`, version],
      });
    await apply(8, 2);
    await apply(8, 1, topics.refunds.name);
    await apply(7);
    expect(await asOf(database, company)).toBe(50_000_000);
    await apply(8);
    expect(await asOf(database, company)).toBe(100_000_000);
  });

  test('stays before the earliest of several dead letters, and never goes back for one of a topic that no report is made of', async () => {
    await known(100, ...watermarkSources);
    await letter(10, topics.names.name);
    expect(await asOf(database, company)).toBe(100_000_000);
    await letter(70, topics.invoices.name);
    await letter(60, topics.refunds.name);
    expect(await asOf(database, company)).toBe(60_000_000);
  });

  test('stays before a dead letter although another consumer has applied a newer event', async () => {
    await known(100, ...watermarkSources);
    await letter(50);
    await database.query({ text: `insert into inbox_version values ('another', $1, $2, 8)`, values: [topics.payments.name, `${company}/1`] });
    expect(await asOf(database, company)).toBe(50_000_000);
  });
});
