// Every screen must be free of problems that axe finds, and fit a phone's width. SCREENSHOTS=folder stores pictures of the screens.
import { until } from '@truckroll/testing/until';
import type { Page } from 'puppeteer-core';
import { give, press, shows, signIn, startConsole, value, type ConsoleSetup } from './start-console.ts';
import { remember } from './history.ts';
import type { TestCompany } from '../support/system.ts';
import { DESKTOP, PHONE } from './browser.ts';
import { inspect } from './inspect.ts';

const KEYS = '/api/v1/integrations/api-keys';
const LONG = 'a-very-long-path-segment-without-any-break-'.repeat(4);

let setup: ConsoleSetup;
let page: Page;
let owner: TestCompany;
let token: string;
const places: Record<string, readonly [place: string, text: string]> = {};

beforeAll(async () => {
  setup = await startConsole();
  const company = await setup.company();
  owner = company;
  token = setup.system.userToken(company);
  const hook = (id: string) => `/api/v1/integrations/webhooks/${id}`;
  const busy = await setup.endpoint(company, { name: 'Lead sync to the sales desk' });
  const healthy = await setup.endpoint(company, { name: 'Call log', url: `${setup.receiver.url}/calls` });
  const failing = await setup.endpoint(company, { name: 'Accounting', url: `${setup.receiver.url}/failing` });
  const recovering = await setup.endpoint(company, { name: 'Marketing', url: `${setup.receiver.url}/recovering` });
  await setup.endpoint(company, { name: 'Warehouse', url: `https://hooks.example.com/${LONG}`, eventTypes: ['interaction.completed'], enabled: false });
  const gone = await setup.endpoint(company, { name: 'Former CRM', url: `${setup.receiver.url}/gone` });
  await setup.api(company, 'POST', KEYS, { name: 'Nightly export to the accountant', expiresAt: '2099-01-01T00:00:00Z' });

  let failures = 1;
  let fixed = false;
  setup.answer = (response, { path }) => {
    if (path.endsWith('gone')) return void response.writeHead(410).end();
    if (path.endsWith('failing') || (path.endsWith('recovering') && !fixed))
      return void response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"no connection to the database"}');
    if (!path.endsWith('hooks')) return void response.writeHead(204).end();
    if (failures-- > 0)
      return void response.writeHead(503, { 'content-type': 'text/html' }).end(`<html><body><h1>Service unavailable</h1>${LONG}</body></html>`);
    response
      .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'c1f0c7f4-6f5e' })
      .end(JSON.stringify({ accepted: true, lead: { id: 4711, owner: 'Núñez' } }));
  };
  await setup.happen(company);
  await setup.receiver.until(5);
  for (let i = 0; i < 6; i++) await setup.happen(company);
  const tested = await setup.api(company, 'POST', `${hook(busy.id)}/test`);
  await until(
    'an endpoint that is disabled',
    () => setup.api(company, 'GET', hook(gone.id)),
    ({ enabled }) => enabled === false,
  );
  await until(
    'a test that succeeds',
    () => setup.api(company, 'GET', `${hook(busy.id)}/deliveries/${tested.id}`),
    ({ status }) => status === 'succeeded',
  );
  const log: any[] = await setup.api(company, 'GET', `${hook(busy.id)}/deliveries`);
  const retried = log.find(({ attempts }) => attempts[0]?.response?.status === 503)!;
  await setup.api(company, 'POST', `${hook(busy.id)}/deliveries/${retried.id}/redeliver`);
  await until(
    'a retry that succeeds',
    () => setup.api(company, 'GET', `${hook(busy.id)}/deliveries/${retried.id}`),
    ({ status }) => status === 'succeeded',
  );

  const circuitOf = async (id: string): Promise<string> => (await setup.api(company, 'GET', hook(id))).health.circuit.state;
  for (const { id } of [failing, recovering])
    await until(
      'an open circuit',
      () => circuitOf(id),
      (state) => state === 'open',
    );
  // A delivery that has failed twice waits for minutes, so it can still be recovered.
  await until(
    'a second attempt',
    () => setup.api(company, 'GET', `${hook(recovering.id)}/deliveries`),
    (log) => log.some(({ attempts }: any) => attempts.length > 1),
  );
  await remember(setup.system, healthy.id, 160, { delivered: 60, failed: 0, bucket: 7 });
  await remember(setup.system, busy.id, 160, { delivered: 30, failed: 3, bucket: 9 });
  await remember(setup.system, failing.id, 160, { delivered: 25, failed: 20, bucket: 12 });
  await remember(setup.system, recovering.id, 60, { delivered: 25, failed: 9, bucket: 8 });
  fixed = true;
  await setup.api(company, 'POST', `${hook(recovering.id)}/test`);
  await until(
    'a closed circuit',
    () => circuitOf(recovering.id),
    (state) => state === 'closed',
  );

  // The newest delivery may be waiting for the circuit, which opens after a few failures.
  const refused = (await setup.api(company, 'GET', `${hook(failing.id)}/deliveries`)).find(({ attempts }: any) => attempts.length > 0);

  for (const path of ['/v1/invoices', '/v1/invoices?created_from=yesterday&colour=red']) await setup.system.get(company, path);

  Object.assign(places, {
    endpoints: ['/endpoints', 'It answered 410 Gone.'],
    'endpoint-new': ['/endpoints/new', 'interaction.completed'],
    endpoint: [`/endpoints/${busy.id}`, 'webhook.test'],
    'endpoint-healthy': [`/endpoints/${healthy.id}?period=week`, 'Response time'],
    'endpoint-failing': [`/endpoints/${failing.id}`, 'Failing since'],
    'endpoint-recovering': [`/endpoints/${recovering.id}`, 'It answers again.'],
    'deliveries-range': [`/endpoints/${failing.id}?time=range&from=2026-01-01T12%3A00%3A00.000Z`, 'Select all'],
    'delivery-failing': [`/endpoints/${failing.id}/deliveries/${refused.id}`, 'no connection to the database'],
    'endpoint-disabled': [`/endpoints/${gone.id}`, 'Truckroll has disabled this endpoint.'],
    'endpoint-none-match': [`/endpoints/${busy.id}?progress=failed`, 'No deliveries match.'],
    'endpoint-edit': [`/endpoints/${busy.id}/edit`, 'Save changes'],
    delivery: [`/endpoints/${busy.id}/deliveries/${retried.id}`, 'Attempt 2'],
    keys: ['/keys', 'npm install http://'],
    'key-new': ['/keys/new', 'Expires'],
    audit: ['/audit', 'api_key.created'],
    requests: ['/requests', 'query created_from: INVALID_FORMAT'],
    'event-types': ['/event-types', 'interaction.completed'],
    nowhere: ['/nowhere', 'This address leads nowhere.'],
  });
  page = await setup.open();
}, 600_000);
afterAll(() => setup.stop());

test('signing in', async () => {
  await inspect(page, 'sign-in');
  await press(page, 'Sign in');
  await shows(page, 'Paste a user token.');
  await inspect(page, 'sign-in-wrong');
  await signIn(page, token);
});

test.each([
  'endpoints',
  'endpoint-new',
  'endpoint',
  'endpoint-healthy',
  'endpoint-failing',
  'endpoint-recovering',
  'deliveries-range',
  'delivery-failing',
  'endpoint-disabled',
  'endpoint-none-match',
  'endpoint-edit',
  'delivery',
  'keys',
  'key-new',
  'audit',
  'requests',
  'event-types',
  'nowhere',
])('%s', async (name) => {
  const [place, text] = places[name]!;
  await page.evaluate((to) => {
    location.hash = to;
  }, place);
  await shows(page, text);
  await inspect(page, name);
});

test('the home page counts the endpoints that fail or are degraded, and the navigation marks them', async () => {
  const states: string[] = (await setup.api(owner, 'GET', '/api/v1/integrations/webhooks')).map(({ health }: any) => health.state);
  const count = (state: string): number => states.filter((each) => each === state).length;
  expect([count('failing'), count('degraded')]).not.toContain(0);
  await page.evaluate(() => void (location.hash = '/home'));
  await shows(page, `${count('failing')} failing, ${count('degraded')} degraded`);
  const tile = await page.$$eval('.tiles > div', (tiles) => tiles.at(-1)!.textContent);
  expect(tile).toContain(`with problems${count('failing') + count('degraded')}`);
  expect(await page.$eval('.side [href="#/endpoints"]', ({ textContent }) => textContent)).toBe('Endpoints(some have problems)');
});

test('on a phone, the bar at the bottom opens the rest of the navigation', async () => {
  await page.setViewport(PHONE);
  await press(page, 'More');
  await page.locator('.developers [href="#/keys"]').click();
  await shows(page, 'Nightly export to the accountant');
  expect(await page.$eval('.developers', (list) => getComputedStyle(list).display)).toBe('none');
  await page.setViewport(DESKTOP);
});

test('errors, questions and secrets', async () => {
  await page.evaluate(() => {
    location.hash = '/endpoints/new';
  });
  await page.waitForSelector('#name');
  await press(page, 'Add endpoint');
  await shows(page, 'The endpoint was not added.');
  await inspect(page, 'endpoint-new-refused');
  await page.type('#name', 'Billing mirror');
  await page.type('#url', setup.receiver.url);
  await press(page, 'Add endpoint');
  await shows(page, 'Your endpoint is ready');
  await inspect(page, 'secret');
  await press(page, 'I have stored it');
  await shows(page, 'Billing mirror was added.');
  await inspect(page, 'endpoint-added');
  await press(page, 'Recover…');
  await inspect(page, 'recover');
  for (const [input, time, fault] of [
    ['#until', '2026-01-01T00:00', 'The range ends here before it begins.'],
    ['#until', '12026-01-01T00:00', 'Give the whole date and time, or leave it empty.'],
    ['#since', '0202-01-01T00:00', 'Give the whole date and time, or leave it empty.'],
    ['#since', '2100-01-01T00:00', 'Give a time before now.'],
  ] as const) {
    const before = await value(page, input);
    await give(page, input, time);
    await press(page, 'Continue');
    await shows(page, fault);
    expect(await page.$eval(input, (each) => each.getAttribute('aria-invalid'))).toBe('true');
    await give(page, input, before);
  }
  await inspect(page, 'recover-wrong');
  await press(page, 'Continue');
  await shows(page, 'Send what it missed?');
  await inspect(page, 'recover-confirm');
  await press(page, 'Recover');
  await shows(page, 'Nothing of that time');
  await inspect(page, 'recovered');
  await press(page, 'Done');
  await press(page, 'Delete…');
  await inspect(page, 'delete');
  await press(page, 'Delete endpoint');
  await shows(page, 'Billing mirror was deleted.');
});

test('no page had errors or sent requests to another origin', async () => {
  expect(await setup.leave()).toEqual([]);
});
