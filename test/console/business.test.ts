// The console's screens of records and money in a browser, compared with what the API answers.
import { randomUUID } from 'node:crypto';
import type { Page } from 'puppeteer-core';
import readXlsxFile, { readSheet } from 'read-excel-file/node';
import { dollars, tileDollars } from '../../gateway/console/src/parts/money.ts';
import { fresh } from '../reports/ask.ts';
import { DESKTOP } from './browser.ts';
import { inspect } from './inspect.ts';
import './customers.ts';
import './figures.ts';
import { balance, dayOf, startBusiness, sum, timezone, type Business } from './start-business.ts';
import { focuses, press, saved, shows, tabTo, visibleText, type ConsoleSetup } from './start-console.ts';

let setup: ConsoleSetup;
let page: Page;
let owing: any;
let open: any[];
let visit: any;
let contact: any;
let all: Business['all'];
let go: Business['go'];
let rows: Business['rows'];

// Chromium may have to be installed first.
beforeAll(async () => {
  ({ setup, page, owing, open, all, go, rows } = await startBusiness());
  visit = (await all('job-appointments'))[0];
  contact = (await all(`contacts?account_id=${owing.id}&archived=false`))[0];
}, 600_000);
afterAll(() => setup.stop());

test.each(['invoices', 'payments', 'jobs', 'visits', 'refunds'])('a record of %s reads like a document, with its JSON folded', async (kind) => {
  const path = kind === 'visits' ? 'job-appointments' : kind;
  const list = await all(`${path}${kind === 'invoices' ? '?status=PAID' : ''}`);
  const record = list.find(({ assignments, invoice_allocations: pays }) => (assignments ?? pays ?? [1]).length > 0);
  await go(`/records/${kind}/${record.id}`);
  await shows(page, 'Developer');
  expect(await page.$eval('h1', ({ textContent }) => textContent)).toBe(
    `${kind[0]!.toUpperCase()}${kind.slice(1, -1)}${record.number === undefined || record.number === null ? '' : ` ${record.number}`}`,
  );
  await shows(page, (record.account ?? record.job.account).name);
  if (kind === 'invoices') {
    const lines = await rows('Line items');
    expect(lines.map((line) => line.at(-1))).toEqual(record.line_items.map((line: any) => dollars(line.subtotal_cents)));
    const sums = await page.$$eval('.sums dd', (values) => values.map(({ textContent }) => textContent));
    expect(sums).toContain(dollars(record.amounts.total_cents));
    expect((await rows('Payments of this invoice')).map((line) => line.at(-1)).sort()).toEqual(
      record.payment_applications.map((application: any) => dollars(application.applied_cents)).sort(),
    );
  }
  if (kind === 'payments') {
    const numbers = (await all(`invoices?ids=${record.invoice_allocations.map((of: any) => of.invoice_id).join('&ids=')}`)).map(({ number }) => number);
    for (const number of numbers) await shows(page, number);
    await shows(page, dollars(record.amount_cents));
  }
  if (kind === 'jobs') await shows(page, 'Gross profit');
  if (kind === 'visits') expect((await rows('Technicians')).map(([name]) => name)).toEqual(record.assignments.map((of: any) => of.team_member.name));
  expect(await visibleText(page)).not.toContain(record.id);
  await inspect(page, `record-${kind}`);
  await page.click('.developer summary');
  await shows(page, `GET /v1/${path}/${record.id}`);
  expect(await page.$eval('.developer .json', ({ textContent }) => textContent)).toContain(record.id);
});

test('lists the visits of a day by time, those without a technician first', async () => {
  const local = (at: string): string => new Date(at).toLocaleDateString('sv-SE', { timeZone: timezone });
  const visits = await all('job-appointments');
  const byDay = Map.groupBy(visits, ({ starts_at: at }) => local(at));
  const [day, own] = [...byDay].sort(([, a], [, b]) => b.length - a.length)[0]!;
  await go(`/schedule?day=${day}`);
  const numbers = (unassigned: boolean): string[] =>
    own
      .filter(({ dispatch_status: status }) => (status === 'UNASSIGNED') === unassigned)
      .sort((a, b) => a.starts_at.localeCompare(b.starts_at))
      .map(({ number }) => number);
  expect((await rows('Visits with a technician, and canceled ones')).map(([, visit]) => visit!.split(' ')[0])).toEqual(numbers(false));
  await shows(page, `Without a technician ${numbers(true).length}`);
  await inspect(page, 'schedule');
  await page.click('.head a[href*="day="]');
  await page.waitForFunction((not) => !location.hash.includes(not), {}, day);
});

test('lists overdue customers by amount and age, with telephone, e-mail and last payment, as the open invoices add up', async () => {
  await go('/money');
  const overdue = (await all('invoices?status=OPEN')).filter(({ aging }) => aging.bucket !== 'CURRENT');
  const wanted = [...Map.groupBy(overdue, ({ account }) => account.id)]
    .map(([id, own]) => ({ id, cents: balance(own) }))
    .filter(({ cents }) => cents > 0)
    .sort((a, b) => b.cents - a.cents);
  const shown = await rows('Overdue customers, highest amount first');
  expect(shown.map((cells) => cells[1])).toEqual(wanted.slice(0, 25).map(({ cents }) => dollars(cents)));
  const [account] = await all(`accounts?ids=${wanted[0]!.id}`);
  await page.waitForFunction((mail) => document.querySelector('tbody tr')?.textContent.includes(mail), {}, account.email ?? account.name);
  const paid = Map.groupBy(await all('payments?status=PAID'), ({ account: of }) => of.id);
  const last = wanted.slice(0, 25).map(({ id }) => paid.get(id)?.sort((a, b) => b.occurred_at.localeCompare(a.occurred_at))[0]);
  await page.waitForFunction(() => ![...document.querySelectorAll('tbody td')].some(({ textContent }) => textContent === '…'));
  const links = await page.$$eval('tbody tr', (lines) =>
    lines.map((line) => line.querySelector('a[href*="/payments/"]')?.getAttribute('href')?.split('/').at(-1)),
  );
  expect(links).toEqual(last.map((payment) => payment?.id));
  expect(links.some((link) => link !== undefined)).toBe(true);
  await shows(page, dollars(balance(overdue)));
  await inspect(page, 'money');
  expect(await page.$eval('.tiles a[href="#/money"]', ({ textContent }) => textContent)).toBe(wanted.length.toLocaleString());
  await page.click('.tiles a[href="#/money"]');
  await focuses(page, 'overdue');
  const ofAge = await page.$$eval('tbody tr:first-child td:nth-child(n + 5)', (cells) => cells.map((cell) => cell.textContent));
  for (const [index, figure] of ofAge.entries()) {
    if (figure === '–') continue;
    await page.click(`tbody tr:first-child td:nth-child(${index + 5}) a`);
    await rows('Invoices, newest first');
    await page.waitForFunction((wanted) => document.querySelector('tfoot td:last-child')?.textContent === wanted, {}, figure);
    await page.goBack();
    await rows('Overdue customers, highest amount first');
  }
  await page.click('tbody tr td:nth-child(2) a');
  await shows(page, dollars(wanted[0]!.cents));
  await shows(page, account.name);
});

test('shows the cents of a large amount in a tile where there is room, at the focus, and in print', async () => {
  await go('/money');
  await shows(page, 'Overdue customers');
  const cents = balance(await all('invoices?status=OPEN'));
  expect(tileDollars(cents)).not.toBe(dollars(cents));
  const tile = (): Promise<string> => page.$eval('.tiles .figure', (figure) => (figure as HTMLElement).innerText);
  expect(await tile()).toBe(dollars(cents));
  // Two tiles in a row.
  await page.setViewport({ width: 430, height: 860 });
  expect(await tile()).toBe(tileDollars(cents));
  await page.focus('h1');
  await tabTo(page, await page.$eval('.tiles a', ({ textContent }) => textContent));
  expect(await tile()).toBe(dollars(cents));
  await page.focus('h1');
  await page.emulateMediaType('print');
  expect(await tile()).toBe(dollars(cents));
  await page.emulateMediaType('screen');
  await page.setViewport(DESKTOP);
});

test.each([
  ['/customers', 900],
  ['/money/invoices', 900],
  ['/money/payments', 900],
  ['/money', 900],
])('%s shows every column at %i px', async (place, width) => {
  await page.setViewport({ width, height: 860 });
  await go(place);
  await page.waitForFunction((hash) => location.hash === `#${hash}` && document.querySelector('main tbody tr'), {}, place);
  expect(await page.$eval('.scroll', ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  await page.setViewport(DESKTOP);
});

test.each([
  ['/money/invoices', 'invoices?status=OPEN', ({ amounts }: any) => amounts.open_balance_cents !== 0, 'Invoices'],
  ['/money/invoices?show=PAID&from=2026-01-01&to=2026-06-30', 'invoices?status=PAID&issued_from=2026-01-01&issued_before=2026-07-01', () => true, 'Invoices'],
  ['/money/invoices?show=ALL&least=500', 'invoices?open_balance_from=50000', () => true, 'Invoices'],
  ['/money/payments?method=CHECK&status=PAID', 'payments?method=CHECK&status=PAID', () => true, 'Payments'],
] as const)('%s lists what the API returns by these filters, newest first, and its sum', async (place, path, keep, title) => {
  await go('/money');
  await shows(page, 'Overdue customers');
  await go(place);
  const records = (await all(path)).filter(keep);
  const shown = await rows(`${title}, newest first`);
  expect(shown.map(([number]) => number).sort()).toEqual(records.map(({ number }) => number ?? 'Payment').sort());
  const cents = title === 'Invoices' ? balance(records) : sum(records.map(({ amount_cents: amount }) => amount));
  expect(await page.$eval('tfoot td:last-child', ({ textContent }) => textContent)).toBe(dollars(cents));
  if (!place.includes('show=')) await inspect(page, `list-${title.toLowerCase()}`);
});

test('says what was received on each day of a month by payment method, and leads to those payments', async () => {
  const paid = await all('payments?status=PAID');
  const month = dayOf(paid[0]).slice(0, 7);
  const ofMonth = paid.filter((payment) => dayOf(payment).startsWith(month));
  const amount = (payments: readonly any[]): string => dollars(sum(payments.map(({ amount_cents: cents }) => cents)));
  await go(`/money/deposits?month=${month}`);
  const shown = await rows('Received by day and payment method');
  const days = [...Map.groupBy(ofMonth, dayOf)].sort(([a], [b]) => b.localeCompare(a));
  expect(shown.map((cells) => cells[1])).toEqual(days.map(([, of]) => amount(of)));
  expect(await page.$eval('tfoot td:nth-child(2)', ({ textContent }) => textContent)).toBe(amount(ofMonth));
  await inspect(page, 'deposits');
  const cell = (await page.$('tbody tr:first-child td:nth-child(n + 3) a'))!;
  const figure = await cell.evaluate(({ textContent }) => textContent);
  await cell.click();
  await rows('Payments, newest first');
  expect(await page.$eval('tfoot td:last-child', ({ textContent }) => textContent)).toBe(figure);
  const { method } = Object.fromEntries(new URLSearchParams(await page.evaluate(() => location.hash.split('?')[1])));
  expect(figure).toBe(amount(days[0]![1].filter((payment) => payment.method === method)));
});

test('the columns of deposits can be chosen if there are many payment methods, and stay for other months', async () => {
  const company = await setup.company(timezone);
  const methods = ['CARD', 'ACH', 'CASH', 'CHECK', 'PAYPAL', 'VENMO', 'OTHER'];
  const [payment] = await all('payments?status=PAID');
  const at = '2026-08-15T12:00:00.000000Z';
  const own = methods.map((method, n) => ({ ...payment, id: randomUUID(), method, amount_cents: 100 * (n + 1), occurred_at: at, created_at: at }));
  const payments = own.map((each) => ({ ...each, updated_at: null, collected_by: null, invoice_allocations: [] }));
  expect((await setup.system.importRecords(company, 'payments', payments)).problems).toEqual([]);
  await fresh(setup.system, company);
  const tab = await setup.enter(company, '/money/deposits?month=2026-08');
  const heads = (): Promise<string[]> => tab.$$eval('th', (cells) => cells.map(({ textContent }) => textContent));
  await press(tab, 'Columns: 7 of 7 columns');
  for (const label of ['Card', 'Check']) await tab.locator(`label.choice ::-p-text(${label})`).click();
  await tab.keyboard.press('Escape');
  expect(await heads()).toEqual(['Day', 'Received', 'Bank transfer (ACH)', 'Cash', 'PayPal', 'Venmo', 'Other']);
  // The sum of a day includes every method.
  expect(await tab.$eval('tfoot td:nth-child(2)', ({ textContent }) => textContent)).toBe('$28.00');
  await press(tab, 'The month before');
  await tab.waitForFunction(() => location.hash.includes('month=2026-07') && location.hash.includes('column='));
  await press(tab, 'The next month');
  await press(tab, 'Columns: 5 of 7 columns');
  await press(tab, 'The usual columns');
  await tab.waitForFunction(() => document.querySelectorAll('th').length === 9 && !location.hash.includes('column='));
  await page.bringToFront();
});

describe('the month-end pack', () => {
  const MAKE = 'Make the month-end pack';

  test('is one spreadsheet whose sheets add up to the reports', async () => {
    const paid = await all('payments?status=PAID');
    const month = dayOf(paid[0]).slice(0, 7);
    await go(`/money/month-end?month=${month}`);
    const file = await saved(page, MAKE);
    await shows(page, 'Every sum agrees with its report.');
    await inspect(page, 'month-end');
    const sheets = new Map((await readXlsxFile(file)).map(({ sheet, data }) => [sheet, data]));
    const cellsBelow = (sheet: string, title: string): unknown[] => {
      const data = sheets.get(sheet)!;
      const head = data.findIndex((row) => row.includes(title));
      return data.slice(head + 1).map((row) => row[data[head]!.indexOf(title)]);
    };
    const facts = (sheet: string) => Object.fromEntries(sheets.get(sheet)!.slice(0, 3));
    expect(facts('Open invoices now')).toMatchObject({ 'As of': expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d \(/) });
    expect(Object.keys(facts('Invoices'))).toEqual(['Company', 'Sheet', 'Range']);
    const inCents = (of: readonly unknown[]): number => sum(of.map((each) => Math.round((each as number) * 100)));
    const owed = (await all('invoices?status=OPEN')).filter(({ amounts }) => amounts.open_balance_cents !== 0);
    const [first, after] = [`${month}-01`, new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1)).toISOString().slice(0, 10)];
    const issued = await all(`invoices?status=OPEN&status=PAID&issued_from=${first}&issued_before=${after}`);
    const received = paid.filter((payment) => dayOf(payment).startsWith(month));
    for (const [sheet, title, cents] of [
      ['Open invoices now', 'Open', balance(owed)],
      ['Invoices', 'Billed', sum(issued.map(({ amounts }) => amounts.total_cents))],
      ['Payments', 'Amount', sum(received.map(({ amount_cents: of }) => of))],
      ['Tax by rate', 'Tax amount', sum(issued.map(({ amounts }) => amounts.tax_cents))],
      ['Sales by job type', 'Net sales', sum(issued.map(({ amounts }) => amounts.discounted_subtotal_cents))],
    ] as const) {
      const cells = cellsBelow(sheet, title);
      expect([sheet, inCents(cells.slice(0, -1)), inCents(cells.slice(-1))]).toEqual([sheet, cents, cents]);
    }
    const numbers = new Map((await all('invoices')).map(({ id, number }) => [id, number]));
    const paying = received.map(({ invoice_allocations: of }) => of.map((each: any) => numbers.get(each.invoice_id)).join(', ') || null);
    expect(cellsBelow('Payments', 'Invoices').slice(0, -1)).toEqual(paying);
  });

  test('says which sum differs from its report, and offers to try again', async () => {
    await page.setRequestInterception(true);
    const empty = JSON.stringify({ data: [], pagination: { limit: 100, next_cursor: null }, meta: { request_id: 'r-1' } });
    const answer = (request: any): void =>
      void (request.url().includes('/v1/payments') ? request.respond({ contentType: 'application/json', body: empty }) : request.continue());
    page.on('request', answer);
    const file = await saved(page, MAKE);
    await shows(page, 'not every sum agrees with its report');
    expect(await page.$$eval('li.bad', (lines) => lines.map(({ textContent }) => textContent))).toEqual([
      expect.stringMatching(/^Payments\. Amount: \$0\.00, but the report says \$\d.*make it again\.$/),
    ]);
    expect(Object.fromEntries(await readSheet(file, 'Payments'))['Check']).toContain('but the report says');
    page.off('request', answer);
    await page.setRequestInterception(false);
  });
});

test('keeps a filter that is chosen in the address', async () => {
  await go('/money/invoices');
  await page.waitForSelector('[name="show"]');
  await page.select('[name="show"]', 'OVERDUE');
  await page.waitForFunction(() => location.hash === '#/money/invoices?show=OVERDUE');
  await page.reload();
  await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('[name="show"]')?.value === 'OVERDUE');
});

test('the sign that removes a filter stands apart from its name', async () => {
  await go('/money/invoices?show=ALL');
  await page.waitForSelector('p.chosen button');
  const gap = await page.$eval('p.chosen button', (pill) => {
    const name = document.createRange();
    name.selectNodeContents(pill.firstChild!);
    return pill.lastElementChild!.getBoundingClientRect().left - name.getBoundingClientRect().right;
  });
  expect(gap).toBeGreaterThanOrEqual(4);
});

test('a print of a list says its filters, without what changes them', async () => {
  await go('/money/payments?method=CHECK&status=PAID');
  await rows('Payments, newest first');
  await page.emulateMediaType('print');
  const seen = (): Promise<string[]> =>
    page.$$eval('main :is(button, select, input, nav a)', (all) => all.flatMap((each) => (each.checkVisibility() ? [(each as HTMLElement).innerText] : [])));
  expect(await seen()).toEqual(['Status: Paid', 'Method: Check']);
  await page.emulateMediaType('screen');
});

test('shows a pill for each filter that is set, which removes that one, or all', async () => {
  const pills = (): Promise<string[]> => page.$$eval('p.chosen button', (buttons) => buttons.map(({ textContent }) => textContent.replace(' ×', '')));
  await go(`/money/invoices?show=ALL&due_from=2026-01-05&least=50&account_id=${owing.id}`);
  await shows(page, `Customer: ${owing.name}`);
  expect(await pills()).toEqual([`Customer: ${owing.name}`, 'Show: All', 'Due: Jan 5, 2026 or later', 'Owed at least: $50.00', 'Remove all']);
  await page.click('button[aria-label="Due: Jan 5, 2026 or later, remove"]');
  await page.waitForFunction(() => !location.hash.includes('due_from') && location.hash.includes('least=50'));
  // The focus goes to the next pill.
  await focuses(page, 'Owed at least: $50.00 ×');
  await (await page.waitForSelector('p.chosen button:last-child'))!.click();
  await page.waitForFunction(() => location.hash === '#/money/invoices');
  await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'show');
  await page.waitForFunction(() => document.querySelector('p.chosen') === null);
  expect(await page.$eval('[name="show"]', (select) => (select as HTMLSelectElement).value)).toBe('OPEN');
});

describe('the search of everything', () => {
  const options = (): Promise<string[]> => page.$$eval('[role="option"]', (all) => all.map(({ textContent }) => textContent));

  /** Opens the search by its keys and types, until the API has answered for every kind. */
  async function find(text: string): Promise<void> {
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox');
    await page.keyboard.type(text);
    await shows(page, 'Arrow keys choose');
  }

  test.each([
    ['a customer by telephone', () => owing.phone, 'accounts', () => `#/customers/${owing.id}`],
    ['an invoice by number', () => open[0].number.toLowerCase(), 'invoices', () => `#/records/invoices/${open[0].id}`],
    ['a visit by number', () => visit.number, 'job-appointments', () => `#/records/visits/${visit.id}`],
    ['a job by number', () => visit.job.number, 'jobs', () => `#/records/jobs/${visit.job_id}`],
    ['a contact by name', () => contact.name, 'contacts', () => `#/customers/${contact.account.id}`],
  ])('finds %s, by the keyboard alone', async (_, text, path, hash) => {
    await go('/home');
    await shows(page, 'This month and last month');
    await find(text());
    const [selected, first] = await page.$eval('[role="combobox"]', (box) => [
      document.getElementById(box.getAttribute('aria-activedescendant')!)?.getAttribute('aria-selected'),
      document.querySelector('[role="option"]')!.id === box.getAttribute('aria-activedescendant'),
    ]);
    expect([selected, first]).toEqual(['true', true]);
    const found = await all(`${path}?search=${encodeURIComponent(text())}`);
    const titles: Record<string, string> = { accounts: 'Customers', contacts: 'Contacts', jobs: 'Jobs', 'job-appointments': 'Visits', invoices: 'Invoices' };
    const own = await page.$$eval(
      '[role="group"]',
      (groups, title) => groups.find((group) => group.textContent.startsWith(title))!.querySelectorAll('[role="option"]').length,
      titles[path]!,
    );
    expect(own).toBe(Math.min(5, found.length));
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    const before = await page.$$eval(
      '[role="option"]',
      (each, title) => each.findIndex((option) => option.parentElement!.textContent.startsWith(title)),
      titles[path]!,
    );
    for (let steps = 0; steps < before; steps++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForFunction((to) => location.hash === to, {}, hash());
    await page.waitForFunction(() => document.querySelector('dialog') === null);
  });

  test.each([
    ['the last seven digits of a telephone number', () => owing.phone.slice(-7)],
    ['a link to a telephone number', () => `tel:${owing.phone}`],
    ['a telephone number with an extension', () => `${owing.phone} ext. 12`],
    ['a telephone number with a short extension', () => `${owing.phone}x12`],
    ['the beginning of an e-mail address', () => owing.email.slice(0, owing.email.indexOf('@') + 3)],
    ['a link to an e-mail address', () => `mailto:${owing.email}`],
  ])('finds a customer by %s', async (_, text) => {
    await find(text());
    await shows(page, ' found. Arrow keys');
    expect((await options()).filter((each) => each.startsWith(owing.name))).not.toEqual([]);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.querySelector('dialog') === null);
  });

  test('is free of barriers, says when nothing is found, and Escape closes it', async () => {
    await go('/home');
    await shows(page, 'This month and last month');
    await find('example.com');
    await shows(page, 'The first 5 of each kind.');
    await inspect(page, 'finder');
    // A print does not have the search, which takes the focus from it.
    await page.focus('[role="combobox"]');
    await page.keyboard.type(' qqqqqq');
    await shows(page, 'Nothing is found by this.');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.querySelector('dialog') === null);
  });
});

test('no page had errors, sent requests to another origin, or left anything in the browser', async () => {
  expect(await setup.leave()).toEqual([]);
});
