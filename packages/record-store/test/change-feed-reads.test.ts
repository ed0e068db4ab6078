// What a read, a digest and a poll of the change feed show of several kinds and companies, and of records that are the same in every company.
import { randomUUID } from 'node:crypto';
import type { ChangePosition, ReadChangesRequest } from '@truckroll/contract/gen/records/v1/changes';
import { beginEpoch } from '@truckroll/outbox';
import { Database } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { until } from '@truckroll/testing/until';
import { ChangeClock } from '../../change-feed/src/clock.ts';
import { compactor } from '../../change-feed/src/compaction.ts';
import { EVERYWHERE, beginning, feedOf, openFeed, openPets, put as putPet, sumOf, transactionsEnded } from './pets.ts';

type Opened = Awaited<ReturnType<typeof openFeed>>;
let database: Opened['database'];
let feed: Opened['feed'];
let close: Opened['close'];
let company: string;
beforeAll(async () => void ({ database, feed, close } = await openFeed('cats', 'dogs', 'breeds')));
afterAll(() => close());
beforeEach(async () => {
  company = randomUUID();
  await database.query({ text: 'truncate cats, dogs, breeds, record_changes, change_compactions' });
});

const put = (kind: string, id: string, of = company, document = 'one') => putPet(database, of, kind, id, document);
const remove = (kind: string, id: string) => database.query({ text: `delete from ${kind} where company_id = $1 and id = $2`, values: [company, id] });

async function read(positions: ChangePosition[], more: Partial<ReadChangesRequest> = {}) {
  await transactionsEnded(database);
  return await feed.read({ company_id: company, time_zone: 'UTC', positions, epoch: null, limit: 100, most_bytes: 1_000_000, skip: false, ...more });
}
const ids = ({ changes }: Awaited<ReturnType<typeof read>>): string[] => changes.map(({ id }) => id);

describe('a read', () => {
  test('refuses a kind that the service does not have, and names those that it has', async () => {
    await expect(read([beginning('cats'), beginning('birds')])).rejects.toMatchObject({
      status: 400,
      details: [{ location: 'body', field: 'positions', code: 'INVALID_ENUM_VALUE', message: expect.stringContaining('cats, dogs, breeds') }],
    });
  });

  test('that skips what there is returns no change, and continues with the next one and with removals', async () => {
    const [old, next] = [randomUUID(), randomUUID()];
    await put('cats', old);
    const skipped = await read([beginning('cats')], { skip: true });
    expect(skipped).toMatchObject({ changes: [], more: false });
    expect(ids(await read(skipped.positions))).toEqual([]);
    await put('cats', next);
    await remove('cats', old);
    const { changes } = await read(skipped.positions);
    expect(changes.map(({ id, record }) => [id, record === undefined])).toEqual([
      [next, false],
      [old, true],
    ]);
  });

  test('that skips what there is shows the change with the next version', async () => {
    const cat = randomUUID();
    const { positions } = await read([beginning('cats')], { skip: true });
    const { version } = positions[0]!;
    await put('cats', cat);
    await database.query({ text: 'update record_changes set version = $1', values: [version] });
    await database.query({ text: 'update cats set change_version = $1', values: [version] });
    expect(ids(await read(positions))).toEqual([cat]);
  });

  test('says up to which time it is complete: not before an earlier commit, and not after its own start', async () => {
    const at = async (): Promise<number> => (await database.query<{ at: number }>({ text: 'select clock_timestamp() as at' })).rows[0]!.at;
    const before = await at();
    await put('cats', randomUUID());
    await transactionsEnded(database);
    const asOf: number[] = [];
    // Other tests' transactions may hold the feed back for a while.
    await until(
      'the feed',
      async () => asOf.push((await read([beginning('cats')], { skip: asOf.length % 2 === 1 })).as_of),
      () => asOf.at(-1)! >= before,
    );
    expect(asOf.at(-1)).toBeLessThanOrEqual(await at());
  });

  test('shows records of the company only, and records that are the same everywhere to every company', async () => {
    const [own, others] = [randomUUID(), randomUUID()];
    await put('cats', own);
    await put('cats', others, randomUUID());
    await put('breeds', 'PUG', EVERYWHERE);
    const page = await read([beginning('cats'), beginning('breeds')]);
    expect(ids(page)).toEqual([own, 'PUG']);
    await put('breeds', 'PUG', EVERYWHERE, 'two');
    const { changes } = await read(page.positions);
    expect(changes.map(({ kind, id, record }) => [kind, id, String(record)])).toEqual([['breeds', 'PUG', 'two']]);
  });

  test('shows a removal after the first of several pages, since the reader may have the record', async () => {
    const [gone, first, second] = [randomUUID(), randomUUID(), randomUUID()];
    for (const id of [first, gone, second]) await put('cats', id);
    const page = await read([beginning('cats')], { limit: 1 });
    expect(ids(page)).toEqual([first]);
    await remove('cats', gone);
    const rest = await read(page.positions);
    expect(rest.changes.map(({ id, record }) => [id, record === undefined])).toEqual([
      [second, false],
      [gone, true],
    ]);
  });
});

test('takes one connection of its company at a time for a page of several kinds', async () => {
  const narrow = new Database({ ...database.options, maxConnections: 1, maxWaiting: 0 });
  const { parts, read: page } = feedOf(narrow, 'cats', 'dogs');
  for (const part of parts) await part.start();
  for (const kind of ['cats', 'dogs']) await put(kind, randomUUID());
  await transactionsEnded(database);
  const request = { company_id: company, time_zone: 'UTC', positions: [beginning('cats'), beginning('dogs')], limit: 100, most_bytes: 1_000_000, skip: false };
  expect((await page(request)).changes).toHaveLength(2);
  for (const part of parts) await part.stop();
  await narrow.close();
});

describe('a digest', () => {
  const digest = async (positions: ChangePosition[], buckets = true) =>
    (await feed.digest({ company_id: company, positions, epoch: null, buckets })).digests.map(({ kind, bucket, count, changed_since }) => [
      kind,
      bucket,
      count,
      changed_since,
    ]);
  const cat = `01${randomUUID().slice(2)}`;
  const dog = `01${randomUUID().slice(2)}`;

  test('counts the company’s records of each kind, and what changed of that kind only', async () => {
    await put('cats', cat);
    await put('cats', randomUUID(), randomUUID());
    await put('dogs', dog);
    const { positions } = await read([beginning('cats'), beginning('dogs')]);
    await put('dogs', dog, company, 'two');
    await put('cats', cat, randomUUID());
    await transactionsEnded(database);
    expect(await digest(positions)).toEqual([
      ['cats', 1, 1, false],
      ['dogs', 1, 1, true],
    ]);
  });

  test('has one bucket for each kind unless buckets were requested', async () => {
    await put('cats', cat);
    await put('cats', `fe${randomUUID().slice(2)}`);
    const { positions } = await read([beginning('cats')]);
    expect(await digest(positions, false)).toEqual([['cats', 0, 2, false]]);
  });

  test('may be from a moment ago, but never from before its cursor', async () => {
    const old = `fe${randomUUID().slice(2)}`;
    await put('cats', cat);
    await put('cats', old);
    const before = (await read([beginning('cats')])).positions;
    expect(await digest(before)).toEqual([
      ['cats', 1, 1, false],
      ['cats', 0xfe, 1, false],
    ]);
    await put('cats', `01${randomUUID().slice(2)}`);
    await remove('cats', old);
    const after = (await read(before)).positions;
    // What is kept is only shown as changed since.
    expect(await digest(before)).toEqual([
      ['cats', 1, 1, true],
      ['cats', 0xfe, 1, true],
    ]);
    expect(await digest(after)).toEqual([['cats', 1, 2, false]]);
    expect(await digest(before)).toEqual([
      ['cats', 1, 2, true],
      ['cats', 0xfe, 0, true],
    ]);
  });

  test('puts codes into the bucket of their first character, and says when one changed', async () => {
    for (const code of ['PUG', 'POODLE', 'AKITA']) await put('breeds', code, EVERYWHERE);
    const { positions } = await read([beginning('breeds')]);
    const sums = (await feed.digest({ company_id: company, positions, epoch: null, buckets: true })).digests;
    const { changes } = await read([beginning('breeds')]);
    const sum = (code: string): number => sumOf(changes.find(({ id }) => id === code)!);
    expect(sums.map((each) => [each.bucket, each.digest])).toEqual([
      ['A'.charCodeAt(0), sum('AKITA')],
      ['P'.charCodeAt(0), (sum('PUG') + sum('POODLE')) % 2 ** 53],
    ]);
    await put('breeds', 'AKITA', EVERYWHERE, 'two');
    await transactionsEnded(database);
    expect(await digest(positions)).toEqual([
      ['breeds', 'A'.charCodeAt(0), 1, true],
      ['breeds', 'P'.charCodeAt(0), 2, false],
    ]);
  });
});

describe('a poll', () => {
  const versionOf = async (id: string): Promise<number> =>
    (await database.query<{ version: number }>({ text: 'select max(version) as version from record_changes where id = $1', values: [id] })).rows[0]!.version;

  test('finds changes of its company and kinds from the given version on, and says which of its places changed, and how far', async () => {
    const other = randomUUID();
    const [cat, again, dog, others] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    await put('cats', cat);
    await put('dogs', dog);
    await put('cats', others, other);
    await put('cats', again);
    await transactionsEnded(database);
    const [first, last] = [await versionOf(cat), await versionOf(again)];
    const awaits = (kinds: string[], version: number, of = company) => ({ company_id: of, kinds, version });
    const [one, two] = await Promise.all([
      feed.find({ awaited: [awaits(['cats'], last + 1), awaits(['cats', 'dogs'], first), awaits(['dogs'], last)] }),
      feed.find({ awaited: [awaits(['dogs'], 1, other), awaits(['cats'], last), awaits(['breeds'], 1), awaits(['cats'], 1, other)] }),
    ]);
    expect(one.changed).toEqual([{ place: 1, version: last }]);
    expect(two.changed).toEqual([
      { place: 1, version: last },
      { place: 3, version: await versionOf(others) },
    ]);
    expect(one.below).toBeGreaterThan(last);
    expect(one.as_of).toBe(two.as_of);
  });

  test('finds changes of records that are the same in every company', async () => {
    await put('breeds', 'PUG', EVERYWHERE);
    await transactionsEnded(database);
    const { changed } = await feed.find({ awaited: [{ company_id: company, kinds: ['cats', 'breeds'], version: 1 }] });
    expect(changed.map(({ place }) => place)).toEqual([0]);
  });

  test('does not find what no read can show yet', async () => {
    await put('cats', randomUUID());
    await transactionsEnded(database);
    const { positions } = await read([beginning('cats')]);
    await database.transaction(async (tx) => {
      await tx.query({ text: 'select pg_current_xact_id()' });
      await put('cats', randomUUID());
      expect(await feed.find({ awaited: [{ company_id: company, kinds: ['cats'], version: positions[0]!.version }] })).toMatchObject({ changed: [] });
    });
  });

  test('answers one that awaits nothing, and fails all when the database does not answer', async () => {
    expect(await feed.find({ awaited: [] })).toMatchObject({ changed: [] });
    const { database: gone, close: end } = await openPets();
    const away = feedOf(gone, 'cats');
    await end();
    const awaited = [{ company_id: company, kinds: ['cats'], version: 1 }];
    await Promise.all([away, away].map((of) => expect(of.find({ awaited })).rejects.toThrow()));
  });
});

describe('compaction', () => {
  const rows = async (of: string): Promise<number> =>
    (await database.query({ text: 'select from record_changes where company_id = $1', values: [of] })).rowCount;
  const fill = (count: number, of: string) =>
    database.query({
      text: `insert into cats (company_id, id, document) select $1, gen_random_uuid(), 'one' from generate_series(1, $2)`,
      values: [of, count],
    });
  const changeSome = (count: number, of: string) =>
    database.query({
      text: `update cats set document = document || '+'::bytea where company_id = $1 and id in (select id from cats where company_id = $1 limit $2)`,
      values: [of, count],
    });

  test('compacts every company whose log has grown by half of what was kept, and by a thousand rows, and no other', async () => {
    const [grown, small, large] = [randomUUID(), randomUUID(), randomUUID()].sort() as [string, string, string];
    await fill(600, grown);
    await changeSome(400, grown);
    await fill(600, small);
    await changeSome(399, small);
    await fill(2400, large);
    const run = compactor(database, new ChangeClock(database, silentLog, createMetrics('test')));
    const { signal } = new AbortController();
    const twice = async (): Promise<void> => {
      for (let times = 0; times < 2; times += 1) {
        await transactionsEnded(database);
        await run(signal);
      }
    };
    await twice();
    expect(await Promise.all([grown, small, large].map(rows))).toEqual([600, 999, 2400]);
    // Half of what was kept of the large one are 1,200 rows.
    await changeSome(1199, large);
    await twice();
    expect(await rows(large)).toBe(3599);
    await changeSome(1, large);
    await twice();
    expect(await rows(large)).toBe(2400);
    // 3,600 are then kept, and only what is newer counts.
    await fill(1200, large);
    await twice();
    await changeSome(1799, large);
    await twice();
    expect(await rows(large)).toBe(5399);
  });

  test('stops between companies when it is aborted', async () => {
    for (const each of [randomUUID(), randomUUID()]) {
      await fill(600, each);
      await changeSome(400, each);
    }
    const run = compactor(database, new ChangeClock(database, silentLog, createMetrics('test')));
    await transactionsEnded(database);
    await run(new AbortController().signal);
    await run(AbortSignal.abort());
    expect((await database.query({ text: 'select from record_changes' })).rowCount).toBe(2000);
  });
});

// Last, because the epoch stays.
test('a read shows the epoch, and versions of records above all versions of the epoch before', async () => {
  const cat = randomUUID();
  await put('cats', cat);
  const { epoch } = await read([beginning('cats')]);
  await beginEpoch(database, epoch + 1);
  const after = await read([beginning('cats')], { epoch: epoch + 1 });
  expect([after.epoch, after.changes[0]!.version]).toEqual([epoch + 1, (epoch + 1) * 10 ** 13]);
  expect((await read([beginning('cats')], { skip: true })).epoch).toBe(epoch + 1);
});
