// The feed of a company that moves between two databases (docs/adr/0027): cursors stay valid, versions never decrease, and digests stay equal.
// Rows are carried as `company move` does, as a replica.
import { randomUUID } from 'node:crypto';
import type { ChangePosition, ReadChangesResponse, RecordChange } from '@truckroll/contract/gen/records/v1/changes';
import { arrive, chooseShift, endArrival, leave } from '@truckroll/change-feed';
import { beginEpoch } from '@truckroll/outbox';
import { createSession, type DatabaseSession } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { ChangeClock } from '../../change-feed/src/clock.ts';
import { compactor } from '../../change-feed/src/compaction.ts';
import { EVERYWHERE, beginning, codes, feedOf, keep, openPets, put, sumOf, table, transactionsEnded } from './pets.ts';

const KINDS = ['cats', 'dogs', 'breeds'] as const;
const NAMES = 'create table names (company_id uuid, kind text, id uuid, name text, version bigint, primary key (company_id, kind, id));';
const TABLES = ['cats', 'dogs', 'record_changes', 'names'];
const MOST_VERSION = 900 * 10 ** 13;
const { signal } = new AbortController();

interface Cell extends Awaited<ReturnType<typeof openPets>> {
  readonly feed: ReturnType<typeof feedOf>;
  /** Stores rows as a replica does. */
  readonly replica: DatabaseSession;
}

let one: Cell;
let two: Cell;
let company: string;
beforeAll(async () => {
  [one, two] = [await openCell(0), await openCell(3)];
}, 60_000);
afterAll(async () => {
  for (const cell of [one, two]) await cell?.close();
});
beforeEach(() => void (company = randomUUID()));

async function openCell(epoch: number): Promise<Cell> {
  const { database, close } = await openPets(`${table('cats')} ${table('dogs')} ${codes} ${keep('cats', 'dogs', 'breeds')} ${NAMES}`);
  // Before the restores: their versions are the lowest of all.
  for (const breed of ['PUG', 'AKITA']) await put(database, EVERYWHERE, 'breeds', breed);
  if (epoch > 0) await beginEpoch(database, epoch);
  const feed = feedOf(database, ...KINDS);
  for (const part of feed.parts) await part.start();
  const replica = await createSession({ url: database.options.url, schema: 'pets' });
  await replica.query({ text: 'set session_replication_role = replica' });
  return {
    database,
    feed,
    replica,
    async close() {
      for (const part of feed.parts) await part.stop();
      await replica.close();
      await close();
    },
  };
}

/** What has been sent to the other database, by table: rows as text, by their key. */
type Sent = Map<string, Map<string, string>>;

async function rowsOf({ database }: Cell, name: string): Promise<Map<string, string>> {
  const key = name === 'record_changes' ? 't::text' : 'id::text';
  const { rows } = await database.query<{ key: string; row: string }>({
    text: `select ${key} as key, t::text as row from ${name} t where company_id = $1`,
    values: [company],
  });
  return new Map(rows.map(({ key: of, row }) => [of, row]));
}

/** Sends what has changed since the last time: insertions, updates and deletions, each as such. */
async function send(from: Cell, to: Cell, sent: Sent): Promise<void> {
  for (const name of TABLES) {
    const [before, now] = [sent.get(name) ?? new Map<string, string>(), await rowsOf(from, name)];
    sent.set(name, now);
    const rows = `select * from unnest($1::pets.${name}[])`;
    const inserted = [...now].filter(([key]) => !before.has(key)).map(([, row]) => row);
    await to.replica.query({ text: `insert into ${name} ${rows}`, values: [inserted] });
    if (name === 'record_changes') continue;
    const updated = [...now].filter(([key, row]) => before.has(key) && before.get(key) !== row).map(([, row]) => row);
    const columns = name === 'names' ? 'name = n.name, version = n.version' : 'document = n.document, derived = n.derived, change_version = n.change_version';
    await to.replica.query({ text: `update ${name} t set ${columns} from (${rows}) n where t.company_id = n.company_id and t.id = n.id`, values: [updated] });
    const gone = [...before.keys()].filter((key) => !now.has(key));
    await to.replica.query({ text: `delete from ${name} where company_id = $1 and id = any($2::uuid[])`, values: [company, gone] });
  }
}

const movedFeed = (source: Cell, target: Cell) => ({ source: source.database, target: target.database, schema: 'pets', companyId: company });

/** `during` runs between the copy and the freeze. */
async function move(from: Cell, to: Cell, during = async (): Promise<unknown> => undefined): Promise<void> {
  const sent: Sent = new Map();
  await chooseShift(movedFeed(from, to), signal);
  await send(from, to, sent);
  await during();
  // An interrupted command begins again.
  await chooseShift(movedFeed(from, to), signal);
  await send(from, to, sent);
  for (let twice = 0; twice < 2; twice += 1) await arrive(movedFeed(from, to));
  await endArrival(movedFeed(from, to), signal);
  for (const name of [...TABLES, 'change_compactions']) await from.replica.query({ text: `delete from ${name} where company_id = $1`, values: [company] });
  await leave({ ...movedFeed(from, to), target: from.database }, signal);
}

/** A copy of the company, kept as clients keep theirs. */
class Reader {
  positions: ChangePosition[] = KINDS.map(beginning);
  epoch: number | null = null;
  readonly #versions = new Map<string, number>();
  readonly records = new Map<string, RecordChange>();

  async page({ database, feed }: Cell, limit = 2): Promise<ReadChangesResponse> {
    await transactionsEnded(database);
    const { positions, epoch } = this;
    const page = await feed.read({ company_id: company, time_zone: 'UTC', positions, epoch, limit, most_bytes: 1_000_000, skip: false });
    for (const change of page.changes) {
      const key = `${change.kind} ${change.id}`;
      expect(change.version).toBeGreaterThanOrEqual(this.#versions.get(key) ?? 0);
      this.#versions.set(key, change.version);
      if (change.record == null) this.records.delete(key);
      else this.records.set(key, change);
    }
    this.positions = [...page.positions];
    this.epoch = page.epoch;
    return page;
  }

  /** Reads to the end. Returns the changes as text. */
  async drain(cell: Cell): Promise<string[]> {
    const seen: string[] = [];
    for (let more = true; more; ) {
      const page = await this.page(cell);
      seen.push(...page.changes.map(({ kind, id, record }) => `${kind} ${id} ${record == null ? 'gone' : String(record)}`));
      ({ more } = page);
    }
    return seen;
  }

  digestsOf({ feed }: Cell) {
    const { positions, epoch } = this;
    return feed.digest({ company_id: company, positions, epoch, buckets: false }).then(({ digests }) => digests);
  }

  /** The sums as clients compute them. */
  sums() {
    return KINDS.flatMap((kind) => {
      const own = [...this.records.values()].filter((record) => record.kind === kind);
      const digest = Number(own.reduce((sum, record) => sum + BigInt(sumOf(record)), 0n) % 2n ** 53n);
      return own.length === 0 ? [] : [{ kind, bucket: 0, count: own.length, digest, changed_since: false }];
    });
  }

  find({ feed }: Cell, kinds: readonly string[] = KINDS, of = company) {
    return feed.find({ awaited: [{ company_id: of, kinds: [...kinds], version: this.positions[0]!.version }] });
  }

  get highest(): number {
    return Math.max(...this.#versions.values());
  }
}

const change = (cell: Cell, id: string, document: string, kind = 'cats') => put(cell.database, company, kind, id, document);
const remove = (cell: Cell, id: string) => cell.database.query({ text: 'delete from cats where company_id = $1 and id = $2', values: [company, id] });

async function stock(cell: Cell): Promise<string[]> {
  const cats = Array.from({ length: 6 }, () => randomUUID());
  for (const id of cats) await change(cell, id, 'one');
  await change(cell, randomUUID(), 'one', 'dogs');
  // Stored before there was a feed, and logged by the back-fill.
  await cell.database.query({ text: 'update cats set change_version = null where company_id = $1 and id = $2', values: [company, cats[0]] });
  await cell.database.query({ text: `insert into names values ($1, 'cats', $2, 'Tom', 7)`, values: [company, cats[0]] });
  return cats;
}

test('a service without kinds that all companies share reads a company that has moved', async () => {
  const cats = await stock(one);
  await move(one, two);
  const feed = feedOf(two.database, 'cats', 'dogs');
  for (const part of feed.parts) await part.start();
  const own = new Reader();
  own.positions = ['cats', 'dogs'].map(beginning);
  expect((await own.drain({ ...two, feed })).filter((each) => each.startsWith('cats'))).toHaveLength(cats.length);
  for (const part of feed.parts) await part.stop();
});

test.each(['up', 'down'])(
  'a cursor stays valid over a move %s: it shows what has changed since, deletions too, and nothing twice but what all companies share',
  async (way) => {
    const [from, to] = way === 'up' ? [one, two] : [two, one];
    const [changed, gone, late, both] = (await stock(from)) as [string, string, string, string];
    const [reader, begun, first] = [new Reader(), new Reader(), new Reader()];
    await reader.drain(from);
    await begun.page(from);
    const before = await reader.digestsOf(from);
    expect(before).toEqual(reader.sums());
    const { epoch, highest } = reader;
    await change(from, changed, 'two');
    await move(from, to, async () => {
      await change(from, both, 'two');
      await remove(from, gone);
      await change(from, randomUUID(), 'new', 'dogs');
    });
    await change(to, late, 'two');
    await change(to, both, 'three');
    const shared = ['breeds AKITA one', 'breeds PUG one'];
    const seen = await reader.drain(to);
    expect(seen.filter((each) => each.startsWith('breeds')).sort()).toEqual(shared);
    expect(seen.filter((each) => each.startsWith('cats'))).toEqual([`cats ${changed} two`, `cats ${gone} gone`, `cats ${late} two`, `cats ${both} three`]);
    expect(reader.epoch).toBe(epoch);
    expect(reader.highest).toBeGreaterThan(highest);
    expect(await reader.drain(to)).toEqual([]);
    // One that was reading for the first time, and one that begins after the move.
    for (const other of [begun, first]) {
      await other.drain(to);
      expect([...other.records.values()].sort(byId)).toEqual([...reader.records.values()].sort(byId));
      expect(await other.digestsOf(to)).toEqual(other.sums());
    }
    expect(await reader.digestsOf(to)).toEqual(reader.sums());
    expect((await to.database.query({ text: 'select version from names where company_id = $1', values: [company] })).rows).toEqual([{ version: 0 }]);
  },
);

const byId = (a: RecordChange, b: RecordChange): number => (a.id < b.id ? -1 : 1);

test.each(['up', 'down'])('digests are the same before and after a move %s, except those of kinds that all companies share', async (way) => {
  const [from, to] = way === 'up' ? [one, two] : [two, one];
  await stock(from);
  const reader = new Reader();
  await reader.drain(from);
  const before = await reader.digestsOf(from);
  await move(from, to);
  const after = await reader.digestsOf(to);
  expect(after.filter(({ kind }) => kind !== 'breeds')).toEqual(before.filter(({ kind }) => kind !== 'breeds'));
  expect(after.find(({ kind }) => kind === 'breeds')).toMatchObject({ count: 2, changed_since: true });
});

test.each(['up', 'down'])('a poll goes on over a move %s: it is woken by what all companies share, and then by changes of its company only', async (way) => {
  const [from, to] = way === 'up' ? [one, two] : [two, one];
  const [cat] = await stock(from);
  const reader = new Reader();
  await reader.drain(from);
  await move(from, to);
  await transactionsEnded(to.database);
  expect((await reader.find(to, ['cats', 'dogs'])).changed).toEqual([]);
  expect((await reader.find(to)).changed).toEqual([{ place: 0, version: expect.any(Number) }]);
  await reader.drain(to);
  const { changed, below, belows } = await reader.find(to);
  expect([changed, below, belows.length]).toEqual([[], undefined, 1]);
  // A poll whose time is over continues where the answer says, and then sees the next change.
  expect(belows[0]).toBeGreaterThanOrEqual(reader.positions[0]!.version);
  reader.positions = reader.positions.map((position) => ({ ...position, version: belows[0]!, after_kind: '', after_id: '' }));
  await change(to, cat!, 'two');
  await put(to.database, randomUUID(), 'cats', randomUUID());
  await transactionsEnded(to.database);
  expect((await reader.find(to)).changed).toHaveLength(1);
  expect(await reader.drain(to)).toEqual([`cats ${cat} two`]);
  expect(await reader.digestsOf(to)).toEqual(reader.sums());
});

test('a company that is put back into the database that it left, without its later changes, refuses the cursors of the other one', async () => {
  await stock(one);
  const [reader, earlier] = [new Reader(), new Reader()];
  await earlier.drain(one);
  await chooseShift(movedFeed(one, two), signal);
  await send(one, two, new Map());
  await arrive(movedFeed(one, two));
  await endArrival(movedFeed(one, two), signal);
  await reader.drain(two);
  await expect(reader.page(one)).rejects.toMatchObject({ code: 'RESYNC_REQUIRED' });
  expect(await earlier.drain(one)).toEqual([]);
});

test('companies that have always been there are shown as before, in one answer with one that has moved', async () => {
  const other = randomUUID();
  await put(two.database, other, 'cats', randomUUID());
  await stock(one);
  await move(one, two);
  await transactionsEnded(two.database);
  const alone = await two.feed.find({ awaited: [{ company_id: other, kinds: ['cats'], version: 1 }] });
  expect(alone).toMatchObject({ below: expect.any(Number), belows: [] });
  const awaited = [company, other].map((company_id) => ({ company_id, kinds: ['dogs'], version: alone.below! }));
  const { below, belows } = await two.feed.find({ awaited });
  expect(below).toBeUndefined();
  expect(Math.abs(belows[1]! - alone.below!)).toBeLessThan(1_000_000);
  expect(Math.abs(belows[0]! - alone.below!)).toBeGreaterThan(1_000_000);
  const { rows } = await two.database.query<{ version: number }>({ text: 'select version from record_changes where company_id = $1', values: [other] });
  expect(rows[0]!.version).toBeLessThan(alone.below!);
});

test('fifty moves there and back keep one cursor valid, and use up less than a hundredth of the versions', async () => {
  const cats = await stock(one);
  const reader = new Reader();
  await reader.drain(one);
  let [from, to] = [one, two];
  for (let moves = 0; moves < 50; moves += 1) {
    await move(from, to, () => change(from, cats[moves % 6]!, `during ${moves}`));
    [from, to] = [to, from];
    await change(from, cats[(moves + 1) % 6]!, `after ${moves}`);
    const seen = await reader.drain(from);
    expect(seen.filter((each) => each.startsWith('cats'))).toEqual([`cats ${cats[moves % 6]} during ${moves}`, `cats ${cats[(moves + 1) % 6]} after ${moves}`]);
    expect(await reader.digestsOf(from)).toEqual(reader.sums());
  }
  expect(reader.highest).toBeLessThan(MOST_VERSION / 100);
}, 120_000);

test('the log is compacted where the company has come to, and its cursors miss nothing', async () => {
  await one.database.query({
    text: `insert into cats (company_id, id, document) select $1, gen_random_uuid(), 'one' from generate_series(1, 600)`,
    values: [company],
  });
  await one.database.query({ text: `update cats set document = 'two' where company_id = $1`, values: [company] });
  const reader = new Reader();
  await reader.page(one, 100);
  await move(one, two);
  const run = compactor(two.database, new ChangeClock(two.database, silentLog, createMetrics('test')));
  for (let twice = 0; twice < 2; twice += 1) {
    await transactionsEnded(two.database);
    await run(signal);
  }
  expect((await two.database.query({ text: 'select from record_changes where company_id = $1', values: [company] })).rowCount).toBe(600);
  for (let more = true; more; ) ({ more } = await reader.page(two, 100));
  expect(await reader.digestsOf(two)).toEqual(reader.sums());
});

test('a move is refused while records are missing from the feed, and an arrival without a choice', async () => {
  await stock(one);
  await expect(arrive(movedFeed(one, two))).rejects.toThrow('were not chosen');
  await two.database.query({ text: `update catch_up set complete = false where subject = 'dogs'` });
  await expect(chooseShift(movedFeed(one, two), signal)).rejects.toThrow('the feed of dogs in pets of the target is still being prepared');
  await two.database.query({ text: `update catch_up set complete = true where subject = 'dogs'` });
});

test('waits for a table that others use, until its signal aborts', async () => {
  await two.replica.query({ text: 'begin' });
  await put(two.replica, randomUUID(), 'dogs', randomUUID());
  await expect(chooseShift(movedFeed(one, two), AbortSignal.timeout(700))).rejects.toMatchObject({ name: 'TimeoutError' });
  await two.replica.query({ text: 'commit' });
  await leave(movedFeed(one, two), signal);
  expect((await two.database.query({ text: `select from pg_trigger where tgname like 'arriving%'` })).rowCount).toBe(0);
});

// Last, because the epochs stay.
test('a restore before a move or after one refuses older cursors, and versions stay above all that were shown', async () => {
  const [cat] = await stock(one);
  const reader = new Reader();
  await reader.drain(one);
  const raise = async ({ database }: Cell): Promise<void> => {
    const { rows } = await database.query<{ epoch: number }>({ text: 'select last_value / 1000000000000 as epoch from outbox_id_seq' });
    await beginEpoch(database, rows[0]!.epoch + 1);
  };
  const resync = async (cell: Cell): Promise<void> => {
    await transactionsEnded(cell.database);
    const { changed } = await reader.find(cell, ['cats', 'dogs']);
    expect(changed).toHaveLength(1);
    await expect(reader.page(cell)).rejects.toMatchObject({ code: 'RESYNC_REQUIRED' });
    const { highest } = reader;
    reader.positions = KINDS.map(beginning);
    reader.epoch = null;
    await reader.drain(cell);
    expect(reader.highest).toBeGreaterThan(highest);
    expect(await reader.digestsOf(cell)).toEqual(reader.sums());
  };
  await raise(one);
  await resync(one);
  const own = (digests: Awaited<ReturnType<Reader['digestsOf']>>) => digests.filter(({ kind }) => kind !== 'breeds');
  const before = own(await reader.digestsOf(one));
  await move(one, two);
  expect(own(await reader.digestsOf(two))).toEqual(before);
  await reader.drain(two);
  await raise(two);
  await resync(two);
  const after = own(await reader.digestsOf(two));
  await move(two, one, () => change(two, cat!, 'two'));
  expect(own(await reader.digestsOf(one)).map(({ count }) => count)).toEqual(after.map(({ count }) => count));
  expect((await reader.drain(one)).filter((each) => each.startsWith('cats'))).toEqual([`cats ${cat} two`]);
  expect(await reader.digestsOf(one)).toEqual(reader.sums());
});
