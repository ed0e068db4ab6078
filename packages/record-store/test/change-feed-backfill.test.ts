// Records that were stored before their kind was in the change feed.
import { createHash, randomUUID } from 'node:crypto';
import type { Database } from '@truckroll/postgres';
import { EVERYWHERE, beginning, codes, feedOf, keep, openPets, table, transactionsEnded } from './pets.ts';

const [COMPLETE, BEHIND] = ['00000000-0000-4000-8000-000000000001', 'ffffffff-ffff-4fff-bfff-ffffffffffff'] as const;

let database: Database;
let close: () => Promise<void>;
afterEach(() => close());

async function open(...stored: string[]): Promise<void> {
  ({ database, close } = await openPets([table('cats'), table('dogs'), codes, ...stored, keep('cats', 'dogs', 'breeds')].join(' ')));
}

const many = (kind: string, company: string, count: number): string =>
  `insert into ${kind} select '${company}', gen_random_uuid(), 'one' from generate_series(1, ${count});`;
const cat = (company: string, id: string): string => `insert into cats values ('${company}', '${id}', 'one');`;

type Feed = ReturnType<typeof feedOf>;
const start = (): Feed => feedOf(database, 'cats', 'dogs', 'breeds');
const backfillOf = ({ parts }: Feed) => parts.find(({ name }) => name === 'catch-up')!;

/** A start does one batch of each kind. */
async function oneBatch(): Promise<void> {
  const backfill = backfillOf(start());
  await backfill.start();
  await backfill.stop();
  await transactionsEnded(database);
}

const asks = (feed: Feed, companyId: string, kind = 'cats') =>
  feed.read({
    company_id: companyId,
    time_zone: 'UTC',
    positions: [beginning(kind)],
    epoch: null,
    limit: 5000,
    most_bytes: 1_000_000,
    skip: false,
  });
const ids = async (asked: ReturnType<typeof asks>): Promise<string[]> => (await asked).changes.map(({ id }) => id).sort();
const logged = async (kind: string, company: string): Promise<number> =>
  (await database.query({ text: 'select from record_changes where kind = $1 and company_id = $2', values: [kind, company] })).rowCount;

test('a company whose stored records are not all in the feed gets 503, and one that is complete does not', async () => {
  const known = randomUUID();
  await open(cat(COMPLETE, known), many('cats', BEHIND, 1500));
  const feed = start();
  const refusal = { status: 503, retryAfterSeconds: 5, message: expect.stringContaining('The feed of cats is being prepared') };
  await expect(asks(feed, COMPLETE)).rejects.toMatchObject(refusal);
  await oneBatch();
  expect(await ids(asks(feed, COMPLETE))).toEqual([known]);
  await expect(asks(feed, BEHIND)).rejects.toMatchObject(refusal);
  await oneBatch();
  expect(await ids(asks(feed, BEHIND))).toHaveLength(1500);
});

test('a kind that is complete is read while another one is being added, and the refusal names only that', async () => {
  await open(many('cats', BEHIND, 3), many('dogs', BEHIND, 1500));
  await oneBatch();
  const feed = start();
  expect(await ids(asks(feed, BEHIND))).toHaveLength(3);
  await expect(asks(feed, BEHIND, 'dogs')).rejects.toMatchObject({ status: 503, message: expect.stringMatching(/^The feed of dogs is/) });
});

test('goes on batch by batch after the start, until every record is in the log once', async () => {
  await open(many('cats', COMPLETE, 1200), many('cats', BEHIND, 1800));
  const feed = start();
  const backfill = backfillOf(feed);
  await backfill.start();
  for (let left = 1; left > 0; ) ({ rowCount: left } = await database.query({ text: 'select from catch_up where not done' }));
  await backfill.stop();
  await transactionsEnded(database);
  expect([await logged('cats', COMPLETE), await logged('cats', BEHIND)]).toEqual([1200, 1800]);
  const read = await ids(asks(feed, BEHIND));
  expect([read.length, new Set(read).size]).toEqual([1800, 1800]);
});

test('logs a record that has changed since not again', async () => {
  const [changed, unchanged] = [randomUUID(), randomUUID()];
  await open(cat(COMPLETE, changed), cat(COMPLETE, unchanged));
  await database.query({ text: `update cats set document = 'two' where id = $1`, values: [changed] });
  await oneBatch();
  expect(await logged('cats', COMPLETE)).toBe(2);
  const { changes } = await asks(start(), COMPLETE);
  expect(changes.map(({ id, record }) => [id, String(record)])).toEqual([
    [changed, 'two'],
    [unchanged, 'one'],
  ]);
});

test('logs records whose ids are codes, in more than one batch, under the digests of their codes', async () => {
  await open(`insert into breeds select '${EVERYWHERE}', 'B' || i, 'one' from generate_series(1, 1001) i;`);
  await oneBatch();
  expect(await logged('breeds', EVERYWHERE)).toBe(1000);
  await oneBatch();
  const { rows } = await database.query<{ id: string }>({ text: `select id from record_changes where kind = 'breeds' order by id` });
  const expected = Array.from({ length: 1001 }, (_, i) =>
    createHash('md5')
      .update(`B${i + 1}`)
      .digest('hex'),
  ).sort();
  expect(rows.map(({ id }) => id.replaceAll('-', ''))).toEqual(expected);
  const read = await ids(asks(start(), COMPLETE, 'breeds'));
  expect(read).toEqual(Array.from({ length: 1001 }, (_, i) => `B${i + 1}`).sort());
});
