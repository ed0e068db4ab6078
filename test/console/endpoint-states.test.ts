// Settings of an endpoint that decide when something is sent, and with which headers.
import { eventually, fill, press, shows, useConsoleDesk, value, type Desk } from './desk.ts';

let desk: Desk;
useConsoleDesk((started) => (desk = started));

test('pauses and resumes an endpoint, and sends what was skipped when it is enabled again', async () => {
  const company = await desk.company();
  const { id } = await desk.endpoint(company);
  const page = await desk.enter(company, `/endpoints/${id}`);
  const newest = () => desk.api(company, 'GET', `/api/v1/integrations/webhooks/${id}/deliveries`);
  await press(page, 'Pause');
  await shows(page, 'This endpoint is paused.');
  for (let i = 0; i < 2; i++) await desk.happen(company);
  await eventually('two deliveries that wait', newest, (all) => all.length === 2 && all.every(({ status }: any) => status === 'pending'));
  await press(page, 'Refresh');
  await press(page, 'Disable…');
  await shows(page, '2 deliveries that wait are skipped at once.');
  await press(page, 'Cancel');
  await press(page, 'Resume');
  await shows(page, 'What has waited is being sent.');
  await eventually('two deliveries that arrived', newest, (all) => all.every(({ status }: any) => status === 'succeeded'));
  await press(page, 'Disable…');
  await press(page, 'Disable endpoint');
  await shows(page, 'Events are kept as skipped');
  await desk.happen(company);
  await eventually('a skipped delivery', newest, ([first]) => first.status === 'skipped');
  await press(page, 'Enable…');
  await press(page, 'Enable endpoint');
  await shows(page, 'What was skipped is being sent.');
  await eventually('a delivery that was skipped', newest, (all) => all.length === 3 && all.every(({ status }: any) => status === 'succeeded'));
});

test('sets a rate limit and headers, whose values are not shown again', async () => {
  const company = await desk.company();
  const { id } = await desk.endpoint(company);
  const page = await desk.enter(company, `/endpoints/${id}`);
  await press(page, 'Edit');
  await page.waitForSelector('input[name="maxPerSecond"]');
  await page.type('input[name="maxPerSecond"]', '25');
  await press(page, 'Add header');
  await page.waitForSelector('input[name="headerName"]');
  await page.type('input[name="headerName"]', 'X-Api-Key');
  await page.type('input[name="headerValue"]', 'known to the receiver');
  await press(page, 'Save changes');
  for (const text of ['25 a second', 'X-Api-Key']) await shows(page, text);
  await press(page, 'Edit');
  await page.waitForSelector('input[name="headerValue"][placeholder="unchanged"]');
  expect(await page.content()).not.toContain('known to the receiver');
  await page.$eval('input[name="maxPerSecond"]', (input) => void (input.value = ''));
  await press(page, 'Save changes');
  await shows(page, 'was saved.');
  expect(await desk.api(company, 'GET', `/api/v1/integrations/webhooks/${id}`)).toMatchObject({ maxPerSecond: null, headers: [{ name: 'X-Api-Key' }] });
  await press(page, 'Edit');
  await press(page, 'Remove header 1');
  await press(page, 'Add header');
  await page.waitForSelector('input[name="headerName"]');
  await page.type('input[name="headerName"]', 'Host');
  await press(page, 'Save changes');
  await shows(page, 'Choose another name');
});

test('sends alerts to addresses of users, and names the address that is none', async () => {
  const company = await desk.company();
  const { id, createdBy } = await desk.endpoint(company);
  const page = await desk.enter(company, `/endpoints/${id}/edit`);
  await page.waitForSelector('#alertEmails');
  expect(await value(page, '#alertEmails')).toBe(createdBy.email);
  await page.type('#alertEmails', '\nelsewhere@example.com');
  await press(page, 'Save changes');
  await shows(page, 'elsewhere@example.com: ');
  expect(await page.$eval('#alertEmails', (field) => field.getAttribute('aria-invalid'))).toBe('true');
  await fill(page, '#alertEmails', ' ');
  await press(page, 'Save changes');
  await shows(page, 'To no one');
  expect(await desk.api(company, 'GET', `/api/v1/integrations/webhooks/${id}`)).toMatchObject({ alertEmails: [] });
  await press(page, 'Edit');
  await page.waitForSelector('#alertEmails');
  await page.type('#alertEmails', createdBy.email);
  await press(page, 'Save changes');
  await shows(page, createdBy.email);
  expect(await desk.api(company, 'GET', `/api/v1/integrations/webhooks/${id}`)).toMatchObject({ alertEmails: [createdBy.email] });
});

test('are listed worst first: a paused one before one that is well, and what users disabled last', async () => {
  const company = await desk.company();
  for (const [name, state] of [
    ['A, off', 'DISABLED'],
    ['B, well', 'ENABLED'],
    ['C, held', 'PAUSED'],
  ] as const) {
    const { id } = await desk.endpoint(company, { name });
    await desk.api(company, 'PATCH', `/api/v1/integrations/webhooks/${id}`, { state });
  }
  const page = await desk.enter(company);
  await shows(page, 'C, held');
  expect(await page.$$eval('td a.name', (links) => links.map(({ textContent }) => textContent))).toEqual(['C, held', 'B, well', 'A, off']);
  expect(await page.$$eval('td .badge', (badges) => badges.map(({ textContent }) => textContent))).toEqual(['Paused', 'Idle', 'Disabled']);
  expect(await page.$('svg.sparkline')).toBeNull();
});
