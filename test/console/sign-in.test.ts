// The console on a system whose issuer signs users in: signing in by OpenID Connect, and the home page of a demo company against what the API answers.
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@truckroll/testing/until';
import type { Page } from 'puppeteer-core';
import { createGateway } from '../../gateway/src/app.ts';
import { gatewayConfig } from '../../gateway/src/config.ts';
import { dollars } from '../../gateway/console/src/parts/money.ts';
import { twoMonths } from '../../gateway/console/src/parts/months.ts';
import { focused, focuses, press, shows, tabTo, visibleText } from './start-console.ts';
import { CONSOLE_SIGN_IN_NAME, WITHOUT_COMPANY, STRANGER, choose, signInAgain, startWithIssuer, type IssuerSetup } from './start-with-issuer.ts';
import { inspect } from './inspect.ts';

let setup: IssuerSetup;
// Chromium may have to be installed first.
beforeAll(async () => {
  setup = await startWithIssuer();
}, 600_000);
afterAll(() => setup.stop());

describe('signing in', () => {
  afterEach(async () => expect(await setup.leave()).toEqual([]));

  const signedIn = (page: Page) => page.waitForSelector('header.bar', { visible: true });
  const stored = (page: Page): Promise<Record<string, string>> => page.evaluate(() => ({ ...sessionStorage }));
  const claims = (part: string | undefined) => JSON.parse(Buffer.from(part ?? '', 'base64url').toString());

  /** Addresses that the tab asks for from now on, and what it sends to the token endpoint. */
  function watch(page: Page): { addresses: string[]; bodies: string[] } {
    const seen = { addresses: [] as string[], bodies: [] as string[] };
    page.on('request', (request) => {
      seen.addresses.push(request.url());
      if (request.url() === `${setup.issuer}/token`) seen.bodies.push(request.postData() ?? '');
    });
    return seen;
  }

  /** A tab that has begun to sign in and waits at the issuer, and the `state` of its sign-in. */
  async function begun(): Promise<{ page: Page; state: string }> {
    const page = await setup.open();
    await shows(page, 'Who are you?');
    const { addresses } = watch(page);
    await page.goto(`${setup.system.baseUrl}/console`);
    await shows(page, 'Who are you?');
    const request = addresses.find((address) => new URL(address).searchParams.has('code_challenge'))!;
    return { page, state: new URL(request).searchParams.get('state')! };
  }

  const answer = (parameters: Record<string, string>): string =>
    `${setup.system.baseUrl}/console?${String(new URLSearchParams({ iss: setup.issuer, ...parameters }))}`;

  test('signs in with one click, opens the place in the address, and survives a reload without the issuer', async () => {
    const page = await setup.open('#/keys');
    const { addresses } = watch(page);
    await shows(page, 'Test Heating & Air');
    await choose(page, 'Ada Ortiz');
    await signedIn(page);
    await shows(page, 'tests');
    await focuses(page, 'API keys');
    expect(page.url()).toBe(`${setup.system.baseUrl}/console#/keys`);

    const kept = await stored(page);
    expect(Object.keys(kept)).toEqual(['truckroll.token']);
    const [head, body] = kept['truckroll.token']!.split('.');
    expect(claims(head)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    expect(claims(body)).toMatchObject({ iss: setup.issuer, aud: 'truckroll', sub: setup.company.userId, company_id: setup.company.id });
    for (const address of addresses) expect(address).not.toContain('eyJ');
    expect(await page.content()).not.toContain(body!.slice(0, 40));

    addresses.length = 0;
    await page.reload();
    await shows(page, 'tests');
    expect(addresses.filter((address) => address.startsWith(setup.issuer))).toEqual([]);
  });

  test('ends the session when its token ends, and goes on in the same place after signing in again', async () => {
    const page = await setup.enter('#/keys');
    await signedIn(page);
    const token = await setup.token(3);
    await page.evaluate((short) => sessionStorage.setItem('truckroll.token', short), token);
    await page.reload();
    await signedIn(page);
    await shows(page, 'Your session has ended. It lasts as long as its token, which has expired.');
    expect(await stored(page)).toEqual({});
    await signInAgain(page);
    // The issuer still knows the user.
    await signedIn(page);
    expect(page.url()).toBe(`${setup.system.baseUrl}/console#/keys`);
  });

  test('says that a token which was kept has expired', async () => {
    const page = await setup.enter();
    await signedIn(page);
    const token = await setup.token(1);
    await page.evaluate((short) => sessionStorage.setItem('truckroll.token', short), token);
    const { exp } = claims(token.split('.')[1]);
    await delay(Math.max(0, exp * 1000 - Date.now()));
    await page.reload();
    await shows(page, 'Your session has ended.');
  });

  test('stays signed out after signing out, also in a new tab, and then asks who the user is', async () => {
    const page = await setup.enter();
    await signedIn(page);
    await press(page, 'Sign out');
    await shows(page, 'You say who you are at');
    expect(JSON.stringify(await stored(page))).not.toContain('eyJ');
    await page.reload();
    await shows(page, 'You say who you are at');
    const other = await page.browserContext().newPage();
    await other.goto(`${setup.system.baseUrl}/console`);
    await shows(other, 'You say who you are at');
    await signInAgain(other);
    await shows(other, 'Who are you?');
    await choose(other, 'Ada Ortiz');
    await signedIn(other);
    expect(Object.keys(await stored(other))).toEqual(['truckroll.token']);
    // The issuer signs them in by itself again.
    await page.reload();
    await signedIn(page);
    await other.close();
  });

  test('explains to a user without a company why they cannot enter, and lets them choose another account', async () => {
    const page = await setup.open();
    await choose(page, WITHOUT_COMPANY.name);
    await shows(page, 'your account belongs to no company in Truckroll. Ask who manages the users of your company.');
    await inspect(page, 'sign-in-no-company');
    await signInAgain(page);
    await choose(page, STRANGER.name);
    await shows(page, 'Truckroll does not know you as a user of a company.');
    expect(JSON.stringify(await stored(page))).not.toContain('eyJ');
    await signInAgain(page);
    await choose(page, 'Ada Ortiz');
    await signedIn(page);
  });

  test('refuses a code that was used before', async () => {
    const page = await setup.open();
    const { addresses, bodies } = watch(page);
    await choose(page, 'Ada Ortiz');
    await signedIn(page);
    const used = addresses.find((address) => address.startsWith(`${setup.system.baseUrl}/console?code=`))!;
    const state = new URL(used).searchParams.get('state');
    // In the tab that used it, the user stays signed in.
    await page.goto(used);
    await signedIn(page);
    expect(page.url()).toBe(`${setup.system.baseUrl}/console`);

    const other = await setup.open(used);
    await shows(other, 'This answer belongs to no sign-in that began in this tab, or was used before.');
    expect(other.url()).toBe(`${setup.system.baseUrl}/console`);

    // A thief who also has the verifier gets as far as the issuer.
    const verifier = new URLSearchParams(bodies[0]).get('code_verifier');
    await other.evaluate((pending) => sessionStorage.setItem('truckroll.sign-in', pending), JSON.stringify({ state, verifier, place: '' }));
    await other.goto(used);
    await shows(other, 'The sign-in took too long, or its code was used before. Sign in again.');
  });

  test('refuses an answer to another sign-in, from another issuer, and one that is a refusal', async () => {
    for (const [parameters, text] of [
      [{ code: 'a', state: 'another' }, 'This answer belongs to no sign-in that began in this tab'],
      [{ code: 'a', iss: 'https://evil.example' }, 'The answer came from another issuer, so you are not signed in.'],
      [{ error: 'access_denied' }, 'did not sign you in: the sign-in was cancelled, or you may not use the console.'],
      [{ error: 'server_error', error_description: 'The directory is closed' }, 'did not sign you in: The directory is closed.'],
      [{ code: 'made-up' }, 'The sign-in took too long, or its code was used before.'],
    ] as const) {
      const { page, state } = await begun();
      await page.goto(answer({ state, ...parameters }));
      await shows(page, text);
      expect(await page.$('header.bar')).toBeNull();
      expect(page.url()).toBe(`${setup.system.baseUrl}/console`);
    }
  });

  test('sends a new nonce, and refuses an ID token that repeats another', async () => {
    const page = await setup.open();
    const { addresses } = watch(page);
    const nonces: unknown[] = [];
    for (const changed of [false, true]) {
      await page.goto(`${setup.system.baseUrl}/console`);
      await shows(page, 'Who are you?');
      nonces.push(new URL(addresses.findLast((address) => new URL(address).searchParams.has('code_challenge'))!).searchParams.get('nonce'));
      if (!changed) continue;
      // The console's own tab alone can change what it expects.
      const atIssuer = page.url();
      await page.goto(`${setup.system.baseUrl}/console/icon.svg`);
      await page.evaluate(() => {
        const pending = JSON.parse(sessionStorage.getItem('truckroll.sign-in')!) as Record<string, string>;
        sessionStorage.setItem('truckroll.sign-in', JSON.stringify({ ...pending, nonce: 'another' }));
      });
      await page.goto(atIssuer);
      await choose(page, 'Ada Ortiz');
      await shows(page, 'sent an answer that cannot be trusted, so you are not signed in. Sign in again.');
      expect(await page.$('header.bar')).toBeNull();
    }
    expect(new Set(nonces).size).toBe(2);
    for (const nonce of nonces) expect(String(nonce).length).toBeGreaterThan(20);
  });

  test('says that the issuer cannot be reached, and goes on when it can', async () => {
    await setup.closeIssuer();
    const page = await setup.open('#/audit');
    await shows(page, 'could not be reached. Check the connection and try again.');
    await inspect(page, 'sign-in-issuer-down');
    await setup.openIssuer();
    await signInAgain(page);
    await choose(page, 'Ada Ortiz');
    await signedIn(page);
    await focuses(page, 'Audit trail');
  });

  test('refuses an issuer that is not the one whose tokens the gateway accepts', async () => {
    const settings = { ...setup.system.gatewayEnvironment, ...setup.settings, PORT: '0', TOKEN_ISSUER: `${setup.issuer}/` };
    const gateway = createGateway({ config: gatewayConfig(settings) });
    const { port } = await gateway.start();
    try {
      const page = await setup.open();
      await shows(page, 'Who are you?');
      const elsewhere = await setup.browser.newPage();
      await elsewhere.goto(`http://127.0.0.1:${port}/console`);
      await shows(elsewhere, `is not the issuer that this installation trusts: it calls itself ${setup.issuer}.`);
      await elsewhere.close();
    } finally {
      await gateway.destroy();
    }
  });

  test('works by keyboard, and fits a phone in both colour schemes', async () => {
    const page = await setup.open();
    await shows(page, 'Who are you?');
    await inspect(page, 'sign-in-issuer');
    const atUser = () => page.evaluate(() => document.activeElement?.tagName === 'BUTTON' && document.activeElement.textContent.includes('Ada Ortiz'));
    while (!(await atUser())) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await signedIn(page);
    await tabTo(page, 'Sign out');
    await page.keyboard.press('Enter');
    await shows(page, 'You say who you are at');
    await inspect(page, 'sign-in-console');
    expect(await focused(page)).toBe(`Sign in with ${CONSOLE_SIGN_IN_NAME}`);
    await page.keyboard.press('Enter');
    await shows(page, 'Who are you?');
    expect(await visibleText(page)).toContain('It asks for no password.');
  });
});

describe('the home page', () => {
  let page: Page;
  beforeAll(async () => {
    const { system, company } = setup;
    await system.importDemo(company, 1, 'business', new Date().toISOString());
    const importedAt = new Date().toISOString();
    await until(
      'everything imported to be in the reports',
      () => system.get(company, '/v1/reports/invoice-activity?start_date=2026-01-01&end_date=2026-02-01'),
      ({ status, body }) => status === 200 && body.report.as_of > importedAt,
    );
    page = await setup.enter();
  }, 180_000);

  async function list(path: string, filters: Record<string, string>): Promise<any[]> {
    const records: any[] = [];
    let cursor: string | undefined;
    do {
      const query = new URLSearchParams({ ...filters, limit: '100', ...(cursor && { cursor }) });
      const { body } = await setup.system.get(setup.company, `/v1/${path}?${String(query)}`);
      records.push(...body.data);
      cursor = body.pagination.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return records;
  }

  const today = (): string => new Date().toLocaleDateString('sv-SE', { timeZone: setup.company.timezone });
  const sum = (amounts: readonly number[]): number => amounts.reduce((all, each) => all + each, 0);

  test('shows this month and last month, with the figures of the reports', async () => {
    await shows(page, 'This month and last month');
    const { start, end } = twoMonths(today());
    for (const [report, column] of [
      ['invoice-activity', 'discounted_subtotal_cents'],
      ['collections', 'net_collected_cents'],
    ] as const) {
      const { body } = await setup.system.get(setup.company, `/v1/reports/${report}?start_date=${start}&end_date=${end}&bucket=month`);
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
    expect(tiles.slice(0, 2)).toEqual([
      `Open balance ${balance(open)} ${open.length} invoices`,
      `Overdue ${balance(overdue)} ${overdue.length} invoices due before today`,
    ]);
    const { body } = await setup.system.get(setup.company, '/api/v1/integrations/summary');
    expect(tiles[2]).toContain(`Unbooked service requests ${body.data.unbookedServiceRequests} `);
    expect(tiles[3]).toBe('Endpoints with problems 0 See the endpoints');
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
    await page.goto(`${setup.system.baseUrl}/console#/keys`);
    await shows(page, 'API keys');
    await page.locator('a.brand').click();
    await shows(page, 'This month and last month');
    await page.waitForFunction(() => document.title === 'Home · Test Heating & Air · Truckroll console');
  });

  test('had no errors and sent no requests elsewhere', async () => {
    expect(await setup.leave()).toEqual([]);
  });
});
