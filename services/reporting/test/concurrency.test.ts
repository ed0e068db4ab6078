// Events, imports and builds of one company at the same moment: figures and sums miss nothing that any of them has stored.
import { randomUUID } from 'node:crypto';
import { watermarkSources } from '@truckroll/contract';
import { GetCollectionsReportResponse } from '@truckroll/contract/gen/reporting/v1/collections_report';
import { JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { Bucket } from '@truckroll/contract/gen/reporting/v1/report_types';
import type { Database, Transaction } from '@truckroll/postgres';
import { NameCache, lockCompany, lockPart, upsertRecords } from '@truckroll/record-store';
import { silentLog } from '@truckroll/telemetry';
import { mustWait, openFreshDatabase, whileOpen } from '@truckroll/testing';
import { applyTo } from '../src/read-models/read-model.ts';
import { invoices } from '../src/read-models/invoices.ts';
import { jobs } from '../src/read-models/jobs.ts';
import { payments } from '../src/read-models/payments.ts';
import { removeOlderThan } from '../src/read-models/rebuild.ts';
import { fillIn } from '../src/jobs/every-job.ts';
import { reportHandlers } from '../src/reports/handlers.ts';
import { jobFinancials } from '../src/resources/job-financials.ts';
import { keepingSettings, schema } from '../src/schema.ts';
import { beginGeneration } from '../src/summaries/generations.ts';
import { rebuildSummaries } from '../src/summaries/rebuild.ts';
import { verifyReports } from '../src/summaries/verify.ts';
import { apply, build, eventOf, financials, importFinancials, invoice, job, messageOf, newCompany, payment, type Line } from './records.ts';

let database: Database;
let close: () => Promise<void>;
let company: string;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema, { settings: keepingSettings, maxConnections: 10 }));
});
afterAll(() => close());
beforeEach(async () => {
  company = await newCompany(database);
});
afterEach(() => database.query({ text: 'delete from companies' }));

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
  for await (const step of verifyReports(database, company, new AbortController().signal)) expect(step).toMatchObject({ built: true, differences: [] });
  const { rows } = await database.query<{ cents: number }>({
    text: `select sum(received_cents)::int as cents from collection_summaries where company_id = $1 and part = 'month'`,
    values: [company],
  });
  return rows[0]?.cents;
}

describe('a financial', () => {
  const EXPECTED = { revenue_cents: 700, total_cost_cents: 300 };

  it('has the invoice whose event is being applied while its line is imported', async () => {
    const { id } = job();
    await whileOpen(
      database,
      (tx) => apply(tx, company, invoices, 'invoices', invoice(id, 700)),
      () => importFinancials(database, company, financials(id, 300)),
    );
    expect(await totals(id)).toMatchObject(EXPECTED);
  });

  it('has the invoice whose event is applied while its line is being imported', async () => {
    const { id } = job();
    await whileOpen(
      database,
      (tx) => store(tx, financials(id, 300)),
      () => database.transaction((tx) => apply(tx, company, invoices, 'invoices', invoice(id, 700))),
    );
    expect(await totals(id)).toMatchObject(EXPECTED);
  });

  it('keeps the costs of a line that is being imported while financials of all jobs are made', async () => {
    const known = job();
    await database.transaction((tx) => apply(tx, company, jobs, 'jobs', known));
    await database.query({ text: 'delete from job_financials where company_id = $1', values: [company] });
    await whileOpen(
      database,
      (tx) => store(tx, financials(known['id'], 300)),
      () => fillIn(database),
    );
    expect(await totals(known['id'])).toMatchObject({ total_cost_cents: 300 });
  });
});

describe('sums', () => {
  it('contain payments whose events two replicas apply at the same moment', async () => {
    await build(database, company);
    await whileOpen(
      database,
      (tx) => apply(tx, company, payments, 'payments', payment({ amount_cents: 1 })),
      () => database.transaction((tx) => apply(tx, company, payments, 'payments', payment({ amount_cents: 2 }))),
    );
    expect(await received()).toBe(3);
  });

  it('contain a payment whose event is being applied while they are built', async () => {
    await database.transaction((tx) => beginGeneration(tx, company));
    await whileOpen(
      database,
      (tx) => apply(tx, company, payments, 'payments', payment({ amount_cents: 4 })),
      () => build(database, company),
    );
    expect(await received()).toBe(4);
  });

  it('are rebuilt although the company’s time zone is being changed', async () => {
    await build(database, company);
    const rebuilt: Promise<void>[] = [];
    await whileOpen(
      database,
      async (tx) => {
        await lockCompany(tx, company);
        await beginGeneration(tx, company);
      },
      () => rebuildSummaries({ database, begun: () => void rebuilt.push(build(database, company)), signal: new AbortController().signal }, () => undefined),
    );
    await Promise.all(rebuilt);
    const { rows } = await database.query({ text: 'select generation, state from generations where company_id = $1', values: [company] });
    expect(rows).toEqual([{ generation: 3, state: 'current' }]);
  });
});

describe('a rebuild', () => {
  it('keeps a record whose event is being applied while records that the topic no longer has are removed', async () => {
    const [kept, gone] = [payment(), payment()];
    let removed = 0;
    await database.transaction((tx) => apply(tx, company, payments, 'payments', kept, gone));
    const { rows } = await database.query<{ started: string; stored: number }>({
      text: 'select clock_timestamp()::text as started, count(*) as stored from payments',
    });
    await whileOpen(
      database,
      (tx) => apply(tx, company, payments, 'payments', kept),
      async () => void (removed = await removeOlderThan(database, payments, rows[0]!.started, new AbortController().signal)),
    );
    const { rows: left } = await database.query({ text: 'select id from payments where company_id = $1', values: [company] });
    expect(left).toEqual([{ id: kept['id'] }]);
    expect(removed).toBe(rows[0]!.stored - 1);
  });
});

describe('events of several companies', () => {
  it('lock the companies in the order of their ids', async () => {
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
  it('has figures and as_of of one moment', async () => {
    await build(database, company);
    const at = async (tx: Pick<Database, 'query'>, second: number): Promise<unknown> =>
      tx.query({
        text: `insert into applied_until select source, to_timestamp($2) from unnest($1::text[]) source on conflict (source) do update set at = excluded.at`,
        values: [watermarkSources, second],
      });
    const known = payment({ amount_cents: 5 });
    await database.transaction((tx) => apply(tx, company, payments, 'payments', known));
    await at(database, 100);
    const handlers = reportHandlers(database, new NameCache(database, schema.schema, silentLog));
    const collection = { company_id: company, time_zone: 'America/Chicago', limit: 100, after: Buffer.alloc(0), ids: [] };
    const asked = { collection, start_date: '2026-03-01', end_date: '2026-03-02', bucket: Bucket.MONTH, method: [], account_id: [], collected_by_id: [] };
    let report: Promise<unknown> = Promise.resolve();
    await whileOpen(
      database,
      (tx) => tx.query({ text: 'lock table collection_summaries in access exclusive mode' }),
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
