// Saved views by the API, and in the console: tests of console.test.ts, which has the same system.
import { UserAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import type { HTTPRequest } from 'puppeteer-core';
import type { TestCompany } from '../support/system.ts';
import { webhooksApi } from '../support/webhooks-api.ts';
import { inspect } from './inspect.ts';
import { press, shows, useConsole, type ConsoleSetup } from './start-console.ts';

const VIEWS = '/api/v1/integrations/views';

let setup: ConsoleSetup;
let company: TestCompany;
useConsole((started) => (setup = started));
beforeAll(async () => void (company = await setup.company()));

test('a view is kept under any name that an address can hold, and only its user may read it by name', async () => {
  const { call } = webhooksApi(setup.system, company);
  const foreign = setup.system.userToken(await setup.company());
  for (const name of ['50/50', 'v1.2', '...', '日本 & Ω?#%', 'x'.repeat(100)]) {
    const path = `${VIEWS}/${encodeURIComponent(name)}`;
    const saved = await call('PUT', path, { query: '/reports/receivables' });
    expect(saved).toMatchObject({ status: 200, body: { data: { name, query: '/reports/receivables', shared: false, createdBy: { id: company.userId } } } });
    expect(await call('GET', path)).toEqual(saved);
    expect((await call('GET', VIEWS)).body.data).toContainEqual(saved.body.data);
    expect((await call('GET', path, undefined, foreign)).status).toBe(404);
    expect(await call('DELETE', path)).toEqual(saved);
  }
  expect((await call('GET', VIEWS)).body).toEqual({ data: [] });
});

test('views need a user token, also to be read', async () => {
  const { call } = webhooksApi(setup.system, company);
  const message = 'This needs a user token: send one in place of the API key.';
  for (const [verb, path] of [
    ['GET', VIEWS],
    ['GET', `${VIEWS}/July`],
    ['PUT', `${VIEWS}/July`],
    ['DELETE', `${VIEWS}/July`],
  ] as const) {
    const body = verb === 'PUT' ? { query: '/reports' } : undefined;
    expect(await call(verb, path, body, company.apiKey)).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHENTICATED', message } } });
  }
});

test('views that the browser kept move to the API, and views of others are shared and cannot be changed', async () => {
  const client = setup.system.channel('integrations').client(UserAdminServiceService);
  const { user } = await client.createUser({ company_id: company.id, email: 'ben@example.com', first_name: 'Ben', last_name: 'Ruiz' });
  const colleague = { ...company, userId: user!.id };
  const put = (of: TestCompany, name: string, fields: object) => setup.api(of, 'PUT', `${VIEWS}/${encodeURIComponent(name)}`, fields);
  const page = await setup.enter(company, '/home');
  await put(colleague, 'Ben’s 50/50', { query: '/reports/receivables', shared: true });
  await put(colleague, 'Private', { query: '/reports/receivables', shared: false });
  await put(company, 'July', { query: '/reports/collections?bucket=day', shared: false });
  const key = `truckroll.views.${company.id}.${company.userId}`;
  const kept = ['July', 'August'].map((name) => ({ name, href: '#/reports/collections?bucket=week' }));
  await page.evaluate((to, text) => localStorage.setItem(to, text), key, JSON.stringify(kept));

  // A gateway of an earlier release has no such path. The rest of the screen stays, and so does what the browser keeps.
  const views = (request: HTTPRequest): void =>
    void (request.url().includes(VIEWS) ? request.respond({ status: 404, contentType: 'application/json', body: '{}' }) : request.continue());
  await page.setRequestInterception(true);
  page.on('request', views);
  await page.evaluate(() => void (location.hash = '/reports'));
  await shows(page, 'Saved views could not be loaded.');
  expect((await page.$$('.cards li')).length).toBe(5);
  page.off('request', views);
  await page.setRequestInterception(false);

  await press(page, 'Try now');
  await shows(page, 'July (2)');
  const shown = await page.$$eval('.saved li', (items) => items.map((item) => [...item.querySelectorAll('a, button, .soft')].map((part) => part.textContent)));
  expect(shown.toSorted()).toEqual([
    ['August', 'Share', 'Forget'],
    ['Ben’s 50/50', 'shared by Ben Ruiz'],
    ['July (2)', 'Share', 'Forget'],
    ['July', 'Share', 'Forget'],
  ]);
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
  await press(page, 'Share August');
  await shows(page, 'Stop sharing');
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Stop sharing August');
  const seen = await setup.api(colleague, 'GET', VIEWS);
  expect(seen.map(({ name }: { name: string }) => name).toSorted()).toEqual(['August', 'Ben’s 50/50', 'Private']);
  await inspect(page, 'saved-views');
  for (const name of ['July', 'July (2)', 'August']) {
    await press(page, `Forget ${name}`);
    await page.waitForFunction((label) => document.querySelector(`[aria-label="Forget ${label}"]`) === null, {}, name);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  }
});

test('a view that is saved again under its name stays shared', async () => {
  const page = await setup.enter(company, '/home');
  await setup.api(company, 'PUT', `${VIEWS}/Ours`, { query: '/reports/receivables', shared: true });
  await page.evaluate(() => void (location.hash = '/reports/collections?bucket=day'));
  await press(page, 'Save view…');
  await page.waitForSelector('dialog [name="name"]');
  await page.$eval('dialog [name="name"]', (input) => (input as HTMLInputElement).select());
  await page.keyboard.press('Backspace');
  const focused = page.evaluate(
    () =>
      new Promise((resolve) => {
        const seen = new MutationObserver(() => {
          if (document.querySelector('#name-error')?.textContent === 'Give the view a name.') resolve(document.activeElement?.role);
        });
        seen.observe(document.querySelector('dialog')!, { childList: true, characterData: true, subtree: true });
      }),
  );
  await press(page, 'Save');
  expect(await focused).toBe('alert');
  await page.type('dialog [name="name"]', 'Ours');
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('dialog [type="checkbox"]')!.checked);
  await press(page, 'Save');
  await shows(page, 'The view “Ours” was saved.');
  const [own] = await setup.api(company, 'GET', VIEWS).then((views: any[]) => views.filter(({ name }) => name === 'Ours'));
  expect(own).toMatchObject({ query: '/reports/collections?bucket=day', shared: true });
});

test('a view of the browser that the API refuses is listed with the reason, and can be renamed or removed', async () => {
  const page = await setup.enter(company, '/home');
  const key = `truckroll.views.${company.id}.${company.userId}`;
  const kept = ['x'.repeat(101), '..'].map((name) => ({ name, href: '#/reports/collections?bucket=week' }));
  await page.evaluate((to, text) => localStorage.setItem(to, text), key, JSON.stringify(kept));
  await page.evaluate(() => void (location.hash = '/reports'));
  await shows(page, 'It is in this browser only.');
  const reasons = await page.$$eval('.saved li .bad', (shown) => shown.map(({ textContent }) => textContent));
  expect(reasons).toEqual([expect.stringContaining('100'), expect.stringContaining('Give the view a name other than')]);
  await press(page, 'Remove .. from this browser');
  await page.waitForFunction(() => document.querySelectorAll('.saved li .bad').length === 1);
  await inspect(page, 'refused-views');
  await press(page, `Rename… ${kept[0]!.name}`);
  await page.waitForSelector('dialog [name="name"]');
  await page.$eval('dialog [name="name"]', (input) => (input as HTMLInputElement).select());
  await page.type('dialog [name="name"]', 'Weekly');
  await press(page, 'Save');
  await shows(page, 'The view “Weekly” was saved.');
  await page.waitForFunction(() => document.querySelectorAll('.saved li .bad').length === 0);
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
  expect((await setup.api(company, 'GET', VIEWS)).map(({ name }: any) => name)).toContain('Weekly');
});
