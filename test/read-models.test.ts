// Other services' records in reporting: names, read models, rebuilds, and the check that compares them.
import { ReportingAdminServiceService } from '@truckroll/contract/gen/reporting/v1/admin';
import { until } from '@truckroll/testing/until';
import { demoLines } from './support/demo.ts';
import { differences, untilFollowed } from './support/read-models.ts';
import type { Json } from './support/expected.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';

const TIMEZONE = 'America/Chicago';
let system: System;
let company: TestCompany;
const lines: Record<string, Json[]> = {};

beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany(TIMEZONE);
  // Imported in reverse order, because the figures must not depend on the order.
  for (const [path, records] of demoLines({ seed: 11, size: 60, timezone: TIMEZONE, until: '2026-11-20T18:00:00Z' }).toReversed()) {
    lines[path] = records;
    expect((await system.importRecords(company, path, records)).problems).toEqual([]);
  }
  await untilFollowed(system, company);
}, 120_000);

afterAll(() => system.stop());

async function financials(): Promise<Json[]> {
  const { body } = await system.get(company, '/v1/job-financials?limit=100');
  return body.data;
}

test('computes financials from the owners’ jobs, invoices and assignments', async () => {
  const shown = await financials();
  expect(shown.length).toBeGreaterThan(10);
  for (const record of shown) {
    const job = lines['jobs']!.find(({ id }) => id === record['id'])!;
    const invoices = lines['invoices']!.filter(({ job_id }) => job_id === record['id']);
    const revenue = invoices.filter(({ status }) => ['OPEN', 'PAID'].includes(status)).reduce((sum, { amounts }) => sum + amounts.subtotal_cents, 0);
    const members = new Set(lines['job-assignments']!.filter(({ job_id }) => job_id === record['id']).map(({ team_member }) => team_member.id));
    const cost = record['cost_entries'].reduce((sum: number, { total_cents }: Json) => sum + total_cents, 0);
    expect(record).toMatchObject({ number: job['number'], account: { id: job['account'].id }, job_class: job['job_class'] });
    expect(record['totals']).toMatchObject({ revenue_cents: revenue, total_cost_cents: cost, gross_profit_cents: revenue - cost });
    expect(record['invoices'].map(({ id }: Json) => id).sort()).toEqual(invoices.map(({ id }) => id).sort());
    expect(record['participants'].map(({ id }: Json) => id)).toEqual([...members].sort());
  }
});

test('refuses costs whose sum cannot be represented, and accepts the other lines', async () => {
  const most = Number.MAX_SAFE_INTEGER;
  const line = lines['job-financials']!.find(({ cost_entries }) => cost_entries.length > 1)!;
  const tooMuch = { ...line, cost_entries: line['cost_entries'].map((entry: Json) => ({ ...entry, category: 'labor', total_cents: most })) };
  const { problems, unchanged } = await system.importRecords(company, 'job-financials', [tooMuch, line]);
  expect(problems).toMatchObject([{ line: 1, field: 'cost_entries', code: 'OUT_OF_RANGE' }]);
  expect(unchanged).toBe(1);
});

test('shows an account’s new name in every service’s records', async () => {
  const invoice = lines['invoices']![0]!;
  const account = lines['accounts']!.find(({ id }) => id === invoice['account'].id)!;
  const name = 'Renamed Household ✓';
  await system.importRecords(company, 'accounts', [{ ...account, name }]);
  const shown = async (path: string) => (await system.get(company, path)).body.data.account.name;
  const job = lines['jobs']!.find(({ account: of }) => of.id === account['id'])!;
  await until(
    `the name ${name} on a job`,
    () => shown(`/v1/jobs/${job['id']}`),
    (seen) => seen === name,
  );
  await until(
    `the name ${name} on an invoice`,
    () => shown(`/v1/invoices/${invoice['id']}`),
    (seen) => seen === name,
  );
  await until('the name in job financials', financials, (records) =>
    records.every((record) => record['account'].id !== account['id'] || record['account'].name === name),
  );
});

test('rebuilds the read models from the topics, and removes records that no topic has', async () => {
  const before = await financials();
  const ghost = '00000000-0000-4000-8000-00000000dead';
  const { database } = system;
  await database.query({
    text: 'update reporting.invoices set subtotal_cents = subtotal_cents + 1, job_id = null where company_id = $1',
    values: [company.id],
  });
  await database.query({
    text: `insert into reporting.assignments (company_id, id, job_id, team_member_id, team_member_name) values ($1, $2, $3, $2, 'Ghost')`,
    values: [company.id, ghost, before[0]!['id']],
  });
  expect((await differences(system, company)).length).toBe(lines['invoices']!.length + 1);
  const rebuilt: string[] = [];
  const shares: number[] = [];
  for await (const { table, done, share } of system.channel('reporting').client(ReportingAdminServiceService).rebuild({})) {
    if (table !== 'summaries') shares.push(share);
    if (done) rebuilt.push(table);
  }
  expect(rebuilt).toEqual(['companies', 'jobs', 'assignments', 'invoices', 'payments', 'refunds', 'summaries']);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(shares.at(-1)).toBe(1);
  expect(await differences(system, company)).toEqual([]);
  expect(await financials()).toEqual(before);
});

test('moves report dates when the company’s time zone changes', async () => {
  const dates = async () => (await financials()).map(({ id, report_date }) => [id, report_date]);
  const before = await dates();
  await system.setTimezone(company, 'Pacific/Kiritimati');
  await until(`other dates than ${JSON.stringify(before)}`, dates, (seen) => JSON.stringify(seen) !== JSON.stringify(before));
});
