// Relations that must hold between answers, whatever the figures, and the example company that docs/reference/reports.md computes on paper.
import { randomUUID } from 'node:crypto';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Everything, Json } from '../support/expected.ts';
import { violations } from '../support/openapi.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { ask, fresh } from './ask.ts';
import type { Bucket } from './oracle/dates.ts';
import type { Question, ReportName } from './oracle/question.ts';
import { readAll } from './oracle/records.ts';
import { TIMEZONE, paperCompany, questions } from './paper-company.ts';

const REPORTS: [ReportName, (string | null)[]][] = [
  ['invoice-activity', [null, 'account', 'business_unit', 'job_type', 'job_class']],
  ['collections', [null, 'account', 'payment_method', 'collector']],
  ['job-profitability', [null, 'account', 'business_unit', 'job_type', 'job_class']],
  ['technician-participation-profitability', ['team_member']],
];
const START = '2024-09-10';
const END = '2026-12-05';

let system: System;
let demo: TestCompany;
let paper: TestCompany;
let empty: TestCompany;
let lines: Everything;

beforeAll(async () => {
  system = await startSystem();
  [demo, paper, empty] = [await system.createCompany(TIMEZONE), await system.createCompany(TIMEZONE), await system.createCompany(TIMEZONE)];
  lines = await system.importDemo(demo, 11, 80);
  for (const [path, records] of paperCompany()) expect([path, (await system.importRecords(paper, path, records)).problems]).toEqual([path, []]);
  await Promise.all([demo, paper, empty].map((company) => fresh(system, company)));
}, 180_000);
afterAll(() => system.stop());

const question = (report: ReportName, more: Partial<Question> = {}): Question => ({
  report,
  start: START,
  end: END,
  bucket: 'year',
  groupBy: null,
  filters: {},
  includeExcluded: false,
  ...more,
});

function sums(rows: readonly Json[], by: (row: Json) => string = () => 'all'): Record<string, Record<string, number>> {
  const found: Record<string, Record<string, number>> = {};
  for (const row of rows) {
    const into = (found[by(row)] ??= {});
    for (const [name, value] of Object.entries(row))
      if (/_(cents|count)$/.test(name) && name !== 'average_total_cents') into[name] = (into[name] ?? 0) + Number(value);
  }
  return found;
}

const groupOf = (row: Json): string => String(row['group']?.value);
const yearOf = (row: Json): string => `${row['period_start'].slice(0, 4)} ${groupOf(row)}`;

describe('the company on paper', () => {
  test.each(questions().map(({ path, format, answer }) => [format, path, answer] as const))(
    'answers in %s as the page says for %s',
    async (format, path, answer) => {
      const response = await fetch(`${system.baseUrl}${path}`, {
        headers: { authorization: `Bearer ${paper.apiKey}`, accept: format === 'csv' ? 'text/csv' : 'application/json' },
      });
      expect(response.status).toBe(200);
      if (format === 'csv') {
        expect((await response.text()).replaceAll('\r\n', '\n')).toBe(answer);
        return;
      }
      const { meta, report, ...rest } = (await response.json()) as Json;
      const { as_of: asOf, ...asked } = report;
      expect({ ...rest, report: asked }).toEqual(JSON.parse(answer));
      expect(meta.timezone).toBe(TIMEZONE);
      expect(Date.parse(asOf)).not.toBeNaN();
    },
  );
});

describe.each(REPORTS)('%s of the demo company', (report, groups) => {
  test('matches its description, and is not empty', async () => {
    for (const groupBy of groups) {
      const query = `start_date=${START}&end_date=${END}&bucket=year${groupBy === null ? '' : `&group_by=${groupBy}`}`;
      const { status, body } = await system.get(demo, `/v1/reports/${report}?${query}`);
      expect([status, violations('get', `/v1/reports/${report}`, status, body)]).toEqual([200, []]);
      expect(body.data.length).toBeGreaterThan(0);
    }
  });

  test('adds up from days to months to quarters to years, for every group', async () => {
    for (const groupBy of groups) {
      const [years, ...finer] = await Promise.all(
        (['year', 'quarter', 'month', 'day'] as Bucket[]).map(async (bucket) => sums(await ask(system, demo, question(report, { bucket, groupBy })), yearOf)),
      );
      for (const of of finer) expect(of).toEqual(years);
    }
  });

  test('is the sum of its halves, wherever the range is cut', async () => {
    for (const groupBy of groups) {
      const whole = sums(await ask(system, demo, question(report, { groupBy, bucket: 'week' })), groupOf);
      for (const middle of ['2025-01-01', '2025-06-18']) {
        const halves = [
          await ask(system, demo, question(report, { groupBy, bucket: 'week', end: middle })),
          await ask(system, demo, question(report, { groupBy, bucket: 'week', start: middle })),
        ];
        expect(sums(halves.flat(), groupOf)).toEqual(whole);
      }
    }
  });

  test('is the same at any page size', async () => {
    for (const groupBy of groups) {
      const asked = question(report, { groupBy, bucket: 'quarter' });
      const whole = await ask(system, demo, asked, 100);
      for (const limit of [7, 33]) expect(await ask(system, demo, asked, limit)).toEqual(whole);
    }
    const single = question(report, { groupBy: groups[0] ?? null });
    expect(await ask(system, demo, single, 1)).toEqual(await ask(system, demo, single, 100));
  });

  test('has empty periods but no empty groups, and a row for each period whatever the filters match', async () => {
    const matchesNothing = { job_class: ['WARRANTY'] };
    const filters = report === 'collections' ? { account_id: [empty.id] } : matchesNothing;
    for (const groupBy of groups) {
      const far = { start: '1990-01-01', end: '1992-01-01', groupBy };
      const rows = groupBy === null ? 2 : 0;
      expect(await ask(system, demo, question(report, far))).toHaveLength(rows);
      expect(await ask(system, empty, question(report, far))).toHaveLength(rows);
      expect(await ask(system, demo, question(report, { ...far, filters }))).toHaveLength(rows);
    }
  });

  test('accepts user tokens too, and shows another company nothing', async () => {
    const path = `/v1/reports/${report}?start_date=${START}&end_date=${END}`;
    const response = await fetch(`${system.baseUrl}${path}`, { headers: { authorization: `Bearer ${system.userToken(demo)}` } });
    const { data } = (await response.json()) as Json;
    expect(data).toEqual((await system.get(demo, path)).body.data);
    expect(Object.values(sums((await system.get(empty, path)).body.data)['all'] ?? {}).every((value) => value === 0)).toBe(true);
  });
});

test('has reports that are the sum over disjoint filters, and over groups', async () => {
  const cases: [ReportName, string, string[]][] = [
    ['invoice-activity', 'status', ['OPEN', 'PAID']],
    ['collections', 'method', ['CARD', 'ACH', 'CASH', 'CHECK', 'PAYPAL', 'VENMO', 'CASHAPP', 'OTHER', 'WISETACK_LOAN']],
  ];
  for (const [report, name, values] of cases) {
    const parts = await Promise.all(values.map((value) => ask(system, demo, question(report, { filters: { [name]: [value] } }))));
    expect(sums(parts.flat())).toEqual(sums(await ask(system, demo, question(report))));
  }
  for (const [report, groups] of REPORTS.slice(0, 3)) {
    const whole = sums(await ask(system, demo, question(report)));
    for (const groupBy of groups) expect(sums(await ask(system, demo, question(report, { groupBy })))).toEqual(whole);
  }
});

test('has costs that add up, and profits that are revenue minus cost', async () => {
  for (const report of ['job-profitability', 'technician-participation-profitability'] as const) {
    const rows = await ask(system, demo, question(report, { bucket: 'month', includeExcluded: true }));
    expect(rows.some(({ total_cost_cents }) => total_cost_cents > 0)).toBe(true);
    for (const row of rows) {
      const costs = ['labor', 'parts', 'equipment', 'misc', 'other'].reduce((sum, name) => sum + row[`${name}_cost_cents`], 0);
      expect([row['total_cost_cents'], row['gross_profit_cents']]).toEqual([costs, row['revenue_cents'] - costs]);
    }
  }
});

test('has the same figures in both job reports for a job with one member', async () => {
  // Only job 4 is in this range; Dana did it alone.
  const range = { start: '2026-02-01', end: '2026-03-01', bucket: 'month' as const };
  const [job] = await ask(system, paper, question('job-profitability', range));
  const [member] = await ask(system, paper, question('technician-participation-profitability', range));
  const { group, ...figures } = job as Json;
  expect(group).toBeNull();
  expect(member).toMatchObject(figures);
  expect(figures['job_count']).toBe(1);
});

test('has the sums of the invoices listed with the same filters', async () => {
  const account = lines['invoices']!.find(({ status, issued_at }) => status === 'PAID' && issued_at !== null)!['account'].id as string;
  for (const filters of [
    {},
    { status: ['VOIDED', 'UNCOLLECTABLE'] },
    { account_id: [account] },
    { job_class: ['SERVICE', 'INSTALL'], status: ['PAID'] },
  ] as Record<string, string[]>[]) {
    for (const [start, end] of [
      [START, END],
      ['2025-03-01', '2025-04-01'],
      ['2025-12-31', '2026-01-01'],
    ] as const) {
      const query = new URLSearchParams({ issued_from: start, issued_before: end });
      for (const [name, values] of Object.entries({ status: ['OPEN', 'PAID'], ...filters })) for (const value of values) query.append(name, value);
      const listed = await readAll(system, demo, `/v1/invoices?limit=100&${query.toString()}`);
      const expected = listed.map(({ amounts: { subtotal_cents, discount_cents, discounted_subtotal_cents, tax_cents, total_cents } }) => ({
        subtotal_cents,
        discount_cents,
        discounted_subtotal_cents,
        tax_cents,
        total_cents,
        invoice_count: 1,
      }));
      const nothing = { invoice_count: 0, subtotal_cents: 0, discount_cents: 0, discounted_subtotal_cents: 0, tax_cents: 0, total_cents: 0 };
      expect(sums(await ask(system, demo, question('invoice-activity', { start, end, filters })))).toEqual(sums([nothing, ...expected]));
    }
  }
});

test('shows new names at once, with unchanged figures', async () => {
  const asked = question('invoice-activity', { groupBy: 'account', bucket: 'quarter' });
  const before = await ask(system, demo, asked);
  const { id } = lines['accounts']!.find((account) => before.some((row) => groupOf(row) === account['id']))!;
  await system.importRecords(demo, 'accounts', [{ ...lines['accounts']!.find((account) => account['id'] === id)!, name: '=Renamed "Household"' }]);
  await fresh(system, demo);
  const expected = before.map((row) => (groupOf(row) === id ? { ...row, group: { ...row['group'], label: '=Renamed "Household"' } } : row));
  expect(await ask(system, demo, asked)).toEqual(expected);
  const csv = await fetch(`${system.baseUrl}/v1/reports/invoice-activity?start_date=${START}&end_date=${END}&bucket=year&group_by=account&account_id=${id}`, {
    headers: { authorization: `Bearer ${demo.apiKey}`, accept: 'text/csv' },
  });
  expect(await csv.text()).toContain(`,"account","${id}","'=Renamed ""Household""","USD",`);
});

test('applies a change of the company’s settings as a whole, and says which are in effect', async () => {
  const asked = question('job-profitability', { bucket: 'month' });
  const before = await ask(system, paper, asked);
  const admin = system.channel('integrations').client(CompanyAdminServiceService);
  const set = async (costing: boolean): Promise<void> => {
    await admin.updateCompany({ id: paper.id, costing_enabled: costing });
    await fresh(system, paper, { timezone: TIMEZONE, costing, verifiedOnly: false });
  };
  await set(false);
  expect(sums(await ask(system, paper, asked))['all']).toMatchObject({ job_count: 0, revenue_cents: 0, total_cost_cents: 0 });
  await set(true);
  expect(await ask(system, paper, asked)).toEqual(before);
});

test('counts current assignments: a member whose last assignment was removed is in no row', async () => {
  const asked = question('technician-participation-profitability');
  const membersOf = async (): Promise<string[]> => (await ask(system, paper, asked)).map(groupOf);
  const seats = (await readAll(system, paper, '/v1/job-assignments?limit=100')).filter(({ team_member }) => team_member.name === 'Lee Ortiz');
  const { id } = seats[0]!['team_member'] as { id: string };
  expect(await membersOf()).toContain(id);
  for (const seat of seats) {
    const {
      body: { data: visit },
    } = await system.get(paper, `/v1/job-appointments/${seat['appointment_id']}`);
    const { status } = await fetch(`${system.baseUrl}/v1/job-assignments/${seat['id']}`, {
      method: 'DELETE',
      body: JSON.stringify({ expected_revision: visit.revision }),
      headers: { authorization: `Bearer ${paper.apiKey}`, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    });
    expect(status).toBe(200);
  }
  await fresh(system, paper);
  const left = await membersOf();
  expect(left.length).toBeGreaterThan(0);
  expect(left).not.toContain(id);
});

test('answers 500 for a figure too large for a number, naming period, group and field, and serves all others', async () => {
  const most = Number.MAX_SAFE_INTEGER;
  const [small, large] = ['0', 'f'].map((digit) => `${digit}${randomUUID().slice(1)}`) as [string, string];
  const invoice = lines['invoices']!.find(({ status }) => status === 'PAID') as Json;
  const issue = (account: string, month: string, cents: number): Json => ({
    ...invoice,
    id: randomUUID(),
    account: { id: account, name: 'Hill' },
    issued_at: `${month}-15T18:00:00Z`,
    line_items: [{ ...invoice['line_items'][0], unit_price_cents: cents, quantity: 1, subtotal_cents: cents }],
    amounts: { subtotal_cents: cents, discount_cents: 0, discounted_subtotal_cents: cents, tax_cents: 0, total_cents: cents },
  });
  const company = await system.createCompany(TIMEZONE);
  const invoices = [issue(large, '2026-01', most), issue(large, '2026-01', 1), issue(small, '2026-01', 7), issue(small, '2026-02', most)];
  expect((await system.importRecords(company, 'invoices', invoices)).problems).toEqual([]);
  await fresh(system, company);

  const refused = async (query: string): Promise<string> => {
    const { status, body } = await system.get(company, `/v1/reports/invoice-activity?start_date=2026-01-01&end_date=2026-03-01${query}`);
    expect([status, body.error.code, violations('get', '/v1/reports/invoice-activity', status, body)]).toEqual([500, 'INTERNAL_ERROR', []]);
    return body.error.message;
  };
  expect(await refused('')).toContain('subtotal_cents of the period from 2026-01-01 is beyond ±9007199254740991');
  expect(await refused('&group_by=account')).toContain(`subtotal_cents of the period from 2026-01-01, group ${large} is beyond ±9007199254740991`);

  const served = async (more: Partial<Question>): Promise<number[]> =>
    (await ask(system, company, question('invoice-activity', { start: '2026-01-01', end: '2026-03-01', bucket: 'month', ...more }))).map(
      ({ subtotal_cents }) => subtotal_cents,
    );
  expect(await served({ start: '2026-02-01' })).toEqual([most]);
  expect(await served({ groupBy: 'account', filters: { account_id: [small] } })).toEqual([7, most]);
  const { body: first } = await system.get(company, '/v1/reports/invoice-activity?start_date=2026-01-01&end_date=2026-03-01&group_by=account&limit=1');
  expect(first.data).toMatchObject([{ group: { value: small }, subtotal_cents: 7 }]);
  await refused(`&group_by=account&limit=1&cursor=${first.pagination.next_cursor}`);
});
