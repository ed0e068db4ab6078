// The console's reports in a browser, compared with the oracle of test/reports: figures, what they are made of, and files.
import { randomUUID } from 'node:crypto';
import type { Page } from 'puppeteer-core';
import { readSheet } from 'read-excel-file/node';
import { rangeName } from '../../gateway/console/src/screens/reports/calendar.ts';
import { answerOf } from '../reports/oracle/answer.ts';
import { periodsOf } from '../reports/oracle/dates.ts';
import type { Question } from '../reports/oracle/question.ts';
import { readRecords, type Records } from '../reports/oracle/records.ts';
import { fresh } from '../reports/ask.ts';
import type { Json } from '../support/expected.ts';
import type { TestCompany } from '../support/system.ts';
import { press, saved, shows, startConsole, tabTo, visibleText, type ConsoleSetup } from './start-console.ts';
import { inspect } from './inspect.ts';
import { inputTests } from './report-inputs.ts';

const timezone = 'America/Chicago';
const RANGE = { start: '2026-07-01', end: '2026-11-01' };
const CUSTOM = 'period=custom&from=2026-07-01&to=2026-10-31';

let setup: ConsoleSetup;
let company: TestCompany;
let records: Records;
let page: Page;

// Chromium may have to be installed first.
beforeAll(async () => {
  setup = await startConsole();
  company = await setup.company(timezone);
  await setup.system.importDemo(company, 7, 150);
  await fresh(setup.system, company);
  records = await readRecords(setup.system, company, { timezone, costing: true, verifiedOnly: false });
  page = await setup.enter(company, '/reports');
}, 600_000);
afterAll(() => setup.stop());

async function go(place: string): Promise<void> {
  // Otherwise the last view could be taken for the new one.
  await page.evaluate(() => void (location.hash = '/reports'));
  await page.waitForSelector('.cards');
  await page.evaluate((to) => void (location.hash = to), `/reports/${place}`);
  await shows(page, 'figures as of');
}

/** Waits for a place and a number of bars. */
async function bars(part: string, count: number): Promise<void> {
  const arrived = (wanted: string, many: number) => location.hash.includes(wanted) && document.querySelectorAll('.report-chart svg a').length === many;
  await page.waitForFunction(arrived, {}, part, count).catch(async () => {
    throw new Error(`${await page.evaluate(() => location.hash)} has not ${count} bars:\n${await visibleText(page)}`);
  });
}

const oracle = (question: Partial<Question> & Pick<Question, 'report'>): Json[] =>
  answerOf({ ...RANGE, bucket: 'month', groupBy: null, filters: {}, includeExcluded: false, ...question }, records);

/** The cells of a table by the titles of its columns. */
async function cells(selector: string): Promise<Record<string, string>[]> {
  await page.waitForSelector(selector);
  return page.$eval(selector, (table) => {
    const titles = [...table.querySelectorAll('th')].map(({ textContent }) => textContent.trim());
    return [...table.querySelectorAll('tbody tr')].map((row) =>
      Object.fromEntries([...row.querySelectorAll('td')].map((cell, n) => [titles[n], cell.textContent.trim()])),
    );
  });
}

const cents = (dollars: string): number => Number(dollars.replace(/[$,.]/g, '').replace('−', '-'));
const sum = (rows: readonly Json[], column: string): number => rows.reduce((total, row) => total + row[column], 0);

const REPORTS = [
  ['invoice-activity', 'business_unit', 'Business unit', 'Net sales', 'discounted_subtotal_cents'],
  ['collections', 'payment_method', 'Payment method', 'Net collected', 'net_collected_cents'],
  ['job-profitability', 'job_type', 'Job type', 'Gross profit', 'gross_profit_cents'],
] as const;

test.each(REPORTS)('%s has the figures of the oracle by month and by group, and their total', async (report, groupBy, _title, measure, column) => {
  await go(`${report}?${CUSTOM}&bucket=month`);
  const months = oracle({ report });
  const shown = await cells('.as-table table');
  expect(shown.map((row) => cents(row[measure]!))).toEqual(months.map((row) => row[column]));
  const groups = Object.values(Object.groupBy(oracle({ report, groupBy }), ({ group }) => String(group.value))).map((rows) => sum(rows!, column));
  const ranked = await cells('.groups table');
  expect(ranked.map((row) => cents(row[measure]!))).toEqual(groups.sort((a, b) => b - a));
  const total = await page.$$eval('.tiles > div', (tiles) =>
    tiles.map(({ children: [name, figure] }) => [name!.textContent, (figure!.querySelector('.exact') ?? figure!).textContent]),
  );
  expect(cents(total.find(([title]) => title === measure)![1]!)).toBe(sum(months, column));
});

test('technicians are ranked by their own figures and have no total; one of them has figures over time', async () => {
  const report = 'technician-participation-profitability';
  await go(`${report}?${CUSTOM}`);
  const rows = Object.groupBy(oracle({ report }), ({ group }) => group.value);
  const revenue = Object.values(rows).map((of) => sum(of!, 'revenue_cents'));
  const ranked = await cells('.groups table');
  expect(ranked.map((row) => cents(row['Revenue']!))).toEqual(revenue.sort((a, b) => b - a));
  for (const _ of [1, 2]) await page.click('[aria-label="Sort by Revenue"]');
  expect((await cells('.groups table')).map((row) => cents(row['Revenue']!))).toEqual(revenue.toReversed());
  expect(await page.$$('tfoot, .tiles, .report-chart')).toEqual([]);
  const [id, own] = Object.entries(rows)[0]!;
  await go(`${report}?${CUSTOM}&bucket=month&team_member_id=${id}`);
  const months = periodsOf(RANGE.start, RANGE.end, 'month').map(([start]) =>
    sum(
      own!.filter((row) => row['period_start'] === start),
      'revenue_cents',
    ),
  );
  expect((await cells('.as-table table')).map((row) => cents(row['Revenue']!))).toEqual(months);
});

test('compares with the previous period, and a filter is chosen and shared by name', async () => {
  await go(`invoice-activity?${CUSTOM}&bucket=month&compare=yes`);
  const before = oracle({ report: 'invoice-activity', start: '2026-03-01', end: '2026-07-01' });
  expect((await cells('.as-table table')).map((row) => cents(row['Net sales before']!))).toEqual(before.map((row) => row['discounted_subtotal_cents']));
  const invoice = records.invoices.find(({ issued_at: at }) => at > '2026-08' && at < '2026-10')!;
  await page.type('[name="account_id"]', invoice['account'].name);
  await shows(page, 'found');
  await page.keyboard.press('Enter');
  await page.waitForFunction((id) => location.hash.includes(`account_id=${id}`), {}, invoice['account'].id);
  const own = oracle({ report: 'invoice-activity', filters: { account_id: [invoice['account'].id] } });
  const total = await page.waitForFunction(
    (wanted) => [...document.querySelectorAll('.tiles > div')].some(({ textContent }) => textContent.startsWith(wanted)),
    {},
    `Invoices${sum(own, 'invoice_count')}`,
  );
  expect(total).toBeDefined();
  // A reload of the address, as a colleague opens it, shows the name of the customer.
  const again = await setup.enter(company, (await page.evaluate(() => location.hash)).slice(1));
  await shows(again, invoice['account'].name);
  await again.waitForSelector('.tiles');
  await page.bringToFront();
});

/** Follows the bar of September, then the largest group, to the records. */
async function drill(report: string): Promise<void> {
  await go(`${report}?${CUSTOM}&bucket=month`);
  await page.locator('.report-chart svg a[aria-label^="Sep 2026"]').click();
  await bars('from=2026-09-01', 30);
  await page.locator('.groups tbody a').click();
}

test.each(REPORTS)('%s: a bar leads to its groups, a group to its records, and their sum is the figure', async (report, groupBy, _title, measure, column) => {
  await drill(report);
  await shows(page, 'Adds up');
  const september = { start: '2026-09-01', end: '2026-10-01' };
  const best = Math.max(...oracle({ report, groupBy, ...september }).map((row) => row[column]));
  const sums = await page.$$eval('main table', (tables) =>
    tables.map((table) => {
      const titles = [...table.querySelectorAll('th')].map(({ textContent }) => textContent.trim());
      return Object.fromEntries([...table.querySelectorAll('tfoot td')].map((cell, n) => [titles[n], cell.textContent.trim()]));
    }),
  );
  const figure =
    report === 'collections' ? sums.reduce((net, of) => net + (of['Received'] ? cents(of['Received']) : -cents(of['Refunded'])), 0) : cents(sums[0]![measure]);
  expect(figure).toBe(best);
  expect(await visibleText(page)).not.toContain('Differs');
  const [first] = await cells('main table');
  await page.locator('main tbody a.name').click();
  await shows(page, 'What happened');
  await shows(page, Object.values(first!)[0]!);
});

test('the records behind a technician, a group without a value, and all of a report add up', async () => {
  const report = 'technician-participation-profitability';
  const [row] = oracle({ report });
  await go(`${report}/records?${CUSTOM}&value=${row!['group'].value}`);
  await shows(page, 'Adds up');
  await go(`collections/records?${CUSTOM}&group=collector&value=none`);
  await page.waitForFunction(() => document.querySelectorAll('.proof .badge.good').length === 2);
  await go(`invoice-activity/records?${CUSTOM}&value=none`);
  await shows(page, 'Invoice activity: No business unit');
  await shows(page, 'Adds up');
  await go(`job-profitability/records?${CUSTOM}&group=account&value=${records['job-financials'][0]!['account'].id}`);
  await shows(page, 'Adds up');
  await go(`job-profitability/records?${CUSTOM}&excluded=yes`);
  await shows(page, 'Adds up');
  const [jobs] = await page.$$eval('h2 .soft', (counts) => counts.map(({ textContent }) => Number(textContent)));
  expect(jobs).toBe(sum(oracle({ report: 'job-profitability', includeExcluded: true }), 'job_count'));
  if (jobs! > 50) {
    await press(page, 'Older');
    await shows(page, 'Page 2 of');
  }
});

test('receivables: what is open by age, its groups, and the invoices behind them', async () => {
  const open = records.invoices.filter(({ status }) => status === 'OPEN');
  const balance = (of: readonly Json[]): number => of.reduce((all, { amounts }) => all + amounts.open_balance_cents, 0);
  await page.evaluate(() => void (location.hash = '/reports/receivables?group=business_unit'));
  await shows(page, 'Open invoices as of');
  const ages = await cells('.as-table table');
  expect(ages.length).toBe(5);
  expect(ages.reduce((all, row) => all + cents(row['Open balance']!), 0)).toBe(balance(open));
  const units = Object.values(Object.groupBy(open, ({ business_unit: unit }) => String(unit?.id))).map((of) => balance(of!));
  expect((await cells('.groups table')).map((row) => cents(row['Open balance']!))).toEqual(units.sort((a, b) => b - a));
  const oldest = open.filter(({ aging }) => aging.bucket === 'PAST_DUE_91_PLUS');
  await page.locator('.report-chart svg a[aria-label^="Over 90 days"]').click();
  await shows(page, 'Receivables: over 90 days');
  await page.locator('.groups tfoot a').click();
  await shows(page, 'Adds up');
  expect((await cells('main table')).length).toBe(Math.min(50, oldest.length));
  const [total] = await page.$$eval('tfoot td:last-child', (of) => of.map(({ textContent }) => textContent));
  expect(cents(total!)).toBe(balance(oldest));
});

test('the spreadsheet has the figures as numbers, says what they are, and its columns add up to its totals', async () => {
  await go(`invoice-activity?${CUSTOM}&bucket=month&job_class=SERVICE`);
  const file = await saved(page, 'For Excel');
  const [overTime, byUnit] = [await readSheet(file, 'Over time'), await readSheet(file, 'By business unit')];
  const name = records['job-classes'].find(({ id }) => id === 'SERVICE')!['name'];
  const facts = Object.fromEntries(overTime.slice(0, 5));
  expect(facts).toEqual({
    Company: expect.any(String),
    Report: 'Invoice activity',
    Range: 'Jul 1, 2026 – Oct 31, 2026 (America/Chicago)',
    'As of': expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d \(America\/Chicago\)$/),
    'Job class': name,
  });
  const months = oracle({ report: 'invoice-activity', filters: { job_class: ['SERVICE'] } });
  for (const sheet of [overTime, byUnit]) {
    const head = sheet.findIndex((row) => row.includes('Billed'));
    const at = sheet[head]!.indexOf('Billed');
    const column = sheet.slice(head + 1).map((row) => Math.round((row[at] as number) * 100));
    expect(column.at(-1)).toBe(sum(months, 'total_cents'));
    expect(column.slice(0, -1).reduce((all, each) => all + each, 0)).toBe(column.at(-1));
  }
  const [first] = overTime.slice(7);
  expect(first![0]).toEqual(new Date('2026-07-01T00:00:00Z'));
});

test('the spreadsheet has the comparison that is shown, and the switches that change its figures', async () => {
  await go(`job-profitability?${CUSTOM}&bucket=month&compare=yes&excluded=yes`);
  const sheet = await readSheet(await saved(page, 'For Excel'), 'Over time');
  const facts = Object.fromEntries(sheet.slice(0, 6).map(([title, text]) => [title, text]));
  expect(facts).toMatchObject({ 'Include excluded job types': 'Yes', 'Compared with': 'Mar 1, 2026 – Jun 30, 2026' });
  const head = sheet.find((row) => row.includes('Gross profit before'))!;
  const before = oracle({ report: 'job-profitability', start: '2026-03-01', end: '2026-07-01', includeExcluded: true });
  const rows = sheet.slice(sheet.indexOf(head) + 1, -1);
  expect(rows.map((row) => Math.round((row[head.indexOf('Gross profit before')] as number) * 100))).toEqual(before.map((row) => row['gross_profit_cents']));
  expect(head.at(-1)).toBe('Change');
});

test('the open invoices of an age are a spreadsheet, with their sum', async () => {
  await page.evaluate(() => void (location.hash = '/reports/receivables/records?age=PAST_DUE_91_PLUS'));
  await shows(page, 'Adds up');
  const sheet = await readSheet(await saved(page, 'Download for Excel'), 'Invoices');
  const oldest = records.invoices.filter(({ status, aging }) => status === 'OPEN' && aging.bucket === 'PAST_DUE_91_PLUS');
  expect(sheet.find(([title]) => title === 'Age')).toContain('Over 90 days');
  expect(Math.round((sheet.at(-1)!.at(-1) as number) * 100)).toBe(oldest.reduce((all, { amounts }) => all + amounts.open_balance_cents, 0));
});

inputTests(() => ({ page, go, cents, jobs: oracle({ report: 'job-profitability' }) }));

test('more records than are added up have no sum on the screen, and all of them are in the file', async () => {
  const large = await setup.company(timezone);
  const account = { id: randomUUID(), name: 'Cedar Hill Bakery' };
  const count = 5101;
  const at = '2026-08-15T12:00:00.000000Z';
  const payments = Array.from({ length: count }, (_, n) => ({
    id: randomUUID(),
    number: `PAY-${n + 1}`,
    account,
    status: 'PAID',
    method: 'CASH',
    amount_cents: n + 1,
    currency: 'USD',
    occurred_at: at,
    created_at: at,
    updated_at: null,
    collected_by: null,
    invoice_allocations: [],
  }));
  expect((await setup.system.importRecords(large, 'payments', payments)).problems).toEqual([]);
  await fresh(setup.system, large);
  const own = await setup.enter(large, `/reports/collections/records?${CUSTOM}`);
  await shows(own, 'There are more than 5,000 records');
  expect([await own.$$('#payments ~ .scroll tbody'), await own.$$('#payments ~ .scroll tfoot')].map(({ length }) => length)).toEqual([1, 0]);
  const first = page;
  page = own;
  const sheet = await readSheet(await saved(page, 'Download for Excel'), 'Payments');
  page = first;
  const amounts = sheet.slice(sheet.findIndex(([title]) => title === 'Payment') + 1).map((row) => Math.round((row.at(-1) as number) * 100));
  expect([amounts.length, amounts.at(-1)]).toEqual([count + 1, (count * (count + 1)) / 2]);
  await page.bringToFront();
});

test.each([
  ['CSV in cents', (text: string) => Number(text)],
  ['CSV in dollars', cents],
])('%s has the rows of the API', async (button, amount) => {
  await go(`collections?${CUSTOM}&bucket=month`);
  const file = await saved(page, button);
  expect(file.subarray(0, 3)).toEqual(Buffer.from('\uFEFF'));
  const lines = file.toString().trim().split('\r\n');
  const rows = oracle({ report: 'collections', groupBy: 'payment_method' });
  expect(lines.length).toBe(rows.length + 1);
  expect(lines.slice(1).reduce((all, line) => all + amount(line.split(',').at(-1)!), 0)).toBe(sum(rows, 'net_collected_cents'));
});

test('CSV for accounting programs has lines that add up to the invoices and payments of a month', async () => {
  const ofAugust = (at: string | null): boolean => at !== null && new Date(at).toLocaleDateString('sv-SE', { timeZone: timezone }).startsWith('2026-08');
  const issued = records.invoices.filter(({ status, issued_at: at }) => ['OPEN', 'PAID'].includes(status) && ofAugust(at));
  const received = records.payments.filter(({ status, occurred_at: at }) => status === 'PAID' && ofAugust(at));
  const linesOf = (file: Buffer): string[][] =>
    file
      .toString()
      .slice(1)
      .trimEnd()
      .split('\r\n')
      .map((line) => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!));
  const totals = (lines: string[][], by: number, amount: number): Map<string, number> => {
    const sums = new Map<string, number>();
    for (const line of lines.slice(1)) sums.set(line[by]!, (sums.get(line[by]!) ?? 0) + Math.round(Number(line[amount]) * 100));
    return sums;
  };
  await page.evaluate(() => void (location.hash = '/money/month-end?month=2026-08'));
  const invoices = linesOf(await saved(page, 'Invoices as CSV'));
  expect(totals(invoices, 0, invoices[0]!.indexOf('amount'))).toEqual(new Map(issued.map(({ number, amounts }) => [number, amounts.total_cents])));
  const items = issued.flatMap(({ line_items: of }) => of.map(({ name, unit_price_cents: unit, subtotal_cents: sum }: Json) => [name, unit, sum]));
  const [unit, sumOf] = ['unit_price_before_multiplier', 'amount'].map((title) => invoices[0]!.indexOf(title)) as [number, number];
  const listed = invoices.filter(([, , , , kind]) => kind === 'ITEM').map((of) => [of[5], cents(of[unit]!), cents(of[sumOf]!)]);
  expect(listed).toEqual(items);
  const payments = linesOf(await saved(page, 'Payments as CSV'));
  expect(totals(payments, 0, payments[0]!.indexOf('amount'))).toEqual(new Map(received.map(({ number, id, amount_cents: of }) => [number ?? id, of])));
  const numbers = new Map(records.invoices.map(({ id, number }) => [id, number]));
  const paid = received.flatMap(({ invoice_allocations: of }) => of.map(({ invoice_id: id }: Json) => numbers.get(id)));
  expect(
    payments
      .slice(1)
      .map(([, , , , invoice]) => invoice)
      .filter(Boolean),
  ).toEqual(paid);
});

test('everything works with the keyboard alone: choosing, a bar, a group, a record, saving a view', async () => {
  await go(`invoice-activity?${CUSTOM}&bucket=month`);
  await page.waitForSelector('.report-chart svg a');
  await tabTo(page, 'Save view…');
  await page.keyboard.press('Enter');
  await page.keyboard.type(' of the summer');
  await page.keyboard.press('Enter');
  await shows(page, 'was saved. It is listed under Reports.');
  await page.focus('h1');
  // One stop of the Tab key for all bars.
  expect(await page.$$eval('.report-chart svg a', (all) => all.map(({ tabIndex }) => tabIndex))).toEqual([0, -1, -1, -1]);
  const july = await page.$eval('.report-chart svg a', (bar) => bar.getAttribute('aria-label')!);
  await tabTo(page, july);
  await page.keyboard.press('ArrowRight');
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(/^Aug 2026: Net sales \$/);
  await page.keyboard.press('Enter');
  await bars('from=2026-08-01', 31);
  const group = await page.$eval('.groups tbody a', ({ textContent }) => textContent);
  await tabTo(page, group);
  await page.keyboard.press('Enter');
  await shows(page, 'Adds up');
  await tabTo(page, await page.$eval('main tbody a', ({ textContent }) => textContent));
  await page.keyboard.press('Enter');
  await shows(page, 'What happened');
  await page.evaluate(() => void (location.hash = '/reports'));
  await shows(page, 'Saved views');
  await tabTo(page, 'Invoice activity by business unit of the summer');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.includes('from=2026-07-01'));
  await page.evaluate(() => void (location.hash = '/reports'));
  await press(page, 'Forget Invoice activity by business unit of the summer');
  await page.waitForFunction(() => !document.body.innerText.includes('Saved views'));
});

const LOOKS = [
  ['', 'Job profitability'],
  [`invoice-activity?${CUSTOM}&compare=yes&job_class=SERVICE`, 'Downloads'],
  [`job-profitability?${CUSTOM}&measure=gross_margin`, 'Downloads'],
  [`technician-participation-profitability?${CUSTOM}`, 'Downloads'],
  ['receivables', 'Downloads'],
  [`collections/records?${CUSTOM}`, 'Adds up'],
] as const;

test.each(LOOKS)('%s has no barriers in either theme and fits a phone', async (place, text) => {
  await page.evaluate((hash) => void (location.hash = hash), `/reports${place === '' ? '' : `/${place}`}`);
  await shows(page, text);
  await page.$$eval('.as-table', (tables) => tables.forEach((table) => table.setAttribute('open', '')));
  await inspect(page, `reports-${LOOKS.findIndex(([each]) => each === place)}`);
});

test('a print has the figures and the table of the chart, and no controls', async () => {
  await go(`invoice-activity?${CUSTOM}&bucket=month`);
  await page.waitForSelector('.report-chart');
  await page.emulateMediaType('print');
  const visible = (selector: string): Promise<boolean> => page.$eval(selector, (element) => element.checkVisibility());
  for (const selector of ['.report-filters', '.downloads', '.groups .sort']) expect([selector, await visible(selector)]).toEqual([selector, false]);
  for (const selector of ['.report-chart svg', '.as-table table']) expect([selector, await visible(selector)]).toEqual([selector, true]);
  await page.setViewport({ width: 720, height: 960 });
  expect(await page.$eval('.groups td', (cell) => getComputedStyle(cell).display)).toBe('table-cell');
  expect(await page.title()).toBe(`Invoice activity · ${rangeName(RANGE)} · Test Heating & Air · Truckroll console`);
  await page.emulateMediaType('screen');
});

test('no page had errors, sent requests to another origin, or left anything in the browser', async () => {
  expect(await setup.leave()).toEqual([]);
});
