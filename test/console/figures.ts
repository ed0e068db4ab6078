// Figures of the console lead to exactly the records behind them, and filters that make no sense ask for nothing: tests of business.test.ts, which has
// the same company.
import { randomUUID } from 'node:crypto';
import type { HTTPRequest, Page } from 'puppeteer-core';
import { dollars } from '../../gateway/console/src/parts/money.ts';
import { inspect } from './inspect.ts';
import { balance, startBusiness, sum, type Business } from './start-business.ts';
import { give, press, shows, value, visibleText, type ConsoleSetup } from './start-console.ts';

const DAY_MS = 86_400_000;

let setup: ConsoleSetup;
let page: Page;
let owing: any;
let all: Business['all'];
let go: Business['go'];
let rows: Business['rows'];
/** Open invoices, among them one that was due and owes nothing. */
let open: any[];
let overdue: any[];

beforeAll(async () => {
  const business = await startBusiness();
  ({ setup, page, owing, all, go, rows } = business);
  const [due] = (await all('invoices?status=OPEN')).filter(({ aging }) => aging.bucket !== 'CURRENT');
  const { discount_cents: _, paid_cents: __, processing_cents: ___, open_balance_cents: ____, ...amounts } = due.amounts;
  const settled = { ...amounts, discount_cents: amounts.subtotal_cents, discounted_subtotal_cents: 0, tax_cents: 0, total_cents: 0 };
  const { aging: _____, payment_applications: ______, ...rest } = due;
  const line = { ...rest, id: randomUUID(), number: 'INV-SETTLED', amounts: settled };
  expect((await setup.system.importRecords(business.company, 'invoices', [line])).problems).toEqual([]);
  open = await all('invoices?status=OPEN');
  overdue = open.filter(({ aging }) => aging.bucket !== 'CURRENT');
  expect(overdue.map(({ number, amounts: of }) => [number, of.open_balance_cents])).toContainEqual(['INV-SETTLED', 0]);
}, 600_000);

const owes = ({ amounts }: any): boolean => amounts.open_balance_cents !== 0;
const cell = (selector: string): Promise<string | null> => page.$eval(selector, ({ textContent }) => textContent);

/** Opens the records behind a tile, and returns the tile's text. */
async function follow(title: string): Promise<string> {
  const find = (wanted: string) =>
    [...document.querySelectorAll<HTMLElement>('.tiles > div')].find((tile) => tile.querySelector('dt')?.textContent === wanted && tile.querySelector('a'));
  const tile = (await page.waitForFunction(find, {}, title)).asElement()!;
  const text = await tile.evaluate((element) => (element as HTMLElement).innerText);
  await (await tile.$('a'))!.click();
  return text;
}

test.each([
  ['/home', 'Open balance', () => open],
  ['/home', 'Overdue', () => overdue],
])('on %s, %s counts and adds up exactly the invoices that it leads to', async (place, title, wanted) => {
  await go(place);
  await page.waitForFunction(() => [...document.querySelectorAll('.tiles dd.soft')].some((of) => of.textContent.includes('invoices')));
  expect(await follow(title)).toContain(`${wanted().length} invoices`);
  const listed = await rows('Invoices, newest first');
  expect(listed.map(([number]) => number).sort()).toEqual(
    wanted()
      .map(({ number }) => number)
      .sort(),
  );
  expect(await cell('tfoot td:last-child')).toBe(dollars(balance(wanted())));
});

test.each([
  ['Open balance', () => open],
  ['Overdue', () => overdue],
])('on Money, %s is the sum of the invoices that it leads to, and those that owe nothing are counted beside it', async (title, wanted) => {
  await go('/money');
  await follow(title);
  const listed = await rows('Invoices, newest first');
  const owing = wanted().filter(owes);
  expect(listed.length).toBe(owing.length);
  expect(await cell('tfoot td:last-child')).toBe(dollars(balance(owing)));
  const rest = wanted().length - owing.length;
  await shows(page, `${rest} more ${rest === 1 ? 'owes' : 'owe'} nothing: list them, too`);
  await (await page.waitForSelector('p[role="status"] a'))!.click();
  await page.waitForFunction((count) => document.querySelectorAll('tbody tr').length === count, {}, wanted().length);
});

test.each([
  ['Open', () => open],
  ['Not due', () => open.filter(({ aging }) => aging.bucket === 'CURRENT')],
  ['Overdue', () => overdue],
])('in the report of receivables, %s counts and adds up the records that it leads to', async (title, wanted) => {
  await go('/reports/receivables');
  const tile = await follow(title);
  expect(tile).toContain(`${wanted().length} invoices`);
  await shows(page, 'Adds up');
  expect(await cell('tfoot td:first-child')).toBe(`Sum of ${wanted().length}`);
  expect(await cell('tfoot td:last-child')).toBe(dollars(balance(wanted())));
});

test('a customer’s overdue amount leads to the invoices that it adds up', async () => {
  const late = overdue.filter(({ account, amounts }) => account.id === owing.id && amounts.open_balance_cents !== 0);
  await go(`/customers/${owing.id}`);
  await shows(page, `${dollars(balance(late))} of it is overdue`);
  await page.click('.customer-head a[href*="OVERDUE"]');
  expect((await rows('Invoices, newest first')).length).toBe(late.length);
  expect(await cell('tfoot td:last-child')).toBe(dollars(balance(late)));
});

test('of more payments than are loaded the newest are listed, without a sum; a sum of some days is of what was received', async () => {
  const large = await setup.company();
  const now = Date.now();
  // The newest hundred are spread over four days. All others were created within minutes, a month ago.
  const at = (n: number): string => new Date(n < 100 ? now - n * 0.04 * DAY_MS : now - 30 * DAY_MS - n * 200).toISOString();
  const payments = Array.from({ length: 1150 }, (_, n) => ({
    id: randomUUID(),
    number: `PAY-${n + 1}`,
    account: { id: randomUUID(), name: 'Cedar Hill Bakery' },
    status: n % 3 === 0 ? 'FAILED' : 'PAID',
    method: 'CASH',
    amount_cents: 100 + n,
    currency: 'USD',
    occurred_at: at(n),
    created_at: at(n),
    updated_at: null,
    collected_by: null,
    invoice_allocations: [],
  }));
  expect((await setup.system.importRecords(large, 'payments', payments)).problems).toEqual([]);
  const own = await setup.enter(large, '/money/payments');
  await shows(own, 'were created last, and have no sum');
  const shown = await own.$$eval('tbody tr', (all) => all.map((row) => row.querySelector('td')!.innerText));
  expect(shown).toEqual(payments.slice(0, 1000).map(({ number }) => number));
  expect(await own.$('tfoot')).toBeNull();
  const day = new Date(now - 3 * DAY_MS).toISOString().slice(0, 10);
  await own.evaluate((from) => void (location.hash = `/money/payments?from=${from}`), day);
  await shows(own, 'Sum of paid');
  const listed = new Set(await own.$$eval('tbody tr', (all) => all.map((row) => row.querySelector('td')!.innerText)));
  expect(listed.size).toBeGreaterThan(50);
  const paid = payments.filter(({ number, status }) => listed.has(number) && status === 'PAID');
  expect(paid.length).toBeLessThan(listed.size);
  expect(await own.$eval('tfoot td:last-child', ({ textContent }) => textContent)).toBe(dollars(sum(paid.map(({ amount_cents: cents }) => cents))));
  await page.bringToFront();
});

/** The addresses that the page asks the API for until `text` is shown. */
async function askedUntil(place: string, text: string): Promise<string[]> {
  await go('/reports');
  await shows(page, 'Job profitability');
  const asked: string[] = [];
  const listen = (request: HTTPRequest): void => void (request.url().includes('/v1/') && asked.push(request.url()));
  page.on('request', listen);
  await go(place);
  await shows(page, text);
  page.off('request', listen);
  return asked;
}

const WRONG = [
  ['/money/invoices?due_from=2026-03-01&due_to=2026-02-01', '[aria-label^="Due:"]', 'The last day is before the first.'],
  ['/money/invoices?due_from=2026-13-01', '[aria-label^="Due:"]', 'Give a whole date.'],
  ['/money/invoices?least=lots', '[name="least"]', 'Give an amount in dollars, such as 120.50.'],
  ['/money/invoices?least=-5', '[name="least"]', 'Give an amount in dollars, such as 120.50.'],
  ['/money/invoices?show=BOGUS', '[name="show"]', '“BOGUS” is none of the choices.'],
  ['/money/payments?status=BOGUS', '[name="status"]', '“BOGUS” is none of the choices.'],
  ['/money/payments?from=2026-03-01&to=2026-02-01', '[aria-label^="Received:"]', 'The last day is before the first.'],
  ['/requests?from=2026-11-02T00:00:00.000Z&before=2026-11-01T00:00:00.000Z', '[name="before"]', 'The range ends here before it begins.'],
] as const;

test.each(WRONG)('%s asks for nothing, and says at the field %s what is wrong', async (place, field, text) => {
  const asked = await askedUntil(place, text);
  expect(asked.filter((url) => /\/v1\/(invoices|payments)\?|integrations\/requests\?/.test(url))).toEqual([]);
  expect(await page.$eval(field, (input) => document.getElementById(input.getAttribute('aria-describedby')!)?.textContent)).toBe(text);
  // The filter can be removed, whatever it is.
  if (!place.startsWith('/requests')) await page.waitForSelector('p.chosen button');
  if (place === WRONG[0][0]) await inspect(page, 'list-wrong');
});

test('a request that is wrong is not said to be tried again', async () => {
  await go('/money/payments?account_id=BOGUS');
  await shows(page, 'This could not be loaded.');
  await shows(page, 'Try now');
  expect(await page.$eval('.failed', (part) => (part as HTMLElement).innerText)).not.toContain('Trying again');
});

test('says which invoices were looked at if none match, and leads to all', async () => {
  await go(`/money/invoices?q=${(await all('invoices?status=PAID'))[0].number}&least=0`);
  await shows(page, 'None of the open invoices match.');
  await shows(page, 'Owed at least: $0.00');
  await press(page, 'Search all');
  await rows('Invoices, newest first');
});

test('an amount that cannot be read is said to be one while it is typed, and the list before it goes', async () => {
  await go('/money/invoices?show=ALL&least=1');
  await rows('Invoices, newest first');
  await page.type('[name="least"]', 'e');
  await page.keyboard.press('Tab');
  await shows(page, 'Give an amount in dollars, such as 120.50.');
  await shows(page, 'Nothing is listed until then.');
  expect([await value(page, '[name="least"]'), await page.$('tbody tr')]).toEqual(['1e', null]);
});

test('days are chosen by a name, in a calendar or typed, and either end may be open', async () => {
  await go('/money/payments');
  await rows('Payments, newest first');
  await press(page, 'Received: Any day');
  // Key by key: the year is 2, 20 and 202 before it is 2026.
  await page.waitForSelector('[name="to"]');
  await page.type('[name="to"]', '0228');
  await page.waitForFunction(() => location.hash === '#/money/payments?to=%3F');
  await shows(page, 'Give a whole date.');
  await page.keyboard.type('2026');
  await page.waitForFunction(() => location.hash === '#/money/payments?to=2026-02-28');
  await inspect(page, 'list-days');
  await page.type('[name="from"]', '0201');
  await page.waitForFunction(() => location.hash === '#/money/payments?to=2026-02-28&from=%3F');
  // Only the day that is typed in part is marked.
  expect(await page.$$eval('input[type="date"]', (inputs) => inputs.map((input) => input.ariaInvalid))).toEqual(['true', null]);
  await page.keyboard.type('2026');
  await page.waitForFunction(() => location.hash === '#/money/payments?to=2026-02-28&from=2026-02-01');
  await give(page, '[name="to"]', '');
  await page.waitForFunction(() => location.hash === '#/money/payments?from=2026-02-01');
  await press(page, 'Any day');
  await page.waitForFunction(() => location.hash === '#/money/payments');
});

test('an address that names no customer asks for none, and says so once', async () => {
  const asked = await askedUntil('/customers/xyz', 'has no customer at this address.');
  expect(asked.filter((url) => url.includes('xyz') || url.includes('account_id'))).toEqual([]);
  expect((await visibleText(page)).match(/no customer|could not/gi)).toHaveLength(1);
});
