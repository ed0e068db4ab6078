// The home page of a demo company, against what the API answers.
import { generateCompany } from '@truckroll/demo-company';
import type { Page } from 'puppeteer-core';
import { dollars } from '../../gateway/console/src/parts/money.ts';
import { twoMonths } from '../../gateway/console/src/parts/months.ts';
import { eventually, shows, tabTo, visibleText } from './desk.ts';
import { startEntrance, type Entrance } from './entrance.ts';
import { inspect } from './look.ts';

let entrance: Entrance;
let page: Page;
// Chromium may have to be installed first.
beforeAll(async () => {
  entrance = await startEntrance();
  const { system, company } = entrance;
  const files = generateCompany({ seed: 1, size: 1500, timezone: company.timezone, until: new Date().toISOString() });
  for (const { path, records } of files) expect([path, (await system.importRecords(company, path, records)).problems]).toEqual([path, []]);
  const importedAt = new Date().toISOString();
  await eventually(
    'everything imported to be in the reports',
    () => system.get(company, '/v1/reports/invoice-activity?start_date=2026-01-01&end_date=2026-02-01'),
    ({ status, body }) => status === 200 && body.report.as_of > importedAt,
  );
  page = await entrance.enter();
}, 600_000);
afterAll(() => entrance.stop());

async function list(path: string, filters: Record<string, string>): Promise<any[]> {
  const records: any[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ ...filters, limit: '100', ...(cursor && { cursor }) });
    const { body } = await entrance.system.get(entrance.company, `/v1/${path}?${String(query)}`);
    records.push(...body.data);
    cursor = body.pagination.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return records;
}

const today = (): string => new Date().toLocaleDateString('sv-SE', { timeZone: entrance.company.timezone });
const sum = (amounts: readonly number[]): number => amounts.reduce((all, each) => all + each, 0);

test('shows this month and last month, with the figures of the reports', async () => {
  await shows(page, 'This month and last month');
  const { start, end } = twoMonths(today());
  for (const [report, column] of [
    ['invoice-activity', 'discounted_subtotal_cents'],
    ['collections', 'net_collected_cents'],
  ] as const) {
    const { body } = await entrance.system.get(entrance.company, `/v1/reports/${report}?start_date=${start}&end_date=${end}&bucket=month`);
    const [last, current] = body.data.map((row: any) => row[column]);
    expect(last).toBeGreaterThan(0);
    await shows(page, `This month so far ${dollars(current)}`);
    await shows(page, `Last month ${dollars(last)}`);
  }
});

test('shows what is owed, as the open invoices add up to, and what needs attention', async () => {
  const open = await list('invoices', { status: 'OPEN' });
  const overdue = open.filter(({ aging }) => aging.bucket !== 'CURRENT');
  const balance = (invoices: any[]): string => dollars(sum(invoices.map(({ amounts }) => amounts.open_balance_cents)));
  expect(overdue.length).toBeGreaterThan(0);
  await shows(page, balance(overdue));
  const tiles = await page.$$eval('.tiles > div', (elements) => elements.map((element) => (element as HTMLElement).innerText.replace(/\s+/g, ' ')));
  expect(tiles.slice(0, 2)).toEqual([`Open balance ${balance(open)} ${open.length} invoices`, `Overdue ${balance(overdue)} ${overdue.length} invoices`]);
  const { body } = await entrance.system.get(entrance.company, '/api/v1/integrations/summary');
  expect(tiles[2]).toContain(`Unbooked service requests ${body.data.unbookedServiceRequests} `);
  expect(tiles[3]).toContain('Failing webhook endpoints 0 ');
});

test('is free of barriers, fits a phone, and has its charts as tables by keyboard', async () => {
  await inspect(page, 'home');
  await tabTo(page, 'As a table: Invoiced');
  await page.keyboard.press('Enter');
  await shows(page, 'Day');
  expect(await visibleText(page)).not.toMatch(/\bNaN\b/);
  await inspect(page, 'home-table');
});

test('is where the name of the product leads', async () => {
  await page.goto(`${entrance.system.baseUrl}/console#/keys`);
  await shows(page, 'API keys');
  await page.locator('a.brand').click();
  await shows(page, 'This month and last month');
  await page.waitForFunction(() => document.title === 'Home · Truckroll console');
});

test('had no errors and sent no requests elsewhere', async () => {
  expect(await entrance.leave()).toEqual([]);
});
