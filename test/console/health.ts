// The health of endpoints as their owners see it, and what owners do about failures: tests of endpoint.test.ts, which has the same system.
import { until } from '@truckroll/testing/until';
import { press, shows, tabTo, useConsole, value, visibleText, type ConsoleSetup } from './start-console.ts';
import { remember } from './history.ts';
import type { TestCompany } from '../support/system.ts';

const HOOKS = '/api/v1/integrations/webhooks';

let setup: ConsoleSetup;
useConsole((started) => (setup = started));

/** Creates an endpoint that fails until its circuit opens. */
async function failing(company: TestCompany): Promise<string> {
  setup.answer = (response) => void response.writeHead(500).end('no');
  const { id } = await setup.endpoint(company);
  for (let i = 0; i < 6; i++) await setup.happen(company);
  await until(
    'six deliveries that are retried',
    () => setup.api(company, 'GET', `${HOOKS}/${id}/deliveries?progress=retrying`),
    ({ length }) => length === 6,
  );
  await until(
    'an open circuit',
    () => setup.api(company, 'GET', `${HOOKS}/${id}`),
    ({ health }) => health.circuit.state === 'open',
  );
  return id;
}

test('a failing endpoint is red in the list and on its page, with since when, what is queued and when the next attempt is', async () => {
  const company = await setup.company();
  await failing(company);
  const page = await setup.enter(company);
  await page.waitForSelector('td .badge.bad');
  for (const text of ['Failing', 'since ', ' waiting', '0 % delivered', 'Retrying']) await shows(page, text);
  expect(await page.$eval('.sparkline', (image) => image.getAttribute('aria-label'))).toMatch(/^Last 24 hours: 0 delivered, [1-9]\d* failed$/);
  await press(page, 'Lead sync');
  await page.waitForSelector('h1 + .badge.bad');
  for (const text of [
    'Failing since ',
    'A test or a redelivery goes at once.',
    ', the oldest for ',
    'none within 30 days',
    'Retrying',
    '500 in ',
    ' · Marisol Núñez',
  ])
    await shows(page, text);
});

test('a test bypasses an open circuit and shows its result; once it succeeds, the endpoint shows as recovering', async () => {
  const company = await setup.company();
  const id = await failing(company);
  const page = await setup.enter(company, `/endpoints/${id}`);
  await press(page, 'Send a test');
  await shows(page, 'Test Failed 500 in ');
  setup.answer = (response) => void response.writeHead(204).end();
  await press(page, 'Send a test');
  await shows(page, 'Test Delivered 204 in ');
  await page.waitForFunction(() => document.querySelector('.tiles')?.textContent?.includes('Closed'));
  await page.waitForFunction(() => document.querySelector('h1 + .badge.bad') === null);
  await page.waitForSelector('tbody .badge.good');
});

test('charts can be read with the arrow keys and as tables, and the address keeps the chosen one of three periods', async () => {
  const company = await setup.company();
  const { id } = await setup.endpoint(company);
  await remember(setup.system, id, 100, { delivered: 40, failed: 8, bucket: 6 });
  const page = await setup.enter(company, `/endpoints/${id}`);
  await shows(page, 'Delivered and failed');
  const said = () => page.$eval('[role="slider"]', (chart) => chart.getAttribute('aria-valuetext'));
  await tabTo(page, 'Delivered and failed');
  const last = await said();
  await page.keyboard.press('Home');
  expect(await said()).not.toBe(last);
  for (let i = 0; i < 8; i++) await page.keyboard.press('ArrowRight');
  expect(await said()).toMatch(/^\d+:\d\d\s[AP]M: \d+ delivered, \d+ failed$/);
  await shows(page, (await said())!);
  await tabTo(page, 'As a table: Delivered and failed');
  await page.keyboard.press('Enter');
  const { delivered, failed, p50Ms } = await setup.api(company, 'GET', `${HOOKS}/${id}/health?period=day`);
  const column = (index: number) =>
    page.$$eval('.as-table[open] tbody tr', (rows, at) => rows.reduce((sum, row) => sum + Number(row.children[at]!.textContent), 0), index);
  expect([await column(1), await column(2)]).toEqual([delivered, failed]);
  await shows(page, `Median (p50) ${p50Ms} ms`);
  await press(page, 'The last 7 days');
  await page.waitForFunction(() => document.querySelector('[role="slider"]')?.getAttribute('aria-valuemax') === '167');
  expect(page.url()).toContain('period=week');
  await press(page, 'The last hour');
  await page.waitForFunction(
    () => !document.querySelector('[role="slider"]') || document.querySelector('[role="slider"]')?.getAttribute('aria-valuemax') === '59',
  );
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('[role="slider"]')?.getAttribute('aria-valuemax') === '167');
});

test('deliveries are filtered by retrying, by time and by subject through the address', async () => {
  const company = await setup.company();
  const id = await failing(company);
  setup.answer = (response) => void response.writeHead(204).end();
  const deliveryIds = (await setup.api(company, 'GET', `${HOOKS}/${id}/deliveries`)).map((each: any) => each.id).slice(0, 5);
  await setup.api(company, 'POST', `${HOOKS}/${id}/redeliver`, { deliveryIds });
  await until(
    'five deliveries',
    () => setup.api(company, 'GET', `${HOOKS}/${id}/deliveries?progress=delivered`),
    ({ length }) => length >= 5,
  );
  // The sixth delivery follows when its next attempt is due.
  const numbers: string[] = (await setup.api(company, 'GET', `${HOOKS}/${id}/deliveries`)).flatMap((each: any) => each.subjectNumber ?? []);
  expect(new Set(numbers).size).toBe(6);
  const page = await setup.enter(company, `/endpoints/${id}`);
  const rows = (count: number) =>
    page.waitForFunction((wanted) => document.querySelectorAll('section[aria-labelledby="deliveries"] tbody tr').length === wanted, {}, count);
  await rows(6);
  await page.select('select[name="progress"]', 'skipped');
  await shows(page, 'No deliveries match.');
  await page.select('select[name="progress"]', 'delivered');
  await page.waitForFunction(() => document.querySelectorAll('tbody .badge').length >= 5 && document.querySelector('tbody .badge:not(.good)') === null);
  await page.select('select[name="progress"]', '');
  await rows(6);
  await press(page, numbers[2]!);
  await rows(1);
  expect(await value(page, 'input[name="subject"]')).toBe(numbers[2]);
  expect(page.url()).toContain(`subject=${numbers[2]}`);
  await page.$eval('input[name="subject"]', (input) => void (input.value = ''));
  await page.focus('input[name="subject"]');
  await page.keyboard.type('SR-999999');
  await page.keyboard.press('Enter');
  await shows(page, 'No deliveries match.');
  await press(page, 'Show all');
  await rows(6);
  await page.select('select[name="time"]', 'hour');
  await rows(6);
  await page.select('select[name="time"]', 'range');
  await page.waitForSelector('input[name="before"]');
  await page.type('input[name="before"]', '01');
  await shows(page, 'Give a whole date and time.');
  await page.keyboard.type('0120261200A');
  // Chicago is six hours behind UTC.
  await page.waitForFunction(() => location.hash.includes('before=2026-01-01T06%3A00'));
  await page.waitForFunction(() => !document.body.innerText.includes('Give a whole date and time.'));
  await page.focus('select[name="time"]');
  await page.type('input[name="before"]', '01012');
  await shows(page, 'Give a whole date and time.');
  // What is typed in part stays when the screen is drawn again, and changes nothing.
  await page.select('select[name="progress"]', 'delivered');
  await page.waitForFunction(() => location.hash.includes('progress=delivered') && location.hash.includes('before=2026-01-01T06%3A00'));
  expect(await value(page, 'input[name="before"]')).toBe('0002-01-01T00:00');
  await page.keyboard.type('025');
  await page.waitForFunction(() => location.hash.includes('before=2025-01-01T06%3A00'));
});

test('several deliveries are selected and sent again by keyboard, and their results are shown', async () => {
  const company = await setup.company();
  // A separate path, because deliveries of earlier tests are still being retried.
  const { id } = await setup.endpoint(company, { enabled: false, url: `${setup.receiver.url}/several` });
  for (let i = 0; i < 4; i++) await setup.happen(company);
  await until(
    'four deliveries that are skipped',
    () => setup.api(company, 'GET', `${HOOKS}/${id}/deliveries?progress=skipped`),
    ({ length }) => length === 4,
  );
  let refused = false;
  setup.answer = (response, { path }) => {
    if (!path.endsWith('/several')) return void response.writeHead(204).end();
    response.writeHead(refused ? 204 : 400).end();
    refused = true;
  };
  const page = await setup.enter(company, `/endpoints/${id}`);
  await page.waitForFunction(() => document.querySelectorAll('tbody input[type="checkbox"]').length === 4);
  const first = await page.$eval('tbody input[type="checkbox"]', (box) => box.getAttribute('aria-label'));
  expect(first).toMatch(/^Select service_request\.created of SR-\d+$/);
  await page.focus('.selection input');
  await page.keyboard.press('Space');
  await tabTo(page, 'Redeliver 4');
  await tabTo(page, first!);
  await page.keyboard.press('Space');
  await page.focus('.selection input');
  await tabTo(page, 'Redeliver 3');
  await page.keyboard.press('Enter');
  await shows(page, '3 deliveries sent again: 2 delivered, 1 failed.');
  await page.waitForFunction(() => document.querySelectorAll('tbody .badge.good').length === 2);
  expect(await page.$$eval('tbody input:checked', (boxes) => boxes.length)).toBe(0);
});

test('shows a delivery that took too long as “Timed out after 15 s”, and its next attempt never in the past', async () => {
  const company = await setup.company();
  const id = await failing(company);
  // A test is attempted only once, so its attempt has no next one.
  const { id: testId } = await setup.api(company, 'POST', `${HOOKS}/${id}/test`);
  await until(
    'a test that failed',
    () => setup.api(company, 'GET', `${HOOKS}/${id}/deliveries/${testId}`),
    ({ progress }) => progress === 'failed',
  );
  await setup.system.database.query({
    text: `update integrations.webhook_attempts a set status = null, error = 'ATTEMPT_ERROR_TIMEOUT', error_message = 'The exchange was not over after 15 s.',
        ended_at = a.started_at + interval '15.01 s'
      where a.delivery_id = $1`,
    values: [testId],
  });
  const page = await setup.enter(company, `/endpoints/${id}`);
  await shows(page, 'Timed out after 15 s');
  await page.evaluate((to) => void (location.hash = to), `/endpoints/${id}/deliveries/${testId}`);
  await shows(page, 'None. Timed out after 15 s.');
  expect(await visibleText(page)).not.toMatch(/\.\.(?!\.)|not over after/);
  const [retried] = await setup.api(company, 'GET', `${HOOKS}/${id}/deliveries?progress=retrying`);
  await page.evaluate((to) => void (location.hash = to), `/endpoints/${id}/deliveries/${retried.id}`);
  await shows(page, 'Retrying');
  const next = await page.$$eval('dt', (terms) =>
    terms.filter(({ textContent }) => textContent === 'Next attempt').map((term) => Date.parse(term.nextElementSibling!.querySelector('time')!.dateTime)),
  );
  expect(next.filter((at) => at < Date.now() - 60_000)).toEqual([]);
});

test('the catalogue shows the payload of each event type', async () => {
  const company = await setup.company();
  const page = await setup.enter(company, '/event-types');
  const types: { type: string; example: string }[] = await setup.api(company, 'GET', '/api/v1/integrations/webhook-event-types');
  expect(types.length).toBeGreaterThan(3);
  for (const { type, example } of types) {
    await shows(page, type);
    await tabTo(page, `Payload of ${type}`);
    await page.keyboard.press('Enter');
    await page.waitForFunction(
      (wanted) => (document.querySelector(`[aria-label="payload of ${wanted}"]`) as HTMLElement)?.innerText.includes(`"type": "${wanted}"`),
      {},
      type,
    );
    expect(JSON.parse(example)).toMatchObject({ type, data: expect.any(Object) });
  }
});
