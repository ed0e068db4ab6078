// The data behind reports: it follows the owners' records, says how fresh it is, and can be rebuilt.
import { ReportingAdminServiceService } from '@truckroll/contract/gen/reporting/v1/admin';
import { until } from '@truckroll/testing/until';
import { verifyReports, type WrongReport } from '../tools/cli/src/verify/reports.ts';
import type { Everything, Json } from './support/expected.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';

const RANGE = 'start_date=2020-01-01&end_date=2030-01-01';
let system: System;
let company: TestCompany;
let lines: Everything;

beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany('America/Chicago');
  lines = await system.importDemo(company, 7, 60);
}, 120_000);
afterAll(() => system.stop());

async function report(query: string): Promise<Json> {
  const asked = Date.now();
  const ask = () => system.get(company, `/v1/reports/${query}`);
  const isFresh = ({ status, body }: { status: number; body: Json }): boolean => status === 200 && Date.parse(body['report'].as_of) >= asked;
  return (await until(`a report as of ${new Date(asked).toISOString()}`, ask, isFresh)).body;
}

const sum = (records: readonly Json[], of: (record: Json) => number): number => records.reduce((total, record) => total + of(record), 0);

async function sums(): Promise<Record<string, unknown[]>> {
  const tables = ['invoice', 'collection', 'job', 'participation'].flatMap((name) => [`${name}_sums`, `${name}_crosses`]);
  const entries = tables.map(async (table) => {
    const text = `select * from reporting.${table} where company_id = $1`;
    const { rows } = await system.database.query<Json>({ text, values: [company.id] });
    return [table, rows.map((row) => JSON.stringify(row)).sort()] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

test('adds up the owners’ records', async () => {
  const {
    data: [invoiced],
  } = await report(`invoice-activity?${RANGE}&bucket=year&limit=100`).then(({ data }) => ({ data: [total(data, 'invoice_count', 'total_cents')] }));
  const issued = lines['invoices']!.filter(({ status, issued_at }) => issued_at !== null && ['OPEN', 'PAID'].includes(status));
  expect(invoiced).toEqual({ invoice_count: issued.length, total_cents: sum(issued, ({ amounts }) => amounts.total_cents) });
  const { data } = await report(`collections?${RANGE}&bucket=year`);
  const paid = lines['payments']!.filter(({ status }) => status === 'PAID');
  const refunded = lines['refunds']!.filter(({ status }) => status === 'SUCCEEDED');
  expect(total(data, 'payment_count', 'received_cents', 'refund_count', 'refunded_cents')).toEqual({
    payment_count: paid.length,
    received_cents: sum(paid, ({ amount_cents }) => amount_cents),
    refund_count: refunded.length,
    refunded_cents: sum(refunded, ({ amount_cents }) => amount_cents),
  });
  const tracked = lines['job-financials']!.filter(({ costing }) => costing.tracking_status === 'TRACKED');
  const { data: jobs } = await report(`job-profitability?${RANGE}&bucket=year&include_excluded_job_types=true`);
  expect(total(jobs, 'job_count', 'total_cost_cents')).toEqual({
    job_count: tracked.length,
    total_cost_cents: sum(tracked, ({ cost_entries }) => sum(cost_entries, ({ total_cents }) => total_cents)),
  });
});

function total(rows: readonly Json[], ...fields: string[]): Json {
  return Object.fromEntries(fields.map((field) => [field, sum(rows, (row) => row[field])]));
}

const rebuild = async (): Promise<void> => {
  for await (const { done } of system.channel('reporting').client(ReportingAdminServiceService).rebuild({})) expect(typeof done).toBe('boolean');
};

test('rebuilds the same sums, byte for byte', async () => {
  await rebuild();
  const before = await sums();
  expect(before['invoice_sums']!.length).toBeGreaterThan(100);
  await system.database.query({
    text: 'update reporting.invoice_sums set subtotal_cents = subtotal_cents + 1 where company_id = $1',
    values: [company.id],
  });
  await rebuild();
  expect(await sums()).toEqual(before);
});

test('names sums that are stored incorrectly, by report, period and group, until they are rebuilt', async () => {
  const verify = (): Promise<Pick<WrongReport, 'report' | 'period' | 'group' | 'difference'>[]> =>
    verifyReports(system.channel('reporting'), company.id).then(({ wrong }) => wrong.map(({ company: _, ...place }) => place));
  expect(await verify()).toEqual([]);
  const { sums: compared } = await verifyReports(system.channel('reporting'), company.id);
  expect(compared).toBe(Object.values(await sums()).flat().length);

  const { database } = system;
  const spoil = async (text: string): Promise<Json> => (await database.query<Json>({ text, values: [company.id] })).rows[0]!;
  const invoiced = await spoil(`update reporting.invoice_sums set tax_cents = tax_cents + 1 where ctid = (
    select ctid from reporting.invoice_sums where company_id = $1 and part = 'account/month' and standing = 'PAID' limit 1)
    returning period::text, value, tax_cents::text`);
  const collected = await spoil(`delete from reporting.collection_sums where ctid = (
    select ctid from reporting.collection_sums where company_id = $1 and part = 'day' limit 1) returning period::text, payment_count::text, received_cents::text`);
  const job = await spoil(`update reporting.job_facts set labor_cost_cents = labor_cost_cents + 7, members = '{}' where ctid = (
    select ctid from reporting.job_facts where company_id = $1 and cardinality(members) > 0 limit 1) returning id`);
  const found = await verify();
  expect(found).toContainEqual({
    report: 'invoice-activity',
    period: invoiced['period'].slice(0, 7),
    group: `account ${invoiced['value']}, PAID`,
    difference: `tax_cents is ${invoiced['tax_cents']}, should be ${BigInt(invoiced['tax_cents']) - 1n}`,
  });
  const missing = found.find(({ report }) => report === 'collections');
  expect(missing).toMatchObject({ period: collected['period'], group: 'all' });
  expect(missing!.difference).toContain(`received_cents is not there, should be ${collected['received_cents']}`);
  expect(found).toContainEqual(expect.objectContaining({ report: 'job-profitability', period: '', group: `job ${job['id']}` }));

  await rebuild();
  expect(await verify()).toEqual([]);
});
