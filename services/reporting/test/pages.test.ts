// Which sums a page of a report reads, and where the next page continues.
import { randomUUID } from 'node:crypto';
import { parseDate, type BucketName } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { COLLECTIONS } from '../src/facts/definitions.ts';
import { dateOf } from '../src/reports/periods.ts';
import { readPage } from '../src/reports/page.ts';
import type { ReportQuestion } from '../src/reports/sources.ts';
import { schema } from '../src/schema.ts';
import { DuePeriods } from '../src/sums/due.ts';

const [ONE, TWO] = ['11111111-0000-4000-8000-000000000000', '22222222-0000-4000-8000-000000000000'];

let database: Database;
let close: () => Promise<void>;
let company: string;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema)), 60_000);
afterAll(() => close());
beforeEach(() => void (company = randomUUID()));

/** The sum of a day and of its month, of an account. */
async function received(date: string, account: string, cents: number, of = company, standing = ''): Promise<void> {
  for (const [part, period] of [
    ['account/day', date],
    ['account/month', `${date.slice(0, 7)}-01`],
  ]) {
    await database.query({
      text: `insert into collection_sums as s (company_id, part, period, value, standing, payment_count, received_cents, refund_count, refunded_cents)
        values ($1, $2, $3, $4, $6, 1, $5, 0, 0)
        on conflict (company_id, part, period, value, standing) do update set received_cents = s.received_cents + excluded.received_cents`,
      values: [of, part, period, account, cents, standing],
    });
  }
}

type Asked = [start: string, end: string, bucket: BucketName, limit: number];

function questionOf(more: Partial<ReportQuestion> = {}): ReportQuestion {
  return {
    summary: COLLECTIONS,
    companyId: company,
    timeZone: 'UTC',
    due: new DuePeriods(-Infinity),
    groupBy: 'account',
    filters: new Map(),
    standings: [''],
    ...more,
  };
}

async function pages([start, end, bucket, limit]: Asked, more: Partial<ReportQuestion> = {}): Promise<string[][]> {
  const question = questionOf(more);
  const read: string[][] = [];
  for (let after = new Uint8Array(); ; ) {
    const { rows, next } = await readPage(database, question, { range: { start: parseDate(start)!, end: parseDate(end)! }, bucket, limit, after });
    read.push(rows.map(({ period, sums: { value, measures } }) => `${dateOf(period.start)} ${value.slice(0, 1)} ${measures[2]}`));
    if (next.length === 0) return read;
    after = Uint8Array.from(next);
  }
}

const far = (bucket: BucketName, limit = 10): Asked => ['2000-01-01', '2030-01-01', bucket, limit];

test.each<BucketName>(['year', 'quarter', 'month', 'week', 'day'])(
  'a long range by %s has the first and the last day with data, at either border of a period',
  async (bucket) => {
    // A Monday that begins a year, and the last day of one.
    for (const [date, cents] of [
      ['2018-01-01', 3],
      ['2018-01-02', 4],
      ['2023-12-31', 5],
      ['2024-01-01', 7],
    ] as const)
      await received(date, ONE, cents);
    const [found] = await pages(far(bucket));
    const cents = found!.map((row) => Number(row.split(' ')[2]));
    expect(cents.reduce((sum, value) => sum + value, 0)).toBe(19);
    expect([found![0]!.slice(0, 10), found!.at(-1)!.slice(0, 10)]).toEqual(['2018-01-01', '2024-01-01']);
  },
);

test.each<[BucketName, number]>([
  ['year', 1],
  ['year', 2],
  ['year', 3],
  ['quarter', 1],
  ['month', 1],
  ['month', 2],
  ['week', 1],
  ['week', 2],
  ['day', 1],
  ['day', 3],
])('pages of a range by %s with %i groups each have every group once, in order', async (bucket, limit) => {
  const dates = ['2018-01-01', '2018-05-07', '2020-03-02', '2024-01-01'];
  for (const date of dates) for (const account of [TWO, ONE, '~']) await received(date, account, 1);
  const read = await pages(far(bucket, limit));
  const [whole] = await pages(far(bucket, 100));
  expect(read.flat()).toEqual(whole);
  expect(read.slice(0, -1).map((rows) => rows.length)).toEqual(read.slice(0, -1).map(() => limit));
  expect(read.at(-1)!.length).toBeGreaterThan(0);
  expect(whole!.slice(-3).map((row) => row.slice(11))).toEqual(['1 1', '2 1', '~ 1']);
});

test('the next page begins with the first group of a later period if the data of the last one is gone', async () => {
  await received('2018-01-01', TWO, 1);
  for (const account of [ONE, TWO]) await received('2024-01-01', account, 1);
  const [start, end] = ['2000-01-01', '2030-01-01'].map((date) => parseDate(date) as number) as [number, number];
  const question = questionOf();
  const request = { range: { start, end }, bucket: 'year' as const, limit: 1 };
  const { next } = await readPage(database, question, { ...request, after: new Uint8Array() });
  await database.query({ text: `delete from collection_sums where company_id = $1 and period < '2024-01-01'`, values: [company] });
  const { rows } = await readPage(database, question, { ...request, after: next });
  expect(rows.map(({ period, sums }) => [dateOf(period.start), sums.value])).toEqual([['2024-01-01', ONE]]);
});

test('a page has sums of its company only', async () => {
  await received('2024-01-01', ONE, 5);
  await received('2024-01-01', ONE, 500, randomUUID());
  for (const bucket of ['year', 'month', 'day'] as const) {
    expect(await pages(far(bucket))).toEqual([['2024-01-01 1 5']]);
    expect(await pages(['2024-01-01', '2024-02-01', bucket, 10])).toEqual([['2024-01-01 1 5']]);
  }
});

test.each<BucketName>(['year', 'month', 'week', 'day'])('pages by %s add up the standings that count, and lack no group because of them', async (bucket) => {
  for (const [standing, cents] of [
    ['a', 1],
    ['b', 2],
    ['c', 4],
  ] as const)
    for (const account of [ONE, TWO]) await received('2024-01-01', account, cents, company, standing);
  expect(await pages(['2024-01-01', '2024-01-03', bucket, 1], { standings: ['a', 'b'] })).toEqual([['2024-01-01 1 3'], ['2024-01-01 2 3']]);
});

test('a page is empty where no standing counts, and where there is no data', async () => {
  expect(await pages(far('year'))).toEqual([[]]);
  await received('2024-01-01', ONE, 5);
  expect(await pages(far('year'), { standings: [] })).toEqual([[]]);
  expect(await pages(['2024-01-02', '2030-01-01', 'year', 10])).toEqual([[]]);
  expect(await pages(['2020-01-01', '2024-01-01', 'year', 10])).toEqual([[]]);
});

test('an ungrouped page has each period of the range, with sums or without, and ends with the range', async () => {
  const ungrouped = { groupBy: null, filters: new Map([['account', [ONE]]]) };
  await received('2024-02-29', ONE, 5);
  await received('2024-02-29', TWO, 50);
  expect(await pages(['2024-01-31', '2024-03-02', 'month', 2], ungrouped)).toEqual([['2024-01-31  0', '2024-02-01  5'], ['2024-03-01  0']]);
  expect(await pages(['2024-01-31', '2024-03-01', 'month', 2], ungrouped)).toEqual([['2024-01-31  0', '2024-02-01  5']]);
  expect(await pages(['2024-02-28', '2024-03-01', 'day', 5], ungrouped)).toEqual([['2024-02-28  0', '2024-02-29  5']]);
});

test('sums that are read from facts count a fact of midnight in the company’s zone to the day that begins', async () => {
  const instants = ['2024-03-10T05:59:59.999999Z', '2024-03-10T06:00:00Z', '2024-03-11T04:59:59.999999Z', '2024-03-11T05:00:00Z'];
  await database.query({
    text: `insert into payments (company_id, id, status, method, account_id, amount_cents, occurred_at)
      select $1, gen_random_uuid(), 'PAID', 'CARD', $2, 10 ^ (n - 1), at from unnest($3::timestamptz[]) with ordinality t(at, n)`,
    values: [company, ONE, instants],
  });
  const filters = new Map([
    ['account', [ONE]],
    ['payment_method', ['CARD']],
  ]);
  // Clocks go forward on the tenth.
  const read = await pages(['2024-03-09', '2024-03-12', 'day', 5], { groupBy: null, filters, timeZone: 'America/Chicago' });
  expect(read).toEqual([['2024-03-09  1', '2024-03-10  110', '2024-03-11  1000']]);
});
