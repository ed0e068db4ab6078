// Which days and months are due after a change, and that a report has the same figures whether it reads sums or facts.
import { randomUUID } from 'node:crypto';
import { formatDate, parseDate, type BucketName } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import fc from 'fast-check';
import { COLLECTIONS, INVOICES, SUMMARIES_VERSION, type Since, type SummaryDefinition } from '../src/facts/definitions.ts';
import { jobs } from '../src/read-models/jobs.ts';
import { payments } from '../src/read-models/payments.ts';
import { MOST_DUE, neededVersion, passGate } from '../src/reports/gate.ts';
import { readPage } from '../src/reports/page.ts';
import { dateOf } from '../src/reports/periods.ts';
import type { ReportQuestion } from '../src/reports/sources.ts';
import { schema, transactionSettings } from '../src/schema.ts';
import { DUE_DATES, DuePeriods, SUMMED, dueOf, localDaysOf, type DueDates, type Summed } from '../src/sums/due.ts';
import { sumRound } from '../src/sums/task.ts';
import { verifyReports } from '../src/sums/verify.ts';
import { apply, build, financials, importFinancials, job, newCompany, payment } from './records.ts';

const FIRST = '2026-03-01T15:00:00Z';

let database: Database;
let close: () => Promise<void>;
let company: string;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema, { settings: transactionSettings })), 60_000);
afterAll(() => close());
beforeEach(async () => void (company = await newCompany(database)));
afterEach(() => database.query({ text: 'with gone as (delete from summed) delete from companies' }));

const day = (date: string): number => parseDate(date)!;
const query = (text: string, ...values: unknown[]) => database.query<any>({ text, values: [company, ...values] });
const notes = async (): Promise<string[]> =>
  (await query(`select report || ' ' || day as note from due_notes where company_id = $1 order by 1`)).rows.map(({ note }) => note);
const months = async (): Promise<string[]> =>
  (await query(`select report || ' ' || month as month from due_months where company_id = $1 order by 1`)).rows.map(({ month }) => month);
const pay = (at: string, cents = 1, id: string = randomUUID()) =>
  database.transaction((tx) => apply(tx, company, payments, 'payments', payment({ id, occurred_at: at, amount_cents: cents })));

async function due(definition: SummaryDefinition, version = 1): Promise<{ due: DuePeriods; timeZone: string }> {
  const text = `select c.time_zone, ${SUMMED}, ${DUE_DATES}
    from companies c join summed s on s.company_id = c.company_id and s.report = $2 where c.company_id = $1`;
  const { rows } = await database.query<Summed & DueDates & { time_zone: string }>({ text, values: [company, definition.name] });
  return { due: dueOf(rows[0], rows[0]!.time_zone, version, rows[0]!), timeZone: rows[0]!.time_zone };
}

type Asked = [start: string, end: string, bucket: BucketName];

/** The figures of a report as it reads them now, and with every day read from facts. */
async function both([start, end, bucket]: Asked, more: Partial<ReportQuestion> = {}): Promise<unknown[][]> {
  const definition = more.summary ?? COLLECTIONS;
  const now = await due(definition);
  const read = async (of: DuePeriods): Promise<unknown[]> => {
    const question = { summary: definition, companyId: company, groupBy: 'account', filters: new Map(), standings: [''], ...now, ...more, due: of };
    const rows: unknown[] = [];
    for (let after = new Uint8Array(); ; ) {
      const page = await readPage(database, question, { range: { start: day(start), end: day(end) }, bucket, limit: 3, after });
      rows.push(...page.rows.map(({ period, sums: { value, measures } }) => [dateOf(period.start), value, ...measures.map(String)]));
      if (page.next.length === 0) return rows;
      after = Uint8Array.from(page.next);
    }
  };
  return [await read(now.due), await read(new DuePeriods(Infinity))];
}

async function isRight(): Promise<void> {
  for await (const step of verifyReports(database, company, new AbortController().signal)) expect(step).toMatchObject({ built: true, differences: [] });
}

describe('a statement', () => {
  const INVOICE = `insert into invoices (company_id, id, number, status, issued_at, created_at, account_id, subtotal_cents, discount_cents, tax_cents, projection)
    select $1, gen_random_uuid(), 'INV-1', 'OPEN', at, now(), gen_random_uuid(), 0, 0, 0, 1 from unnest($2::timestamptz[]) at`;
  const clean = () => query('delete from due_notes where company_id = $1');

  test('notes each UTC date of the facts that it inserts once, and nothing of facts without an instant', async () => {
    await query(INVOICE, ['2026-03-01T23:59:59Z', '2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', null]);
    expect(await notes()).toEqual(['invoice 2026-03-01', 'invoice 2026-03-02']);
    expect(await notes()).toHaveLength(2);
  });

  test('notes the dates where changed facts were and are, and nothing of facts that were only seen again', async () => {
    await query(INVOICE, [FIRST, '2026-03-05T00:00:00Z']);
    await clean();
    await query(`update invoices set copied_at = now() + interval '1 s', projection = 1 where company_id = $1`);
    expect(await notes()).toEqual([]);
    await query(`update invoices set issued_at = issued_at + interval '30 d' where company_id = $1 and issued_at = $2`, FIRST);
    expect(await notes()).toEqual(['invoice 2026-03-01', 'invoice 2026-03-31']);
    await clean();
    await query(`update invoices set issued_at = null where company_id = $1`);
    expect(await notes()).toEqual(['invoice 2026-03-05', 'invoice 2026-03-31']);
  });

  test('notes the dates of facts that it deletes, for both reports of jobs', async () => {
    const { id } = job();
    await importFinancials(database, company, financials(id, 300));
    expect(await notes()).toEqual(['job 2026-03-01', 'participation 2026-03-01']);
    await clean();
    await query('delete from job_facts where company_id = $1');
    expect(await notes()).toEqual(['job 2026-03-01', 'participation 2026-03-01']);
  });

  test.each(['invoices', 'payments', 'refunds', 'job_facts'])('that truncates %s is refused', async (table) => {
    await expect(database.query({ text: `truncate ${table}` })).rejects.toMatchObject({ cause: { message: expect.stringContaining('use DELETE') } });
  });

  test('of an operator that changes sources of jobs has their facts derived again', async () => {
    const known = job({ completed_at: FIRST });
    await database.transaction((tx) => apply(tx, company, jobs, 'jobs', known));
    await importFinancials(database, company, financials(known['id'], 300));
    await build(database);
    const operator = (text: string) =>
      database.transaction(async (tx) => {
        await tx.query({ text: `select set_config('truckroll.derives_job_facts', '', true)` });
        await tx.query({ text, values: [company, known['id']] });
      });
    await operator(`insert into assignments (company_id, id, job_id, team_member_id, team_member_name, projection) values ($1, $2, $2, $2, 'Ana', 1)`);
    await build(database);
    expect((await query('select members from job_facts where company_id = $1')).rows).toEqual([{ members: [known['id']] }]);
    await isRight();
  });

  test.each([
    ['release 1.3.0, whose sums it keeps', '1', 0],
    ['this release', '', 1],
  ])('of %s leaves the sums for a rollback as they should be', async (_, keeps, spoiled) => {
    await database.transaction(async (tx) => {
      await tx.query({ text: `select set_config('truckroll.keeps_summaries', $1, true)`, values: [keeps] });
      await tx.query({ text: INVOICE, values: [company, [FIRST]] });
    });
    expect((await query('select from spoiled_summaries where company_id = $1')).rowCount).toBe(spoiled);
    expect(await notes()).toEqual(['invoice 2026-03-01']);
  });
});

describe('a change', () => {
  test('leaves its day due until that is summed, and its month until that has been quiet', async () => {
    await build(database);
    await pay('2026-03-01T03:00:00Z');
    const { due: now } = await due(COLLECTIONS);
    // In Chicago still the last of February; any instant of that UTC date can be on either day.
    expect(now.stretches(day('2026-01-01'), day('2027-01-01')).map(({ start, end }) => [formatDate(start), formatDate(end)])).toEqual([
      ['2026-02-28', '2026-03-02'],
    ]);
    expect([now.hasMonth(day('2026-02-01')), now.hasMonth(day('2026-03-01')), now.hasMonth(day('2026-04-01'))]).toEqual([true, true, false]);
    await build(database, { quietMs: 60_000 });
    expect([await notes(), await months()]).toEqual([[], ['collection 2026-02-01', 'collection 2026-03-01']]);
    expect((await due(COLLECTIONS)).due.stretches(-Infinity, Infinity)).toEqual([]);
    await build(database);
    expect(await months()).toEqual([]);
    await pay('2026-03-20T12:00:00Z');
    expect((await due(COLLECTIONS)).due.hasMonth(day('2026-03-01'))).toBe(true);
    await build(database, { quietMs: 60_000 });
    expect(await months()).toEqual(['collection 2026-03-01']);
    await isRight();
  });

  test('of the time zone makes all days due, and sums are then of the new zone only', async () => {
    for (const at of ['2026-03-08T05:30:00Z', '2026-04-01T04:30:00Z', '2020-12-31T23:30:00Z']) await pay(at);
    await build(database);
    await query(`update companies set time_zone = 'Pacific/Kiritimati' where company_id = $1`);
    const [now] = await both(['2020-01-01', '2027-01-01', 'day'], { groupBy: null, filters: new Map([['payment_method', ['CHECK']]]) });
    expect((await due(COLLECTIONS)).due.hasDay(day('2026-12-31'))).toBe(true);
    expect(now!.filter((row: any) => row[2] !== '0').map((row: any) => row[0])).toEqual(['2021-01-01', '2026-03-08', '2026-04-01']);
    await build(database, { facts: 1 });
    expect((await due(COLLECTIONS)).due.stretches(-Infinity, Infinity)).toEqual([]);
    expect(
      (await query(`select distinct period::text as on from collection_sums where company_id = $1 and part = 'day' order by 1`)).rows.map(({ on }) => on),
    ).toEqual(['2021-01-01', '2026-03-08', '2026-04-01']);
    await isRight();
  });
});

test('sums all days of a company again that was removed and returns', async () => {
  await pay(FIRST);
  await build(database);
  const { rows } = await query('delete from companies where company_id = $1 returning to_json(companies) as kept');
  await pay(FIRST);
  await build(database);
  await query('insert into companies select r.* from json_populate_record(null::companies, $2) r where r.company_id = $1', rows[0].kept);
  await build(database);
  await isRight();
  expect(await both(['2026-03-01', '2026-03-02', 'day'], { groupBy: null })).toEqual([
    [['2026-03-01', '', '2', '0', '2', '0']],
    [['2026-03-01', '', '2', '0', '2', '0']],
  ]);
});

/** Days of 23 and 25 hours, a date that was skipped, one that began twice, and offsets on half hours. */
const ZONES: [string, string, string][] = [
  ['America/Chicago', '2026-03-07T20:00:00Z', '2026-03-09T12:00:00Z'],
  ['America/Chicago', '2026-10-31T20:00:00Z', '2026-11-02T12:00:00Z'],
  ['Pacific/Apia', '2011-12-28T20:00:00Z', '2012-01-01T12:00:00Z'],
  ['America/Sao_Paulo', '2018-02-16T20:00:00Z', '2018-02-19T12:00:00Z'],
  ['Asia/Kathmandu', '2026-02-26T20:00:00Z', '2026-03-01T12:00:00Z'],
];

test.each(ZONES)('in %s, payments from %s on are in the days that sums and facts agree on', async (zone, from, until) => {
  await query('update companies set time_zone = $2 where company_id = $1', zone);
  const text = `insert into payments (company_id, id, status, method, account_id, amount_cents, occurred_at, projection)
    select $1, gen_random_uuid(), 'PAID', 'CARD', md5(at::text)::uuid, 1, at, 1 from generate_series($2::timestamptz, $3, interval '1 h') at`;
  await query(text, from, until);
  await build(database, { facts: 7 });
  const range: Asked = [from.slice(0, 10), until.slice(0, 10), 'day'];
  const [sums, facts] = await both(range, { groupBy: null });
  expect(sums).toEqual(facts);
  const [byAccount, ofFacts] = await both(['2010-01-01', '2027-01-01', 'month']);
  expect(byAccount).toEqual(ofFacts);
  await isRight();
  await query('update payments set amount_cents = 2 where company_id = $1');
  await build(database);
  await isRight();
});

test('a report has the same figures however many of its days and months are due', async () => {
  const accounts = [randomUUID(), randomUUID(), randomUUID()];
  const text = `insert into payments (company_id, id, status, method, account_id, collected_by_id, amount_cents, occurred_at, projection)
    select $1, gen_random_uuid(), 'PAID', case i % 2 when 0 then 'CARD' else 'CASH' end, ($2::uuid[])[1 + i % 3], ($2::uuid[])[1 + i % 2], i, timestamptz '2025-11-01Z' + i * interval '13 h', 1
    from generate_series(1, 300) i`;
  await query(text, accounts);
  await build(database);
  const questions: Partial<ReportQuestion>[] = [
    { groupBy: null },
    {},
    { filters: new Map([['account', [accounts[0]!]]]) },
    { groupBy: 'payment_method', filters: new Map([['collector', [accounts[1]!]]]) },
    { groupBy: 'account', filters: new Map([['collector', [accounts[1]!]]]) },
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 170 }), { maxLength: 12 }),
      fc.integer({ min: 0, max: questions.length - 1 }),
      fc.constantFrom<BucketName>('day', 'week', 'month', 'quarter', 'year'),
      async (days, which, bucket) => {
        // Sums of days that are due are not read, even if they are wrong.
        for (const at of days) await pay(new Date(Date.UTC(2025, 10, 1 + at, 12)).toISOString());
        const [now, facts] = await both(['2025-10-15', '2026-05-20', bucket], questions[which]);
        expect(now).toEqual(facts);
        if (days.length % 2 === 0) await build(database, days.length % 4 === 0 ? {} : { quietMs: 60_000 });
      },
    ),
    { numRuns: 25 },
  );
  await build(database);
  await isRight();
}, 60_000);

describe('a newer version', () => {
  const since = { account: { version: SUMMARIES_VERSION + 1 } };
  const question = (more: Partial<ReportQuestion>, of: Record<string, Since> = since): ReportQuestion => ({
    summary: { ...INVOICES, since: of },
    companyId: company,
    timeZone: 'America/Chicago',
    due: new DuePeriods(-Infinity),
    groupBy: null,
    filters: new Map(),
    standings: ['OPEN'],
    ...more,
  });

  test('of a dimension is needed by reports that group or filter by it, or have it as a column, and by no others', () => {
    expect(neededVersion(question({ groupBy: 'account' }))).toBe(SUMMARIES_VERSION + 1);
    expect(neededVersion(question({ filters: new Map([['account', ['a']]]) }))).toBe(SUMMARIES_VERSION + 1);
    expect(neededVersion(question({}, { tax_cents: { version: 2 } }))).toBe(2);
    expect(neededVersion(question({ groupBy: 'job_class', filters: new Map([['business_unit', ['b']]]) }))).toBe(1);
  });

  test('has days read from facts by reports that need it, and by no others', async () => {
    await build(database);
    expect((await due(INVOICES, SUMMARIES_VERSION + 1)).due.hasDay(0)).toBe(true);
    expect((await due(INVOICES, SUMMARIES_VERSION)).due.hasDay(0)).toBe(false);
    await query(`update summed set version = $2, due_before = '2026-03-02', due_version = $3 where company_id = $1`, SUMMARIES_VERSION + 1, SUMMARIES_VERSION);
    const newer = (await due(INVOICES, SUMMARIES_VERSION + 1)).due;
    expect([newer.hasDay(day('2026-03-01')), newer.hasDay(day('2026-03-02'))]).toEqual([true, false]);
    expect((await due(INVOICES, SUMMARIES_VERSION)).due.hasDay(day('2026-03-01'))).toBe(false);
  });

  test('of older sums replaces them day by day, and reports read them until then', async () => {
    await pay(FIRST, 5);
    await build(database);
    await query('update summed set version = $2 where company_id = $1', SUMMARIES_VERSION - 1);
    await sumRound(database, { quietMs: 0 });
    const { rows } = await query(`select version, due_version, due_before::text from summed where company_id = $1 and report = 'collection'`);
    expect(rows).toEqual([{ version: SUMMARIES_VERSION, due_version: SUMMARIES_VERSION - 1, due_before: '2025-03-01' }]);
    await build(database);
    await isRight();
  });

  test('of another release is left alone until it is gone', async () => {
    await build(database);
    await query('update summed set version = $2 where company_id = $1', SUMMARIES_VERSION + 1);
    await pay(FIRST);
    await build(database);
    expect(await notes()).toEqual(['collection 2026-03-01']);
    await query(`update due_notes set noted_at = noted_at - interval '2 min' where company_id = $1`);
    await build(database);
    expect(await notes()).toEqual([]);
    const { rows } = await query(`select version from summed where company_id = $1 and report = 'collection'`);
    expect(rows).toEqual([{ version: SUMMARIES_VERSION }]);
  });

  test('is refused while rows of the read model lack the dimension', async () => {
    const rows = { account: { version: 2, rows: { payments: 1, invoices: 2 } } };
    const asked = (more: Partial<ReportQuestion>) => passGate(database, question(more, rows), { start: 0, end: 1 });
    await asked({ groupBy: 'account' });
    await query(`insert into invoices (company_id, id, number, status, created_at, account_id, subtotal_cents, discount_cents, tax_cents, projection)
      values ($1, gen_random_uuid(), 'INV-1', 'OPEN', now(), gen_random_uuid(), 0, 0, 0, 1)`);
    const refusal = { status: 503, retryAfterSeconds: 2, message: expect.stringContaining('account is new in this report') };
    await expect(asked({ groupBy: 'account' })).rejects.toMatchObject(refusal);
    await asked({ groupBy: 'job_class' });
  });
});

test('a report is refused while more facts of its range are due than it adds up, and not because of others', async () => {
  for (const at of [FIRST, '2026-03-02T15:00:00Z', '2026-05-01T15:00:00Z']) await pay(at);
  const asked = (most: number, start: string, end: string, before = Infinity) =>
    passGate(database, { ...questionOf(), due: new DuePeriods(before) }, { start: day(start), end: day(end) }, most);
  const questionOf = (): ReportQuestion => ({
    summary: COLLECTIONS,
    companyId: company,
    timeZone: 'America/Chicago',
    due: new DuePeriods(Infinity),
    groupBy: null,
    filters: new Map(),
    standings: [''],
  });
  await expect(asked(1, '2026-03-01', '2026-03-03')).rejects.toMatchObject({
    status: 503,
    retryAfterSeconds: 2,
    message: expect.stringContaining('More than 1 facts'),
  });
  await asked(2, '2026-03-01', '2026-03-03');
  await asked(1, '2026-03-02', '2026-04-01');
  await asked(0, '2026-03-01', '2026-06-01', -Infinity);
  await asked(1, '2026-03-01', '2026-06-01', day('2026-03-02'));
  expect(MOST_DUE).toBe(100_000);
});

test.each([
  ['UTC', 1],
  ['America/Chicago', 2],
  ['Pacific/Kiritimati', 2],
  ['Asia/Kathmandu', 2],
])('a UTC date is within %s on %i local dates', (zone, count) => {
  const days = localDaysOf(day('2026-07-01'), zone);
  expect(days).toHaveLength(count);
  expect(days).toContain(day('2026-07-01'));
});
