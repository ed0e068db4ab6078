// Events, imports and sums of one company at the same moment: figures and sums miss nothing that any of them has stored.
import { randomUUID } from 'node:crypto';
import { watermarkSources } from '@truckroll/contract';
import { GetCollectionsReportResponse } from '@truckroll/contract/gen/reporting/v1/collections_report';
import { JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { Bucket } from '@truckroll/contract/gen/reporting/v1/report_types';
import { createSession, type Database, type DatabaseSession, type Transaction } from '@truckroll/postgres';
import { NameCache, lockCompany, lockPart, upsertRecords } from '@truckroll/record-store';
import { silentLog } from '@truckroll/telemetry';
import { mustWait, openFreshDatabase, whileOpen } from '@truckroll/testing';
import { applyTo } from '../src/read-models/read-model.ts';
import { invoices } from '../src/read-models/invoices.ts';
import { payments } from '../src/read-models/payments.ts';
import { removeOlderThan } from '../src/read-models/rebuild.ts';
import { reportHandlers } from '../src/reports/handlers.ts';
import { jobFinancials } from '../src/resources/job-financials.ts';
import { transactionSettings, schema } from '../src/schema.ts';
import { rebuildSums } from '../src/sums/rebuild.ts';
import { verifyReports } from '../src/sums/verify.ts';
import { apply, build, eventOf, financials, importFinancials, invoice, job, messageOf, newCompany, payment, type Line } from './records.ts';

let database: Database;
let close: () => Promise<void>;
let company: string;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema, { settings: transactionSettings, maxConnections: 10 }));
});
afterAll(() => close());
beforeEach(async () => {
  company = await newCompany(database);
});
afterEach(() => database.query({ text: 'with gone as (delete from summed) delete from companies' }));

async function store(tx: Transaction, line: Line): Promise<void> {
  await lockCompany(tx, company);
  await upsertRecords(tx, jobFinancials, company, [messageOf('job-financials', line) as JobFinancials]);
}

async function totals(id: string): Promise<unknown> {
  const { rows } = await database.query<{ derived: Buffer }>({
    text: 'select derived from job_financials where company_id = $1 and id = $2',
    values: [company, id],
  });
  return JobFinancials.decode(rows[0]!.derived).totals;
}

async function received(): Promise<number | undefined> {
  await build(database);
  for await (const step of verifyReports(database, company, new AbortController().signal)) expect(step).toMatchObject({ built: true, differences: [] });
  const { rows } = await database.query<{ cents: number }>({
    text: `select sum(received_cents)::int as cents from collection_sums where company_id = $1 and part = 'month'`,
    values: [company],
  });
  return rows[0]?.cents;
}

const PAID = `insert into payments (company_id, id, status, method, account_id, amount_cents, occurred_at, projection)
  values ($1, gen_random_uuid(), 'PAID', 'CARD', gen_random_uuid(), $2, '2026-03-01T15:00:00Z', 1)`;

async function openWriter(): Promise<DatabaseSession> {
  const session = await createSession({ url: database.options.url, statementTimeoutMs: 10_000 });
  await session.query({ text: `set search_path = ${schema.schema}` });
  return session;
}

/** The dates with notes. */
async function dates(): Promise<string[]> {
  const { rows } = await database.query<{ day: string }>({ text: 'select distinct day::text as day from due_notes where company_id = $1', values: [company] });
  return rows.map(({ day }) => day);
}

describe('a financial', () => {
  const EXPECTED = { revenue_cents: 700, total_cost_cents: 300 };

  test('has the invoice whose event is being applied while its line is imported', async () => {
    const { id } = job();
    await whileOpen(
      database,
      (tx) => apply(tx, company, invoices, 'invoices', invoice(id, 700)),
      () => importFinancials(database, company, financials(id, 300)),
    );
    expect(await totals(id)).toMatchObject(EXPECTED);
  });

  test('has the invoice whose event is applied while its line is being imported', async () => {
    const { id } = job();
    await whileOpen(
      database,
      (tx) => store(tx, financials(id, 300)),
      () => database.transaction((tx) => apply(tx, company, invoices, 'invoices', invoice(id, 700))),
    );
    expect(await totals(id)).toMatchObject(EXPECTED);
  });
});

describe('sums', () => {
  test('contain payments whose events two replicas apply at the same moment', async () => {
    await build(database);
    await whileOpen(
      database,
      (tx) => apply(tx, company, payments, 'payments', payment({ amount_cents: 1 })),
      () => database.transaction((tx) => apply(tx, company, payments, 'payments', payment({ amount_cents: 2 }))),
    );
    expect(await received()).toBe(3);
  });

  test.each(['another date', 'the same date'])(
    'contain a payment whose event is applied while days are summed for %s, although its note was not seen',
    async (which) => {
      const other = payment({ amount_cents: 4, ...(which === 'another date' ? { occurred_at: '2026-02-01T15:00:00Z' } : {}) });
      await database.transaction((tx) => apply(tx, company, payments, 'payments', other));
      const session = await openWriter();
      await session.query({ text: 'begin' });
      await session.query({ text: PAID, values: [company, 8] });
      // Deletes the notes that it sees; the writer's is not among them.
      await build(database);
      await session.query({ text: 'commit' });
      await session.close();
      expect(await dates()).toEqual(['2026-03-01']);
      expect(await received()).toBe(12);
      expect(await dates()).toEqual([]);
    },
  );

  test('contain a payment that is committed after its day was summed, and before the notes of that day are deleted', async () => {
    await build(database);
    await database.transaction((tx) => apply(tx, company, payments, 'payments', payment({ amount_cents: 4 })));
    await whileOpen(
      database,
      async (tx) => {
        await tx.query({ text: 'lock table due_months in exclusive mode' });
        await tx.query({ text: PAID, values: [company, 8] });
      },
      () => build(database),
    );
    expect(await received()).toBe(12);
  });

  test('are rebuilt while events are applied', async () => {
    await database.transaction((tx) => apply(tx, company, payments, 'payments', payment({ amount_cents: 1 })));
    await build(database);
    const summing: Promise<void>[] = [];
    const rebuilt = rebuildSums({ database, begun: () => void summing.push(build(database)), signal: new AbortController().signal }, () => undefined);
    await database.transaction((tx) => apply(tx, company, payments, 'payments', payment({ amount_cents: 2 })));
    await rebuilt;
    await Promise.all(summing);
    expect(await received()).toBe(3);
  });

  test('are the same if two replicas sum them at the same moment', async () => {
    await database.transaction((tx) => apply(tx, company, payments, 'payments', payment({ amount_cents: 1 }), payment({ amount_cents: 2 })));
    await Promise.all([build(database), build(database), build(database)]);
    expect(await received()).toBe(3);
  });
});

describe('a rebuild', () => {
  test('keeps a record whose event is being applied while records that the topic no longer has are removed', async () => {
    const [kept, gone] = [payment(), payment()];
    let removed = 0;
    await database.transaction((tx) => apply(tx, company, payments, 'payments', kept, gone));
    let start = { started: '', stored: 0 };
    // The transaction has begun before the rebuild, as one that waited for the company's lock.
    await whileOpen(
      database,
      async (tx) => {
        await tx.query({ text: 'select now()' });
        const { rows } = await database.query<typeof start>({ text: 'select clock_timestamp()::text as started, count(*) as stored from payments' });
        start = rows[0]!;
        await apply(tx, company, payments, 'payments', kept);
      },
      async () => void (removed = await removeOlderThan(database, payments, start.started, new AbortController().signal)),
    );
    const { rows: left } = await database.query({ text: 'select id from payments where company_id = $1', values: [company] });
    expect(left).toEqual([{ id: kept['id'] }]);
    expect(removed).toBe(start.stored - 1);
  });
});

describe('events of several companies', () => {
  test('lock the companies in the order of their ids', async () => {
    const [low, high] = [company, randomUUID()].sort() as [string, string];
    await whileOpen(
      database,
      (tx) => lockPart(tx, low, 'movements'),
      () =>
        database.transaction((tx) =>
          applyTo(
            payments,
            tx,
            [high, low].map((of) => eventOf(of, 'payments', payment())),
          ),
        ),
      async (tx) => expect(await mustWait(database, lockPart(tx, high, 'movements'), 2)).toBe(false),
    );
  });
});

describe('a report', () => {
  test('has figures and as_of of one moment', async () => {
    await build(database);
    const at = async (tx: Pick<Database, 'query'>, second: number): Promise<unknown> =>
      tx.query({
        text: `insert into applied_until select source, to_timestamp($2) from unnest($1::text[]) source on conflict (source) do update set at = excluded.at`,
        values: [watermarkSources, second],
      });
    const known = payment({ amount_cents: 5 });
    await database.transaction((tx) => apply(tx, company, payments, 'payments', known));
    await build(database);
    await at(database, 100);
    const handlers = reportHandlers(database, new NameCache(database, schema.schema, silentLog));
    const collection = { company_id: company, time_zone: 'America/Chicago', limit: 100, after: Buffer.alloc(0), ids: [] };
    const asked = { collection, start_date: '2026-03-01', end_date: '2026-03-02', bucket: Bucket.MONTH, method: [], account_id: [], collected_by_id: [] };
    let report: Promise<unknown> = Promise.resolve();
    await whileOpen(
      database,
      (tx) => tx.query({ text: 'lock table collection_sums in access exclusive mode' }),
      () => (report = Promise.resolve(handlers.getCollectionsReport(asked, undefined as never))),
      async (tx) => {
        await apply(tx, company, payments, 'payments', { ...known, amount_cents: 6 });
        await at(tx, 200);
      },
    );
    const { data, report: said } = GetCollectionsReportResponse.decode((await report) as Buffer);
    expect({ cents: data.map(({ received_cents }) => received_cents), asOf: said?.as_of }).toEqual({ cents: [5], asOf: 100_000_000 });
  });
});
