import { randomUUID } from 'node:crypto';
import { CatchUp } from '@truckroll/catch-up';
import { changeFeed } from '@truckroll/change-feed';
import { ChangeClock } from '../../change-feed/src/clock.ts';
import { compactor } from '../../change-feed/src/compaction.ts';
import type { ChangePosition, DigestRecordsResponse, ReadChangesResponse } from '@truckroll/contract/gen/records/v1/changes';
import { beginEpoch } from '@truckroll/outbox';
import { createSession, type Queryable } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { freshDatabase } from '@truckroll/testing';
import { beginning, openFeed, put as putPet, sumOf, transactionsEnded } from './pets.ts';

type Opened = Awaited<ReturnType<typeof openFeed>>;
let database: Opened['database'];
let feed: Opened['feed'];
let close: Opened['close'];
let company: string;

beforeAll(async () => void ({ database, feed, close } = await openFeed('cats', 'dogs')));
afterAll(() => close());
beforeEach(() => {
  company = randomUUID();
});

const put = (db: Queryable, kind: string, id: string, document?: string) => putPet(db, company, kind, id, document);
const remove = (kind: string, id: string) => database.query({ text: `delete from ${kind} where company_id = $1 and id = $2`, values: [company, id] });

async function read(
  positions: ChangePosition[],
  { limit = 100, bytes = 1_000_000, epoch = null as number | null, waits = true } = {},
): Promise<ReadChangesResponse> {
  if (waits) await transactionsEnded(database);
  return feed.read({ company_id: company, time_zone: 'UTC', positions, epoch, limit, most_bytes: bytes, skip: false });
}
const ids = ({ changes }: ReadChangesResponse): string[] => changes.map(({ id }) => id);

test('a transaction that commits late is read once, and nothing above it before', async () => {
  const [late, early] = [randomUUID(), randomUUID()];
  const before = await read([beginning('cats')]);
  let during: ReadChangesResponse | undefined;
  await database.transaction(async (tx) => {
    await put(tx, 'cats', late);
    await put(database, 'cats', early);
    during = await read(before.positions, { waits: false });
  });
  expect(ids(during as ReadChangesResponse)).toEqual([]);
  const after = await read((during as ReadChangesResponse).positions);
  expect(ids(after)).toEqual([late, early]);
  expect(ids(await read(after.positions))).toEqual([]);
});

test('changes of one transaction come next to each other, whatever the limit', async () => {
  const [cat, dog, other] = [randomUUID(), randomUUID(), randomUUID()];
  await put(database, 'cats', other);
  await database.transaction(async (tx) => {
    await put(tx, 'dogs', dog);
    await put(tx, 'cats', cat);
  });
  await put(database, 'cats', other, 'two');
  const seen: string[] = [];
  let page = await read([beginning('cats'), beginning('dogs')], { limit: 1 });
  for (; page.more; page = await read(page.positions, { limit: 1 })) {
    expect(page.changes).toHaveLength(1);
    seen.push(...ids(page));
  }
  expect(seen).toEqual([cat, dog, other]);
});

test('an identical record is not a change; a changed derived field is', async () => {
  const cat = randomUUID();
  await put(database, 'cats', cat);
  const first = await read([beginning('cats')]);
  await put(database, 'cats', cat);
  const second = await read(first.positions);
  expect(ids(second)).toEqual([]);
  await database.query({ text: `update cats set derived = 'x' where company_id = $1`, values: [company] });
  expect(ids(await read(second.positions))).toEqual([cat]);
});

test('an identical record whose id is a code is not a change, and a different one is', async () => {
  const version = async (): Promise<number | undefined> => {
    const { rows } = await database.query<{ version: number }>({
      text: `select max(version) as version from record_changes where company_id = $1 and kind = 'breeds' and id = md5('PUG')::uuid`,
      values: [company],
    });
    return rows[0]?.version;
  };
  await put(database, 'breeds', 'PUG');
  const first = await version();
  expect(first).toBeGreaterThan(0);
  await put(database, 'breeds', 'PUG');
  expect(await version()).toBe(first);
  await put(database, 'breeds', 'PUG', 'two');
  expect(await version()).toBeGreaterThan(first as number);
});

test('a record that is removed before it was logged leaves a tombstone', async () => {
  const before = await read([beginning('cats')]);
  const cat = randomUUID();
  await database.transaction(async (tx) => {
    await put(tx, 'cats', cat);
    await tx.query({ text: 'delete from record_changes where company_id = $1', values: [company] });
  });
  await remove('cats', cat);
  const { changes } = await read(before.positions);
  expect(changes.map(({ id, record }) => [id, record ?? null])).toEqual([[cat, null]]);
});

test('a removed record is a tombstone, which a first read leaves out', async () => {
  const cat = randomUUID();
  await put(database, 'cats', cat);
  const first = await read([beginning('cats')]);
  await remove('cats', cat);
  const { changes } = await read(first.positions);
  expect(changes.map(({ id, record }) => [id, record ?? null])).toEqual([[cat, null]]);
  expect(ids(await read([beginning('cats')]))).toEqual([]);
});

test('a record that changes again while an older transaction is open is read in its newest state before that ends', async () => {
  const cat = randomUUID();
  await put(database, 'cats', cat);
  await transactionsEnded(database);
  let during: ReadChangesResponse | undefined;
  await database.transaction(async (tx) => {
    await put(tx, 'dogs', randomUUID());
    await put(database, 'cats', cat, 'two');
    during = await read([beginning('cats')], { waits: false });
  });
  expect(during!.changes.map(({ id, record }) => [id, String(record)])).toEqual([[cat, 'two']]);
  const after = await read(during!.positions);
  expect(ids(after)).toEqual([cat]);
  // A reader takes what has a higher version than the record that it has.
  expect(after.changes[0]!.version).toBeGreaterThan(during!.changes[0]!.version);
});

test('a record that an older transaction stores again after its removal is not a tombstone', async () => {
  const cat = randomUUID();
  await put(database, 'cats', cat);
  const before = await read([beginning('cats')]);
  await database.transaction(async (older) => {
    await put(older, 'dogs', randomUUID());
    await remove('cats', cat);
    await put(older, 'cats', cat, 'two');
  });
  const { changes } = await read(before.positions);
  expect(new Set(changes.map(({ id, version, record }) => `${id} ${version} ${String(record)}`))).toEqual(new Set([`${cat} ${changes[0]?.version} two`]));
});

test('a record that changed several times comes once on a page', async () => {
  const [cat, other] = [randomUUID(), randomUUID()];
  for (const document of ['one', 'two', 'three']) {
    await put(database, 'cats', cat, document);
    await put(database, 'cats', other, document);
  }
  expect(ids(await read([beginning('cats')]))).toEqual([cat, other]);
});

test('compaction keeps the latest change of each record, and rows whose successor was not readable at the previous run', async () => {
  const rows = async (): Promise<number> => {
    const { rows } = await database.query<{ rows: number }>({ text: 'select count(*) as rows from record_changes where company_id = $1', values: [company] });
    return rows[0]!.rows;
  };
  const changeAll = () => database.query({ text: `update cats set document = document || '+'::bytea where company_id = $1`, values: [company] });
  await database.query({
    text: `insert into cats (company_id, id, document) select $1, gen_random_uuid(), 'one' from generate_series(1, 1000)`,
    values: [company],
  });
  const kept = randomUUID();
  await put(database, 'cats', kept);
  const before = await read([beginning('cats')], { limit: 2000 });
  await remove('cats', kept);
  await changeAll();
  await transactionsEnded(database);
  const compact = compactor(database, new ChangeClock(database, silentLog, createMetrics('test')));
  const { signal } = new AbortController();
  await compact(signal);
  await changeAll();
  expect(await rows()).toBe(3002);
  await transactionsEnded(database);
  await compact(signal);
  expect(await rows()).toBe(2001);
  await compact(signal);
  expect(await rows()).toBe(1001);
  const { changes } = await read(before.positions, { limit: 2000 });
  expect([changes.length, changes.filter(({ record }) => record === undefined).map(({ id }) => id)]).toEqual([1001, [kept]]);
});

test('a kind added later starts from its beginning, and the others continue', async () => {
  const [cat, dog] = [randomUUID(), randomUUID()];
  await put(database, 'dogs', dog);
  await put(database, 'cats', cat);
  const cats = await read([beginning('cats')]);
  expect(ids(cats)).toEqual([cat]);
  const both = await read([...cats.positions, beginning('dogs')]);
  expect(ids(both)).toEqual([dog]);
  expect(ids(await read(both.positions))).toEqual([]);
});

test('a page ends before the record that would exceed its bytes, but contains at least one', async () => {
  for (let i = 0; i < 3; i += 1) await put(database, 'cats', randomUUID(), 'x'.repeat(10));
  const sizes: number[] = [];
  let page = await read([beginning('cats')], { bytes: 25 });
  sizes.push(page.changes.length);
  while (page.more) sizes.push((page = await read(page.positions, { bytes: 25 })).changes.length);
  expect(sizes).toEqual([2, 1]);
  expect((await read([beginning('cats')], { bytes: 1 })).changes).toHaveLength(1);
});

test('a page keeps to its limit when changes of other kinds lie between', async () => {
  for (let i = 0; i < 3; i += 1) await put(database, 'dogs', randomUUID());
  for (let i = 0; i < 3; i += 1) await put(database, 'cats', randomUUID());
  const page = await read([beginning('cats')], { limit: 2 });
  expect([page.changes.length, page.more]).toEqual([2, true]);
  const rest = await read(page.positions, { limit: 2 });
  expect([rest.changes.length, rest.more]).toEqual([1, false]);
});

test('a digest counts and sums the live records of a bucket, and says what changed after a position', async () => {
  const [one, two, gone] = ['01', 'fe', 'fe'].map((byte) => `${byte}${randomUUID().slice(2)}`) as [string, string, string];
  for (const id of [one, two, gone]) await put(database, 'cats', id);
  await remove('cats', gone);
  const first = await read([beginning('cats')]);
  await put(database, 'cats', two, 'two');
  const now = await read([beginning('cats')]);
  const expected = (id: string): number => sumOf(now.changes.find((change) => change.id === id)!);
  expect(await digest(first.positions)).toEqual([
    { kind: 'cats', bucket: 0x01, count: 1, digest: expected(one), changed_since: false },
    { kind: 'cats', bucket: 0xfe, count: 1, digest: expected(two), changed_since: true },
  ]);
});

async function digest(positions: ChangePosition[]): Promise<DigestRecordsResponse['digests']> {
  return (await feed.digest({ company_id: company, positions, epoch: null, buckets: true })).digests;
}

test('a digest at the end of a page says that only what follows the page has changed since', async () => {
  const [one, two] = ['01', 'fe'].map((byte) => `${byte}${randomUUID().slice(2)}`) as [string, string];
  await put(database, 'cats', one);
  await put(database, 'cats', two);
  const page = await read([beginning('cats')], { limit: 1 });
  expect(ids(page)).toEqual([one]);
  expect((await digest(page.positions)).map(({ bucket, changed_since }) => [bucket, changed_since])).toEqual([
    [0x01, false],
    [0xfe, true],
  ]);
});

test('a transaction that stays open in another database holds the feed back, and the log and a metric name it', async () => {
  const elsewhere = await freshDatabase({});
  let warn: (line: Record<string, unknown>) => void = () => undefined;
  // Transactions of other tests may be older, until they end.
  const named = new Promise((resolve) => (warn = (line) => void (line['application'] === 'forgotten' && resolve(line))));
  const log = { ...silentLog, warn } as typeof silentLog;
  const metrics = createMetrics('test');
  const { parts } = changeFeed({ database, kinds: [], catchUp: new CatchUp({ database, log, metrics }), log, metrics });
  const session = await createSession({ url: elsewhere.url, applicationName: 'forgotten' });
  try {
    await session.query({ text: 'begin' });
    await session.query({ text: 'select pg_current_xact_id()' });
    // Only what commits after its transaction began is held back.
    await put(database, 'cats', randomUUID());
    for (const part of parts) await part.start();
    expect(await named).toMatchObject({ gid: null, database: new URL(elsewhere.url).pathname.slice(1), state: 'idle in transaction' });
    expect((await metrics.render()).body).toMatch(/^change_feed_held_back_total\{application="forgotten",component="test"\} [1-9]/m);
  } finally {
    await session.close();
    for (const part of parts) await part.stop();
    await elsewhere.drop();
  }
}, 30_000);

test('refuses cursors of another database: of a later epoch, or further above what can be read than a crash explains', async () => {
  const { positions, epoch } = await read([beginning('cats')]);
  await expect(read(positions, { epoch: epoch + 1 })).rejects.toMatchObject({ code: 'RESYNC_REQUIRED' });
  const above = (by: number, name: 'version' | 'began_at') =>
    read(
      positions.map((position) => ({ ...position, [name]: position[name] + by })),
      { epoch },
    );
  for (const name of ['version', 'began_at'] as const) {
    await expect(above(10 ** 12, name)).rejects.toMatchObject({ code: 'RESYNC_REQUIRED' });
    expect((await above(10 ** 6, name)).changes).toEqual([]);
  }
});

// Last, because the epoch stays.
test('a restore refuses older cursors, wakes their polls, and raises every version, in digests too', async () => {
  const cat = randomUUID();
  await put(database, 'cats', cat);
  const before = await read([beginning('cats')]);
  await beginEpoch(database, before.epoch + 1);
  await expect(read(before.positions, { epoch: before.epoch })).rejects.toMatchObject({ code: 'RESYNC_REQUIRED' });
  const after = await read([beginning('cats')]);
  const awaited = [before, after].map(({ positions }) => ({ company_id: company, kinds: ['cats'], version: positions[0]!.version }));
  const { changed } = await feed.find({ awaited });
  expect(changed.map(({ place }) => place)).toEqual([0]);
  expect(ids(after)).toEqual([cat]);
  expect(after.changes[0]?.version).toBeGreaterThan(before.changes[0]?.version as number);
  expect((await digest(after.positions)).map((each) => each.digest)).toEqual(after.changes.map(sumOf));
});
