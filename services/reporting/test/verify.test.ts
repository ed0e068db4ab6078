import { randomUUID } from 'node:crypto';
import type { VerifyReportsResponse } from '@truckroll/contract/gen/reporting/v1/admin';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { paymentFacts, refundFacts } from '../src/facts/records.ts';
import { keepingSettings, schema } from '../src/schema.ts';
import { SUMMARIES_VERSION } from '../src/facts/definitions.ts';
import { Deltas } from '../src/summaries/deltas.ts';
import { addRange } from '../src/summaries/range.ts';
import { verifyReports } from '../src/summaries/verify.ts';

const GENERATION = { generation: 1, time_zone: 'America/Chicago' };
const ACCOUNT = '0191b3c4-5d6e-7f70-8192-a3b4c5d6e7f8';

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema, { settings: keepingSettings }));
});
afterAll(() => close());

const TIMES = ['2025-02-01T03:00:00Z', '2025-03-10T12:00:00Z', '2026-12-05T12:00:00Z'];

async function companyWithSums(times: readonly string[] = TIMES): Promise<string> {
  const company = randomUUID();
  await database.query({
    text: `insert into generations (company_id, generation, time_zone, state, version) values ($1, 1, 'America/Chicago', 'current', ${SUMMARIES_VERSION})`,
    values: [company],
  });
  // In a transaction, since the setting that the writer keeps sums applies only there.
  await database.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>({
      text: `insert into payments (company_id, id, status, method, account_id, amount_cents, occurred_at)
        select $1, gen_random_uuid(), 'PAID', 'CARD', $2, 100, at from unnest($3::timestamptz[]) at returning id`,
      values: [company, ACCOUNT, times],
    });
    const deltas = new Deltas();
    const facts = await paymentFacts.read(
      tx,
      company,
      rows.map(({ id }) => id),
    );
    for (const entries of facts.values()) deltas.change(GENERATION, [], entries);
    await deltas.write(tx, company);
  });
  return company;
}

async function verified(company: string, by: Pick<Database, 'transaction'> = database): Promise<VerifyReportsResponse> {
  const steps: VerifyReportsResponse[] = [];
  for await (const step of verifyReports(by, company, new AbortController().signal)) steps.push(step);
  return steps.at(-1)!;
}

const all = (company: string, period: string, cents: number) => ({
  text: `update collection_summaries set received_cents = $3 where company_id = $1 and part = 'month' and period = $2`,
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
])('moves a payment’s sums with it, and no refund of its day, when it moves %s', async (_, at) => {
  const company = await companyWithSums();
  await database.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>({
      text: `insert into refunds (company_id, id, status, payment_method, account_id, amount_cents, occurred_at)
        values ($1, gen_random_uuid(), 'SUCCEEDED', 'CARD', $2, 30, $3) returning id`,
      values: [company, ACCOUNT, TIMES[1]],
    });
    const refunds = await refundFacts.read(tx, company, [rows[0]!.id]);
    const deltas = new Deltas();
    for (const entries of refunds.values()) deltas.change(GENERATION, [], entries);
    await deltas.write(tx, company);
  });
  await database.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>({
      text: 'select id from payments where company_id = $1 and occurred_at = $2',
      values: [company, TIMES[1]],
    });
    const ids = rows.map(({ id }) => id);
    const before = await paymentFacts.read(tx, company, ids);
    await tx.query({ text: 'update payments set occurred_at = $3 where company_id = $1 and id = any($2::uuid[])', values: [company, ids, at] });
    const after = await paymentFacts.read(tx, company, ids);
    const deltas = new Deltas();
    for (const id of ids) deltas.change(GENERATION, before.get(id)!, after.get(id)!);
    await deltas.write(tx, company);
  });
  expect(await verified(company)).toMatchObject({ built: true, facts: 4, differences: [] });
});

test('adds up facts in ranges as one by one, each in the range that its id ends', async () => {
  const company = await companyWithSums();
  const sumsOf = async (generation: number) =>
    (
      await database.query({
        text: `select part, period, value, standing, payment_count, received_cents from collection_summaries
          where company_id = $1 and generation = $2 order by 1, 2, 3, 4`,
        values: [company, generation],
      })
    ).rows;
  const { rows } = await database.query<{ id: string }>({ text: 'select id from payments where company_id = $1 order by id', values: [company] });
  await database.transaction(async (tx) => {
    for (const [index, { id }] of rows.entries()) {
      await addRange(tx, company, { ...GENERATION, generation: 2 }, { kind: paymentFacts, after: rows[index - 1]?.id ?? null, last: id });
    }
  });
  expect(await sumsOf(2)).toEqual(await sumsOf(1));
});

test('finds sums that are wrong, missing, or without a fact', async () => {
  const company = await companyWithSums();
  await database.query(all(company, '2026-12-01', 99));
  await database.query({ text: `delete from collection_combinations where company_id = $1 and period = '2025-03-01'`, values: [company] });
  await database.query({
    text: `insert into collection_summaries values ($1, 1, 'account/day', '1999-05-06', '~', '', 1, 5, 0, 0)`,
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
    interrupted(async (slice) => slice === 2 && (await database.query(all(company, '2026-12-01', 1)))),
  );
  expect(differences).toMatchObject([{ period: '2026-12', group: 'all' }]);
});

test('has no result while the sums are of an older version', async () => {
  const company = await companyWithSums();
  await database.query({ text: 'update generations set version = $2 where company_id = $1', values: [company, SUMMARIES_VERSION - 1] });
  expect(await verified(company)).toMatchObject({ built: false });
});

test('has no result while the sums are spoiled', async () => {
  const company = await companyWithSums();
  await database.query({ text: 'insert into spoiled_summaries values ($1)', values: [randomUUID()] });
  expect(await verified(company)).toMatchObject({ built: true });
  await database.query({ text: 'insert into spoiled_summaries values ($1)', values: [company] });
  expect(await verified(company)).toMatchObject({ built: false });
});

test('names a row of zeros, and the standing of a sum, and lists at most a thousand differences', async () => {
  const company = await companyWithSums();
  const wrong = (days: number): Promise<unknown> =>
    database.query({
      text: `insert into invoice_summaries (company_id, generation, part, period, value, standing, invoice_count, subtotal_cents, discount_cents, tax_cents)
        select $1, 1, 'account/day', '1999-05-01'::date + i, '~', 'OPEN', 0, 0, 0, 0 from generate_series(1, $2) i`,
      values: [company, days],
    });
  await wrong(1);
  expect((await verified(company)).differences).toEqual([
    { report: 'invoice-activity', period: '1999-05-02', group: 'account none, OPEN', difference: 'a row of zeros' },
  ]);
  await database.query({ text: 'delete from invoice_summaries where company_id = $1', values: [company] });
  await wrong(1001);
  expect((await verified(company)).differences).toHaveLength(1000);
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

test('has no result if the sums are rebuilt in between', async () => {
  const company = await companyWithSums();
  const renew = {
    text: `with retired as (update generations set state = 'retired' where company_id = $1 returning company_id)
      insert into generations (company_id, generation, time_zone, state) select company_id, 2, 'America/Denver', 'current' from retired`,
    values: [company],
  };
  const last = await verified(
    company,
    interrupted(async (slice) => slice === 2 && (await database.query(renew))),
  );
  expect(last).toEqual({ facts: 0, sums: 0, built: false, differences: [] });
});
