// Every figure of a report leads to the records that it is made of: lists with the report's filters add up to it (decisions §16).
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { carryOutTasks } from './mcp/carry-out.ts';
import { DAY } from './mcp/tasks.ts';
import { fresh } from './reports/ask.ts';
import { readAll } from './reports/oracle/records.ts';
import type { Json } from './support/expected.ts';
import { demoLines } from './support/demo.ts';
import { holdingProjections } from './support/held-projections.ts';
import { untilFollowed } from './support/read-models.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';

const TIMEZONE = 'America/Chicago';
const [FROM, BEFORE] = ['2026-01-01', '2026-10-01'];
/** Parameter of a list by dimension of a report; for a group without a value, `missing` takes the dimension's field. */
const PARAMETERS: Record<string, string> = {
  account: 'account_id',
  business_unit: 'business_unit_id',
  job_type: 'job_type_id',
  job_class: 'job_class',
  collector: 'collected_by_id',
  team_member: 'team_member_id',
};
const FIELDS: Record<string, string> = { collector: 'collected_by' };

let system: System;
let company: TestCompany;
beforeAll(async () => {
  system = await startSystem({ gatewaySettings: { MCP_WRITES: 'true' } });
  company = await system.createCompany(TIMEZONE);
  const all = demoLines({ seed: 11, size: 80, timezone: TIMEZONE, until: `${DAY}T18:00:00Z` });
  const refunded = new Map(all).get('refunds')!.map(({ payment_id }) => payment_id as string);
  for (const [path, lines] of all) {
    if (path === 'invoices') lines.forEach((line, n) => Object.assign(line, n % 7 === 0 ? { business_unit: null } : n % 7 === 1 ? { job_class: null } : {}));
    if (path === 'payments')
      lines.forEach((line, n) => Object.assign(line, n % 3 === 0 || refunded.indexOf(line['id']) % 2 === 0 ? { collected_by: null } : {}));
    expect([path, (await system.importRecords(company, path, lines)).problems]).toEqual([path, []]);
  }
  await untilFollowed(system, company);
  await fresh(system, company);
}, 180_000);
afterAll(() => system.stop());

const report = (name: string, groupBy: string): Promise<Json[]> =>
  readAll(system, company, `/v1/reports/${name}?start_date=${FROM}&end_date=${BEFORE}&bucket=year&limit=100&group_by=${groupBy}`);

function of({ group: { dimension, value } }: Json, names: Record<string, string> = {}): string {
  return value === null ? `&missing=${FIELDS[dimension] ?? dimension}` : `&${names[dimension] ?? PARAMETERS[dimension]}=${value}`;
}

const list = (path: string, filters: string): Promise<Json[]> => readAll(system, company, `/v1/${path}?limit=100${filters}`);
const sum = (records: readonly Json[], of: (record: Json) => number): number => records.reduce((total, record) => total + of(record), 0);

test.each(['account', 'business_unit', 'job_type', 'job_class'])('invoice activity by %s is what its invoices come to', async (dimension) => {
  const rows = await report('invoice-activity', dimension);
  const found = await Promise.all(
    rows.map(async (row) => {
      const invoices = await list('invoices', `&issued_from=${FROM}&issued_before=${BEFORE}&status=OPEN&status=PAID${of(row)}`);
      return { ...row, invoice_count: invoices.length, total_cents: sum(invoices, ({ amounts }) => amounts.total_cents) };
    }),
  );
  expect(found).toEqual(rows);
  const values = rows.map(({ group }) => group.value);
  expect([values.length > 1, values.includes(null)]).toEqual([true, dimension !== 'account']);
});

test.each(['account', 'payment_method', 'collector'])('collections by %s are what their payments and refunds come to', async (dimension) => {
  const rows = await report('collections', dimension);
  const period = `&occurred_from=${FROM}&occurred_before=${BEFORE}`;
  const found = await Promise.all(
    rows.map(async (row) => {
      const payments = await list('payments', `${period}&status=PAID${of(row, { payment_method: 'method' })}`);
      const refunds = await list('refunds', `${period}&status=SUCCEEDED${of(row, { payment_method: 'payment_method' })}`);
      const [received_cents, refunded_cents] = [payments, refunds].map((some) => sum(some, ({ amount_cents }) => amount_cents));
      return { ...row, payment_count: payments.length, received_cents, refund_count: refunds.length, refunded_cents };
    }),
  );
  expect(found).toEqual(rows);
  expect(rows.some(({ group, refund_count }) => group.value === null && refund_count > 0)).toBe(dimension === 'collector');
});

const SETTINGS = [
  { costing: true, verifiedOnly: false },
  { costing: true, verifiedOnly: true },
  { costing: false, verifiedOnly: false },
];
describe.each(SETTINGS)('of a company with %j', ({ costing, verifiedOnly }) => {
  beforeAll(async () => {
    const admin = system.channel('integrations').client(CompanyAdminServiceService);
    await admin.updateCompany({ id: company.id, costing_enabled: costing, verified_only: verifiedOnly });
    await fresh(system, company, { timezone: TIMEZONE, costing, verifiedOnly });
  });

  test.each([
    ['job-profitability', 'account'],
    ['job-profitability', 'business_unit'],
    ['job-profitability', 'job_type'],
    ['job-profitability', 'job_class'],
    ['technician-participation-profitability', 'team_member'],
  ])('%s by %s is what the eligible job financials come to', async (name, dimension) => {
    const rows = await report(name, dimension);
    const found = await Promise.all(
      rows.map(async (row) => {
        const jobs = await list('job-financials', `&report_from=${FROM}&report_before=${BEFORE}&eligible=true${of(row)}`);
        const cents = (field: string): number => sum(jobs, ({ totals }) => totals[field]);
        return { ...row, job_count: jobs.length, revenue_cents: cents('revenue_cents'), total_cost_cents: cents('total_cost_cents') };
      }),
    );
    expect(found).toEqual(rows);
    expect(rows.length > 1).toBe(costing);
  });

  test('every job financial is either eligible or not', async () => {
    const ids = async (filters: string): Promise<string[]> => (await list('job-financials', filters)).map(({ id }) => id as string);
    const [all, counted, others] = [await ids(''), await ids('&eligible=true'), await ids('&eligible=false')];
    expect([...counted, ...others].sort()).toEqual(all.sort());
    expect([counted.length > 0, others.length > 0]).toEqual([costing, true]);
  });
});

test('several missing fields match records that lack any of them, each once, on pages of any size', async () => {
  const all = await list('invoices', '');
  const expected = all.filter(({ business_unit, job_class }) => business_unit === null || job_class === null).map(({ id }) => id);
  expect(expected.length).toBeGreaterThan(10);
  for (const limit of [3, 100]) {
    const found = await readAll(system, company, `/v1/invoices?limit=${limit}&missing=job_class&missing=business_unit`);
    expect(found.map(({ id }) => id)).toEqual(expected);
  }
  const { status, body } = await system.get(company, '/v1/invoices?missing=account');
  expect([status, body.error.details]).toMatchObject([400, [{ field: 'missing', code: 'INVALID_ENUM_VALUE' }]]);
});

test('an assistant answers 60 questions and tasks as the records say (decisions §18)', () => carryOutTasks(system, company), 60_000);

test.each([
  ['billing', 'invoices', ['missing=created_by'], ['missing=job_type', 'status=OPEN']],
  ['billing', 'refunds', ['missing=collected_by', 'collected_by_id=5f1d2c3b-4a59-4687-9b0c-1d2e3f4a5b6c'], ['status=PENDING']],
  [
    'reporting',
    'job_financials',
    ['eligible=true', 'eligible=false', 'account_id=5f1d2c3b-4a59-4687-9b0c-1d2e3f4a5b6c'],
    ['missing=job_type', 'team_member_id=5f1d2c3b-4a59-4687-9b0c-1d2e3f4a5b6c'],
  ],
])('while rows of %s.%s are of an older release, only filters that are new answer 503', async (schema, table, closed, open) => {
  const path = table.replace('_', '-');
  await holdingProjections(system, schema, async (database) => {
    await database.query({
      text: `update ${table} set projection = 1 where id = (select id from ${table} where company_id = $1 limit 1)`,
      values: [company.id],
    });
    const statuses = async (filters: readonly string[]) =>
      Promise.all(filters.map(async (filter) => [filter, (await system.get(company, `/v1/${path}?${filter}`)).status]));
    expect(await statuses(closed)).toEqual(closed.map((filter) => [filter, 503]));
    expect(await statuses(open)).toEqual(open.map((filter) => [filter, 200]));
  });
});
