// The console's customers in a browser, compared with what the API answers: tests of business.test.ts, which has the same company.
import { randomUUID } from 'node:crypto';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Page } from 'puppeteer-core';
import { dollars } from '../../gateway/console/src/parts/money.ts';
import type { TestCompany } from '../support/system.ts';
import { inspect } from './inspect.ts';
import { balance, startBusiness, type Business } from './start-business.ts';
import { press, shows, visibleText, type ConsoleSetup } from './start-console.ts';

let setup: ConsoleSetup;
let company: TestCompany;
let page: Page;
let owing: any;
let open: any[];
let all: Business['all'];
let go: Business['go'];
let rows: Business['rows'];

beforeAll(async () => void ({ setup, company, page, owing, open, all, go, rows } = await startBusiness()), 600_000);

async function search(text: string): Promise<void> {
  await page.waitForSelector('[name="search"]');
  await page.$eval('[name="search"]', (input) => (input as HTMLInputElement).select());
  await page.type('[name="search"]', text);
  await page.waitForFunction((wanted) => new URLSearchParams(location.hash.split('?')[1]).get('q') === wanted, {}, text.trim());
  await shows(page, 'found');
}

test('lists customers with their balances, and finds them as the API does, by the keyboard alone', async () => {
  await go('/customers');
  expect((await rows('Customers')).map(([name]) => name)).toEqual(
    (await all('accounts?archived=false')).slice(0, 25).map(({ name }) => expect.stringContaining(name)),
  );
  for (const text of [owing.name.slice(0, 4), owing.phone, owing.email, owing.billing_address.line_1].filter(Boolean)) {
    await search(text);
    const found = await all(`accounts?archived=false&search=${encodeURIComponent(text)}`);
    expect(found.map(({ id }) => id)).toContain(owing.id);
    await page.waitForFunction((count) => document.querySelectorAll('tbody tr').length === count, {}, Math.min(25, found.length));
  }
  await search(owing.name);
  await shows(page, dollars(balance(open)));
  await inspect(page, 'customers');
  await page.focus('[name="search"]');
  const at = (await all(`accounts?archived=false&search=${encodeURIComponent(owing.name)}`)).findIndex(({ id }) => id === owing.id);
  for (let steps = 0; steps <= at; steps++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForFunction((id) => location.hash === `#/customers/${id}`, {}, owing.id);
  await page.waitForFunction((name) => document.activeElement?.textContent === name, {}, owing.name);
});

test('opens the first customer that is found when Enter is pressed in the box', async () => {
  await go('/customers');
  await page.waitForSelector('[name="search"]');
  await page.type('[name="search"]', owing.email ?? owing.phone);
  await page.keyboard.press('Enter');
  await page.waitForFunction((id) => location.hash === `#/customers/${id}`, {}, owing.id);
});

test('keeps what is typed while a search begins', async () => {
  await go('/customers');
  await page.waitForSelector('[name="search"]');
  await page.evaluate(() => {
    const input = document.querySelector<HTMLInputElement>('[name="search"]')!;
    const type = (text: string): void => {
      input.value += text;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    };
    const replaceState = history.replaceState.bind(history);
    history.replaceState = (...given) => {
      history.replaceState = replaceState;
      replaceState(...given);
      type('x');
    };
    type('no such');
  });
  await page.waitForFunction(() => new URLSearchParams(location.hash.split('?')[1]).get('q') === 'no suchx');
});

test('shows a customer with the figures of each list', async () => {
  await go(`/customers/${owing.id}`);
  await shows(page, dollars(balance(open)));
  expect((await rows('Open invoices')).length).toBe(Math.min(5, open.length));
  const now = new Date().toISOString();
  const visits = await all(`job-appointments?account_id=${owing.id}`);
  const past = visits.filter(({ ends_at: at }) => at < now).sort((a, b) => b.starts_at.localeCompare(a.starts_at));
  expect((await rows('Past visits, newest first')).map(([, visit]) => visit!.split(' ')[0])).toEqual(past.slice(0, 5).map(({ number }) => number));
  const payments = await all(`payments?account_id=${owing.id}`);
  await shows(page, `Payments ${payments.length}`);
  await shows(page, `Jobs ${(await all(`jobs?account_id=${owing.id}`)).length}`);
  const text = await visibleText(page);
  for (const { name } of await all(`equipment?account_id=${owing.id}&status=ACTIVE`)) expect(text).toContain(name);
  for (const { address } of await all(`locations?account_id=${owing.id}`)) expect(text).toContain(address.formatted);
  for (const { name } of await all(`contacts?account_id=${owing.id}&archived=false`)) expect(text).toContain(name);
  await inspect(page, 'customer');
});

test('says which part of a customer cannot be loaded, and loads it again by itself', async () => {
  await go('/home');
  await shows(page, 'This month and last month');
  await page.setRequestInterception(true);
  let away = true;
  const error = { code: 'UNAVAILABLE', message: 'The service is unavailable.', request_id: 'r-1', details: [] };
  const headers = { 'retry-after': '5', 'access-control-allow-origin': '*' };
  const answer = (request: any): void =>
    void (away && request.url().includes('/v1/payments')
      ? request.respond({ status: 503, contentType: 'application/json', headers, body: JSON.stringify({ error }) })
      : request.continue());
  page.on('request', answer);
  try {
    await go(`/customers/${owing.id}`);
    await shows(page, 'This could not be loaded. The service is unavailable.');
    await page.waitForFunction(() => /Trying again in [1-5] s/.test(document.body.innerText));
    await shows(page, dollars(balance(open)));
    await rows('Open invoices');
    expect((await page.$$('.failed')).length).toBe(1);
    await shows(page, 'This is not shown, because these could not be loaded: payments.');
    expect((await page.$$('.timeline li')).length).toBe(0);
    await inspect(page, 'customer-away');
    away = false;
    await rows('Payments, newest first');
    await page.waitForSelector('.timeline li');
    expect(await visibleText(page)).not.toContain('This is not shown');
    expect((await page.$$('.failed')).length).toBe(0);
  } finally {
    page.off('request', answer);
    await page.setRequestInterception(false);
  }
});

test('says that a link leads to a record of no or another company', async () => {
  const other = await setup.company();
  const elsewhere = await setup.enter(other, `/customers/${owing.id}`);
  await shows(elsewhere, 'Test Heating & Air has no customer at this address.');
  await elsewhere.evaluate((to) => void (location.hash = to), `/records/invoices/${open[0].id}`);
  await shows(elsewhere, 'Test Heating & Air has no such record.');
  await page.bringToFront();
});

test('shows what happened with a customer, newest first, with calls', async () => {
  const intake = setup.system.channel('scheduling').client(IntakeServiceService);
  const started_at = (Date.now() - 60_000) * 1000;
  const call = { company_id: company.id, channel: 'INTERACTION_CHANNEL_CALL', direction: 'INTERACTION_DIRECTION_INBOUND', started_at };
  await intake.recordInteraction({ ...call, id: randomUUID(), account_id: owing.id, summary: 'The heater smells of gas' } as never);
  const other = (await all('accounts')).find(({ id }) => id !== owing.id);
  await intake.recordInteraction({ ...call, id: randomUUID(), account_id: other.id, summary: 'Nothing for this page' } as never);
  await go('/home');
  await shows(page, 'This month and last month');
  await go(`/customers/${owing.id}`);
  await shows(page, 'The heater smells of gas');
  const [jobs, visits, invoices, payments] = await Promise.all(
    ['jobs', 'job-appointments', 'invoices', 'payments'].map((path) => all(`${path}?account_id=${owing.id}`)),
  );
  const now = new Date().toISOString();
  const wanted = [
    ...jobs!.map(({ number, created_at: at }) => [at, `Job ${number}`]),
    ...visits!.map(({ number, starts_at: at }) => [at, `Visit ${number}`]),
    ...invoices!.map(({ number, issued_at: at }) => [at, `Invoice ${number}`]),
    ...payments!.map(({ amount_cents: cents, occurred_at: at }) => [at, `Payment of ${dollars(cents)}`]),
    [new Date(started_at / 1000).toISOString(), 'Call from the customer'],
    [owing.created_at, 'Became a customer'],
  ].filter(([at]) => at !== null && at <= now);
  await press(page, `Show all ${wanted.length}`);
  await page.waitForFunction(() => document.activeElement === document.querySelectorAll('.timeline li')[10]);
  const lines = () => page.$$eval('.timeline li > span', (items) => items.map(({ innerText }) => innerText));
  const times = await page.$$eval('.timeline time', (shown) => shown.map(({ dateTime }) => dateTime));
  const newest = wanted.map(([at]) => at.slice(0, 19)).sort();
  expect(times.map((at) => at.slice(0, 19))).toEqual(newest.reverse());
  for (const [, text] of wanted) expect((await lines()).filter((line) => line.startsWith(text))).not.toEqual([]);
  expect(await visibleText(page)).not.toContain('Nothing for this page');
  expect((await rows('Calls and messages, newest first')).map((cells) => cells.slice(1))).toEqual([['Call from the customer', 'The heater smells of gas']]);
});

test('lists the forms of a customer’s jobs, which read like documents', async () => {
  const forms = await all('form-responses');
  const form = forms.find(({ questions }) => questions?.some(({ value }: any) => value !== null));
  const jobs = new Set((await all(`jobs?account_id=${form.account_id}`)).map(({ id }) => id));
  await go(`/customers/${form.account_id}`);
  await shows(page, (await all(`accounts?ids=${form.account_id}`))[0].name);
  const own = forms.filter(({ job_id }) => jobs.has(job_id)).sort((a, b) => b.created_at.localeCompare(a.created_at));
  expect((await rows('Forms, newest first')).map(([name]) => name!.split(':')[0])).toEqual(own.slice(0, 5).map(({ name }) => name));
  await go(`/records/form-responses/${form.id}`);
  await shows(page, form.questions[0].label);
  const answers = await page.$$eval('.document tbody tr', (lines) => lines.map(({ innerText }) => innerText.toLowerCase()));
  expect(answers.length).toBe(form.questions.length);
  for (const { label, value } of form.questions) {
    const answer = (value ?? '–').toLowerCase().replaceAll('_', ' ');
    expect(answers.some((line) => line.includes(label.toLowerCase()) && line.includes(answer))).toBe(true);
  }
  await inspect(page, 'record-form');
});

test('shows answers as they were given, and codes in words', async () => {
  const form = (await all('form-responses')).find(({ questions }) => questions !== null);
  const answers = [
    ['YES_NO', 'YES', 'Yes'],
    ['PASS_FAIL_FLAG', 'NOT_TESTED', 'Not tested'],
    ['PASS_FAIL_FLAG', 'Pass, OK', 'Pass, OK'],
    ['CHOICE', 'Carrier XR-15', 'Carrier XR-15'],
    ['CHOICE', 'OFF_PEAK', 'OFF_PEAK'],
    ['TEXT', 'OK', 'OK'],
  ] as const;
  const questions = answers.map(([type, value], n) => ({
    ...form.questions[0],
    question_id: randomUUID(),
    answer_path: `/sections/9/questions/${n}`,
    type,
    value,
  }));
  const own = { ...form, id: randomUUID(), questions };
  expect((await setup.system.importRecords(company, 'form-responses', [own])).problems).toEqual([]);
  await go(`/records/form-responses/${own.id}`);
  await page.waitForFunction((count) => document.querySelectorAll('.document tbody tr').length === count, {}, answers.length);
  const shown = await page.$$eval('.document tbody td:last-child', (cells) => cells.map(({ innerText }) => innerText));
  expect(shown.map((text) => text.replace(/ Photo$/, ''))).toEqual(answers.map(([, , words]) => words));
});

describe('a customer with more than is read at once', () => {
  /** The jobs whose forms were requested. */
  const asked = new Set<string>();
  let more = false;
  const answers = new Map<string, () => object>();
  const answer = (request: any): void => {
    const { pathname, searchParams } = new URL(request.url());
    const body = answers.get(pathname.split('/').at(-1)!)?.();
    if (body === undefined) return void request.continue();
    for (const id of searchParams.getAll('job_id')) asked.add(id);
    request.respond({ contentType: 'application/json', body: JSON.stringify(body) });
  };
  const copies = (record: any, length: number, next: string | null): object => ({
    data: Array.from({ length }, () => ({ ...record, id: randomUUID() })),
    pagination: { next_cursor: next, nextCursor: next },
  });

  beforeAll(async () => {
    const [job] = await all(`jobs?account_id=${owing.id}`);
    const [form] = await all('form-responses');
    answers.set('jobs', () => copies(job, 150, null));
    answers.set('form-responses', () => copies(form, more ? 100 : 1, more ? 'next' : null));
    answers.set('interactions', () => copies({}, 0, more ? 'next' : null));
    await page.setRequestInterception(true);
    page.on('request', answer);
  });
  afterAll(async () => {
    page.off('request', answer);
    await page.setRequestInterception(false);
  });

  test('has the forms of all jobs', async () => {
    await go('/home');
    await shows(page, 'This month and last month');
    await go(`/customers/${owing.id}`);
    expect((await rows('Forms, newest first')).length).toBe(2);
    expect(asked.size).toBe(150);
  });

  test('says which lists are a part, and that what happened is one', async () => {
    more = true;
    await go('/home');
    await shows(page, 'This month and last month');
    await go(`/customers/${owing.id}`);
    await rows('Forms, only some of them');
    await shows(page, 'Forms 1,000 of more');
    await shows(page, 'This is a part of what happened: there are more calls and messages than were read.');
  });
});
