import type { VerifyReportsResponse } from '@truckroll/contract/gen/reporting/v1/admin';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { schema, transactionSettings } from '../src/schema.ts';
import { verifyReports } from '../src/sums/verify.ts';
import { build, newCompany } from './records.ts';

const ACCOUNT = '0191b3c4-5d6e-7f70-8192-a3b4c5d6e7f8';

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema, { settings: transactionSettings }));
});
afterAll(() => close());

const TIMES = ['2025-02-01T03:00:00Z', '2025-03-10T12:00:00Z', '2026-12-05T12:00:00Z'];

async function companyWithSums(times: readonly string[] = TIMES): Promise<string> {
  const company = await newCompany(database);
  await database.query({
    text: `insert into payments (company_id, id, status, method, account_id, amount_cents, occurred_at)
      select $1, gen_random_uuid(), 'PAID', 'CARD', $2, 100, at from unnest($3::timestamptz[]) at`,
    values: [company, ACCOUNT, times],
  });
  await build(database);
  return company;
}

async function verified(company: string, by: Pick<Database, 'transaction'> = database): Promise<VerifyReportsResponse> {
  const steps: VerifyReportsResponse[] = [];
  for await (const step of verifyReports(by, company, new AbortController().signal)) steps.push(step);
  return steps.at(-1)!;
}

const all = (company: string, period: string, cents: number) => ({
  text: `update collection_sums set received_cents = $3 where company_id = $1 and part = 'month' and period = $2`,
  values: [company, period, cents],
});

function interrupted(after: (slice: number) => Promise<unknown>): Pick<Database, 'transaction'> {
  let slices = 0;
  return {
    async transaction(work, options) {
      const result = await database.transaction(work, options);
      await after((slices += 1));
      return result;
    },
  };
}

test('finds nothing if the sums match the facts, month by month', async () => {
  expect(await verified(await companyWithSums())).toMatchObject({ built: true, facts: 3, differences: [] });
});

test('compares payments of the first and the last microsecond of a month with the sums of that month', async () => {
  const borders = ['2025-03-01T05:59:59.999999Z', '2025-03-01T06:00:00Z', '2025-04-01T04:59:59.999999Z', '2025-04-01T05:00:00Z'];
  expect(await verified(await companyWithSums(borders))).toMatchObject({ built: true, facts: 4, differences: [] });
});

test.each([
  ['in its day', '2025-03-10T13:00:00Z'],
  ['to another day of its month', '2025-03-12T12:00:00Z'],
  ['across midnight in the company’s time zone', '2025-03-10T04:00:00Z'],
  ['to another month', '2025-04-10T12:00:00Z'],
])('compares no sums that are due because a payment moves %s, and finds nothing once they are summed', async (_, at) => {
  const company = await companyWithSums();
  await database.query({ text: 'update payments set occurred_at = $2 where company_id = $1 and occurred_at = $3', values: [company, at, TIMES[1]] });
  expect(await verified(company)).toMatchObject({ built: true, facts: 2, differences: [] });
  await build(database, { quietMs: 60_000 });
  expect(await verified(company)).toMatchObject({ built: true, facts: 3, differences: [] });
  await build(database);
  expect(await verified(company)).toMatchObject({ built: true, facts: 3, differences: [] });
});

test('finds sums that are wrong, missing, or without a fact', async () => {
  const company = await companyWithSums();
  await database.query(all(company, '2026-12-01', 99));
  await database.query({ text: `delete from collection_crosses where company_id = $1 and step = 'month' and period = '2025-03-01'`, values: [company] });
  await database.query({
    text: `insert into collection_sums values ($1, 'account/day', '1999-05-06', '~', '', 1, 5, 0, 0)`,
    values: [company],
  });
  const { differences } = await verified(company);
  expect(differences).toEqual([
    {
      report: 'collections',
      period: '1999-05-06',
      group: 'account none',
      difference: 'payment_count is 1, should be not there; received_cents is 5, should be not there',
    },
    {
      report: 'collections',
      period: '2025-03',
      group: 'payment_method CARD, collector none',
      difference: 'payment_count is not there, should be 1; received_cents is not there, should be 100',
    },
    { report: 'collections', period: '2026-12', group: 'all', difference: 'received_cents is 99, should be 100' },
  ]);
});

test('reads each month in a separate snapshot', async () => {
  const company = await companyWithSums();
  const { differences } = await verified(
    company,
    // The second slice is the first month of payments, after one without jobs and one without invoices.
    interrupted(async (slice) => slice === 3 && (await database.query(all(company, '2026-12-01', 1)))),
  );
  expect(differences).toMatchObject([{ period: '2026-12', group: 'all' }]);
});

test.each([
  ['of an older version', 'update summed set version = version - 1 where company_id = $1'],
  ['of another time zone', `update summed set time_zone = 'UTC' where company_id = $1`],
  ['not there', 'delete from summed where company_id = $1'],
])('has no result while the sums are %s', async (_, text) => {
  const company = await companyWithSums();
  await database.query({ text, values: [company] });
  expect(await verified(company)).toEqual({ facts: 0, sums: 0, built: false, differences: [] });
});

test('names a row of zeros, and the standing of a sum, and lists at most a thousand differences', async () => {
  const company = await companyWithSums();
  await database.query({
    text: `insert into invoice_sums (company_id, part, period, value, standing, invoice_count, subtotal_cents, discount_cents, tax_cents)
      select $1, 'account/day', '1999-05-01'::date + i, '~', 'OPEN', 0, 0, 0, 0 from generate_series(1, 1001) i`,
    values: [company],
  });
  const { differences } = await verified(company);
  expect(differences).toHaveLength(1000);
  expect(differences[0]).toMatchObject({ report: 'invoice-activity', period: '1999-05-02', group: 'account none, OPEN', difference: 'a row of zeros' });
});

test('verifies jobs in slices, to the last one', async () => {
  const company = await companyWithSums();
  const last = 'ffffffff-5d6e-7f70-8192-a3b4c5d6e7f8';
  await database.transaction(async (tx) => {
    await tx.query({
      text: `insert into job_financials (company_id, id, created_at, report_date, document)
        select $1, ('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid, now(), now(), '' from generate_series(1, 2000) i`,
      values: [company],
    });
    await tx.query({
      text: `insert into job_facts values ($1, $2, '2025-03-10', $3, null, null, null, 'included', '{}', 100, 0, 0, 0, 0, 0)`,
      values: [company, last, ACCOUNT],
    });
  });
  const { differences } = await verified(company);
  expect(differences).toContainEqual(expect.objectContaining({ group: `job ${last}` }));
});
