import { randomUUID } from 'node:crypto';
import { codec, resource } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { NameCache, RecordReader, type Table } from '@truckroll/record-store';
import { silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { checkStored } from '../../../packages/record-store/src/check-stored.ts';
import { applyTo, type ReadModel } from '../src/read-models/read-model.ts';
import { invoices } from '../src/read-models/invoices.ts';
import { jobs } from '../src/read-models/jobs.ts';
import { jobFinancials } from '../src/resources/job-financials.ts';
import { tables } from '../src/resources/index.ts';
import { transactionSettings, schema } from '../src/schema.ts';
import { verifyReports } from '../src/sums/verify.ts';
import { AT, apply, build, financials, importLines, invoice, job, newCompany, removal, type Line } from './records.ts';

const MOST = Number.MAX_SAFE_INTEGER;

let database: Database;
let close: () => Promise<void>;
let reader: RecordReader;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema, { settings: transactionSettings }));
  reader = new RecordReader(jobFinancials as Table<any> as Table, { database, names: new NameCache(database, schema.schema, silentLog) });
});
afterAll(() => close());

const applyLines = (company: string, model: ReadModel, path: string, ...lines: Line[]): Promise<void> =>
  database.transaction((tx) => apply(tx, company, model, path, ...lines));

const detail = async (company: string, id: string): Promise<Line> => {
  const bytes = await reader.detail({ company_id: company, time_zone: 'America/Chicago', id });
  return (codec(resource('job-financials').detail.response.typeName).decode(bytes) as Line)['data'] as Line;
};
const list = async (company: string, ...ids: string[]): Promise<Line[]> => (await listed(company, ids)).data;
async function listed(company: string, ids: string[]): Promise<{ data: Line[]; inTurn: boolean }> {
  const closing: (() => void)[] = [];
  const bytes = await reader.list(
    { collection: { company_id: company, time_zone: 'America/Chicago', limit: 100, after: new Uint8Array(), ids } },
    { onClosed: (then) => void closing.push(then) },
  );
  for (const close of closing) close();
  const { data } = codec(resource('job-financials').list.response.typeName).decode(bytes) as { data: Line[] };
  return { data, inTurn: closing.length > 0 };
}

const NOT_RECORDED = { tracking_status: 'COST_TRACKING_STATUS_UNTRACKED', verification_status: 'COST_VERIFICATION_STATUS_UNVERIFIED', job_type_included: true };

test('creates the financials of a job together with the job, and updates them from an imported line', async () => {
  const [company, known] = [randomUUID(), job()];
  await applyLines(company, jobs, 'jobs', known);
  expect(await detail(company, known['id'])).toMatchObject({
    id: known['id'],
    number: 'J-1',
    account: known['account'],
    location_id: known['location_id'],
    created_at: Date.parse(AT) * 1000,
    currency: 'USD',
    report_date: '2026-03-01',
    costing: { enabled: true, ...NOT_RECORDED },
    totals: { revenue_cents: 0, total_cost_cents: 0 },
    cost_entries: [],
    invoices: [],
  });
  await applyLines(company, invoices, 'invoices', invoice(known['id'], 700));
  expect(await detail(company, known['id'])).toMatchObject({ totals: { revenue_cents: 700 }, costing: NOT_RECORDED });
  expect(await importLines(database, company, financials(known['id'], 300))).toMatchObject({ created: 0, changed: 1, problems: [] });
  await applyLines(company, jobs, 'jobs', { ...known, number: 'J-2' });
  expect(await detail(company, known['id'])).toMatchObject({
    number: 'J-2',
    totals: { gross_profit_cents: 400 },
    costing: { tracking_status: 'COST_TRACKING_STATUS_TRACKED' },
  });
});

test('lists the invoices of a job by time of issue, then of creation, then by id', async () => {
  const [company, known] = [randomUUID(), job()];
  const ids = Array.from({ length: 5 }, () => randomUUID()).sort();
  const later = '2026-03-01T15:00:00.000001Z';
  const fields = [{ issued_at: null }, { issued_at: later }, { created_at: later }, {}, {}];
  await applyLines(company, jobs, 'jobs', known);
  await applyLines(company, invoices, 'invoices', ...fields.map((own, i) => ({ ...invoice(known['id'], 1), id: ids[i], ...own })));
  const { invoices: shown } = await detail(company, known['id']);
  expect(shown.map(({ id }: Line) => ids.indexOf(id))).toEqual([3, 4, 2, 1, 0]);
});

test('takes an invoice off its job when it moves to another one, or to none', async () => {
  const [company, first, second] = [randomUUID(), job(), job()];
  await applyLines(company, jobs, 'jobs', first, second);
  const moved = invoice(first['id'], 700);
  const revenues = async () => Promise.all([first, second].map(async ({ id }) => (await detail(company, id))['totals'].revenue_cents));
  await applyLines(company, invoices, 'invoices', moved);
  expect(await revenues()).toEqual([700, 0]);
  await applyLines(company, invoices, 'invoices', { ...moved, job_id: second['id'] });
  expect(await revenues()).toEqual([0, 700]);
  await applyLines(company, invoices, 'invoices', { ...moved, job_id: null });
  expect(await revenues()).toEqual([0, 0]);
});

test('removes the financials of a removed job unless a line was imported', async () => {
  const company = randomUUID();
  const [plain, recorded] = [job(), job()];
  await applyLines(company, jobs, 'jobs', plain, recorded);
  await importLines(database, company, financials(recorded['id']));
  const gone = [plain, recorded].map(({ id }) => removal(company, id));
  await database.transaction((tx) => applyTo(jobs, tx, gone));
  expect((await list(company)).map(({ id, number }) => [id, number])).toEqual([[recorded['id'], 'J-9']]);
});

test('applies other services’ records whose sum exceeds the range of cents; reading it is a 500 that names it, others are served', async () => {
  const company = randomUUID();
  const [far, other] = [job(), job()];
  await applyLines(company, jobs, 'jobs', far, other);
  const [first, second] = [invoice(far['id'], MOST), invoice(far['id'], 1)];
  await applyLines(company, invoices, 'invoices', first, second, invoice(other['id'], 5));
  const refused = {
    status: 500,
    code: 'INTERNAL_ERROR',
    message: expect.stringContaining(`totals.revenue_cents of job-financials/${far['id']} is beyond ±9007199254740991`),
  };
  await expect(detail(company, far['id'])).rejects.toMatchObject(refused);
  await expect(list(company)).rejects.toMatchObject(refused);
  expect(await list(company, other['id'])).toMatchObject([{ totals: { revenue_cents: 5 } }]);
  const broken: unknown[] = [];
  for await (const page of checkStored(database, tables, company)) broken.push(...page.broken);
  expect(broken).toMatchObject([{ id: far['id'], field: 'totals.revenue_cents', code: 'OUT_OF_RANGE' }]);
  await applyLines(company, invoices, 'invoices', { ...second, status: 'VOIDED' });
  expect(await detail(company, far['id'])).toMatchObject({ totals: { revenue_cents: MOST, gross_profit_cents: MOST } });
});

test('shows the first 4 MiB of a job’s invoices, says how many others there are, and counts them all', async () => {
  const [company, known, other] = [randomUUID(), job(), job()];
  await applyLines(company, jobs, 'jobs', known, other);
  const own: Line[] = Array.from({ length: 6 }, (_, i) => ({
    ...invoice(known['id'], 10 ** i),
    number: 'n'.repeat(1_000_000),
    issued_at: `2026-03-0${i + 1}T15:00:00Z`,
  }));
  await applyLines(company, invoices, 'invoices', ...own.slice(0, 4));
  expect(await detail(company, known['id'])).toMatchObject({ invoices: { length: 4 }, omitted_invoices: null, totals: { revenue_cents: 1111 } });
  await applyLines(company, invoices, 'invoices', ...own.slice(4));
  const { data, inTurn } = await listed(company, [known['id']]);
  expect(data).toMatchObject([{ invoices: own.slice(0, 4).map(({ id }) => ({ id })), omitted_invoices: 2, totals: { revenue_cents: 111_111 } }]);
  // Such a page takes its turn, like those of large documents.
  expect([inTurn, (await listed(company, [other['id']])).inTurn]).toEqual([true, false]);
  await applyLines(company, invoices, 'invoices', { ...invoice(known['id'], MOST), issued_at: '2026-04-01T15:00:00Z' });
  await expect(detail(company, known['id'])).rejects.toMatchObject({ status: 500, message: expect.stringContaining('totals.revenue_cents') });
});

test('rejects a line whose costs exceed the range together with existing invoices, naming the field, and stores the others', async () => {
  const company = randomUUID();
  const [far, other] = [job(), job()];
  await applyLines(company, jobs, 'jobs', far, other);
  await applyLines(company, invoices, 'invoices', invoice(far['id'], -MOST));
  const answer = await importLines(database, company, financials(far['id'], 1), financials(other['id'], 1));
  expect(answer).toMatchObject({ changed: 1, problems: [{ line: 1, field: 'totals.gross_profit_cents', code: 'OUT_OF_RANGE' }] });
  expect(await detail(company, far['id'])).toMatchObject({ cost_entries: [], totals: { revenue_cents: -MOST } });
});

test('derives the same from many invoices of many jobs, at once or one after the other', async () => {
  const company = await newCompany(database);

  const known = Array.from({ length: 300 }, () => job());
  await applyLines(company, jobs, 'jobs', ...known);
  expect((await importLines(database, company, ...known.map(({ id }) => financials(id, 1)))).problems).toEqual([]);
  const lines = [...known, ...known].map(({ id }, i) => invoice(id, i));
  await applyLines(company, invoices, 'invoices', ...lines);
  // One invoice moves to another job, among others that are redelivered.
  lines[0]!['job_id'] = known[299]!['id'];
  await applyLines(company, invoices, 'invoices', ...lines);
  const read = await list(company, ...[0, 5, 299].map((i) => known[i]!['id']));
  const revenues = new Map(read.map(({ id, totals, invoices: of }) => [id, [of.length, totals.revenue_cents]]));
  expect([0, 5, 299].map((i) => revenues.get(known[i]!['id']))).toEqual([
    [1, 300],
    [2, 310],
    [3, 898],
  ]);
  await build(database);
  const { rows } = await database.query({
    text: `select sum(revenue_cents)::int as revenue, count(*) as jobs, (select sum(job_count) from job_sums where company_id = $1 and part = 'month')::int as counted
      from job_facts where company_id = $1`,
    values: [company],
  });
  expect(rows).toEqual([{ revenue: (599 * 600) / 2, jobs: 300, counted: 300 }]);
  for await (const step of verifyReports(database, company, new AbortController().signal)) expect(step).toMatchObject({ built: true, differences: [] });
});
