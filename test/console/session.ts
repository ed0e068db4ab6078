// Signing in and out of the console, and the data that must not remain: tests of console.test.ts, which has the same system.
import type { HTTPRequest } from 'puppeteer-core';
import { fill, press, shows, signIn, useConsole, value, visibleText, type ConsoleSetup } from './start-console.ts';

let setup: ConsoleSetup;
useConsole((started) => (setup = started));

test('accepts only a user token, says what is wrong with any other, and opens the place in the address', async () => {
  const company = await setup.company();
  const page = await setup.open('/keys');
  await press(page, 'Sign in');
  await shows(page, 'Paste a user token.');
  await page.type('#token', company.apiKey);
  await press(page, 'Sign in');
  await shows(page, 'This is an API key.');
  await fill(page, '#token', 'not.a.token');
  await press(page, 'Sign in');
  await shows(page, 'This token was not accepted.');
  await shows(page, 'Request ');
  await fill(page, '#token', '');
  await signIn(page, `Bearer ${setup.system.userToken(company)}`);
  await shows(page, 'tests');
  await page.waitForFunction(() => document.activeElement?.textContent === 'API keys');
  expect(await page.title()).toBe('API keys · Test Heating & Air · Truckroll console');
  expect(await page.content()).not.toContain(setup.system.userToken(company).slice(0, 40));
});

test('shows the company, the time zone of all times and the user in the header', async () => {
  const company = await setup.company('Asia/Kolkata');
  await setup.endpoint(company);
  const page = await setup.enter(company);
  await shows(page, 'Lead sync');
  const header = await page.$eval('header.bar', (element) => element.innerText);
  for (const text of ['Test Heating & Air', 'Asia/Kolkata', 'Ada Ortiz']) expect(header).toContain(text);
  await press(page, 'Lead sync');
  await shows(page, 'Created');
  const [text, at] = await page.$eval('dl.facts time', (time) => [time.textContent, time.dateTime]);
  const local = new Date(Date.parse(at!) + 5.5 * 3_600_000);
  expect(text).toContain(`${((local.getUTCHours() + 11) % 12) + 1}:${local.toISOString().slice(14, 16)}`);
});

test('is set in Inter, and loads Latin Extended with the first text that needs it', async () => {
  const page = await setup.enter(await setup.company());
  const loaded = (): Promise<string[]> =>
    page.evaluate(async () => {
      await document.fonts.ready;
      return [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family, unicodeRange }) => `${family} ${unicodeRange.split(',')[0]}`);
    });
  expect(await loaded()).toEqual(['Inter U+0-FF']);
  await page.$eval('body', (body) => body.append('Łukasz Dvořák'));
  await page.waitForFunction(() => [...document.fonts].every(({ status }) => status === 'loaded'));
  expect(await loaded()).toEqual(['Inter U+0-FF', 'Inter U+100-2BA']);
});

test('keeps a session in its tab only, through a reload, until the user signs out', async () => {
  const company = await setup.company();
  const page = await setup.enter(company, '/event-types');
  await shows(page, 'service_request.created');
  await page.reload();
  await shows(page, 'service_request.created');
  const other = await page.browserContext().newPage();
  await other.goto(page.url());
  await other.waitForSelector('#token');
  await other.close();
  await press(page, 'Sign out');
  await page.waitForSelector('#token');
  expect(await page.$('header.bar')).toBeNull();
  expect(await page.evaluate(() => Object.values(sessionStorage).join())).not.toContain('eyJ');
  await page.reload();
  await page.waitForSelector('#token');
});

test('ends the sessions of all tabs when the user signs out in one of them', async () => {
  const company = await setup.company();
  const page = await setup.enter(company, '/event-types');
  await shows(page, 'service_request.created');
  const other = await page.browserContext().newPage();
  await other.goto(page.url());
  await signIn(other, setup.system.userToken(company));
  await shows(other, 'service_request.created');
  await page.bringToFront();
  await press(page, 'Sign out');
  await other.waitForSelector('#token');
  expect(await other.$('header.bar')).toBeNull();
  await other.close();
});

test('ends a session that was kept when the API no longer accepts its token', async () => {
  const page = await setup.open('/keys');
  await page.evaluate(() => sessionStorage.setItem('truckroll.token', 'not.a.token'));
  await page.reload();
  await shows(page, 'Your session has ended.');
  await signIn(page, setup.system.userToken(await setup.company()));
  await page.waitForFunction(() => document.activeElement?.textContent === 'API keys');
});

test('asks for a new token when the old one expires, and keeps what was being typed', async () => {
  const company = await setup.company();
  const page = await setup.enter(company, '/endpoints/new');
  await fill(page, '#name', 'Half typed');
  await fill(page, '#url', setup.receiver.url);
  await page.setRequestInterception(true);
  const error = { code: 'UNAUTHENTICATED', message: 'The token has expired.', request_id: 'r-1', details: [] };
  const answer = { status: 401, contentType: 'application/json', body: JSON.stringify({ error }) };
  const refuse = (request: HTTPRequest) => void (request.url().includes('/api/') ? request.respond(answer) : request.continue());
  page.on('request', refuse);
  await press(page, 'Add endpoint');
  await shows(page, 'Your session has ended. The token has expired.');
  page.off('request', refuse);
  await page.setRequestInterception(false);
  await signIn(page, setup.system.userToken(company));
  await shows(page, 'Add endpoint');
  expect(await value(page, '#name')).toBe('Half typed');
  await press(page, 'Add endpoint');
  await shows(page, 'Your endpoint is ready');
});

test('shows nothing of the previous user after another one signs in', async () => {
  const [first, second] = [await setup.company(), await setup.company()];
  await setup.endpoint(first, { name: 'Of the first' });
  const page = await setup.enter(first);
  await shows(page, 'Of the first');
  await page.setRequestInterception(true);
  const refuse = (request: HTTPRequest) => void (request.url().includes('/api/') ? request.respond({ status: 401, body: 'no' }) : request.continue());
  page.on('request', refuse);
  await press(page, 'Refresh');
  await shows(page, 'Your session has ended.');
  page.off('request', refuse);
  await page.setRequestInterception(false);
  expect(await visibleText(page)).not.toContain('Of the first');
  await signIn(page, setup.system.userToken(second));
  await shows(page, 'No endpoints yet');
  expect(await page.content()).not.toContain('Of the first');
});

test('reopens, after signing in, the dialog that was open when the session ended', async () => {
  const company = await setup.company();
  const { id } = await setup.endpoint(company);
  const page = await setup.enter(company, `/endpoints/${id}`);
  await press(page, 'Delete…');
  await page.setRequestInterception(true);
  const refuse = (request: HTTPRequest) => void (request.url().includes('/api/') ? request.respond({ status: 401, body: 'no' }) : request.continue());
  page.on('request', refuse);
  await press(page, 'Delete endpoint');
  await shows(page, 'Your session has ended.');
  page.off('request', refuse);
  await page.setRequestInterception(false);
  await signIn(page, setup.system.userToken(company));
  await shows(page, 'Delete Lead sync?');
  await press(page, 'Delete endpoint');
  await shows(page, 'Lead sync was deleted.');
});
