// Sending events of an endpoint again: what it missed, or all of a period.
import type { HTTPRequest } from 'puppeteer-core';
import { eventually, press, shows, useConsoleDesk, type Desk } from './desk.ts';

let desk: Desk;
useConsoleDesk((started) => (desk = started));

test('recovers deliveries that were skipped while an endpoint was disabled', async () => {
  const company = await desk.company();
  const { id } = await desk.endpoint(company);
  const page = await desk.enter(company, `/endpoints/${id}`);
  await press(page, 'Disable…');
  await shows(page, 'Nothing waits for it now. New events are skipped too');
  await press(page, 'Disable endpoint');
  await shows(page, 'Events are kept as skipped');
  for (let i = 0; i < 3; i++) await desk.happen(company);
  await press(page, 'Refresh');
  await page.waitForFunction(() => document.querySelectorAll('td .badge.off').length === 3);
  await press(page, 'Enable…');
  await page.click('dialog input[type="checkbox"]');
  await press(page, 'Enable endpoint');
  await shows(page, 'What was skipped can be recovered.');
  await press(page, 'Recover…');
  await press(page, 'Continue');
  await shows(page, 'Sent: 3 skipped and 0 failed deliveries');
  await shows(page, 'Not sent: what was delivered, what is pending, and tests.');
  await press(page, 'Recover');
  await shows(page, '3 deliveries queued again, 0 remain.');
  await press(page, 'Done');
  await page.waitForFunction(() => document.querySelectorAll('td .badge.good').length === 3);
  await desk.receiver.until(3);
});

test('continues a recovery over several requests until nothing remains, with the same end time', async () => {
  const company = await desk.company();
  const { id } = await desk.endpoint(company);
  const page = await desk.enter(company, `/endpoints/${id}`);
  await press(page, 'Recover…');
  await press(page, 'Continue');
  await shows(page, 'Send what it missed?');
  const answers = [
    { queued: 10_000, remaining: 2_345 },
    { queued: 2_345, remaining: 0 },
  ];
  const asked: { since: string; until: string }[] = [];
  await page.setRequestInterception(true);
  page.on('request', (request: HTTPRequest) => {
    if (!request.url().endsWith('/recover')) return void request.continue();
    asked.push(JSON.parse(request.postData() ?? ''));
    void request.respond({ status: 202, contentType: 'application/json', body: JSON.stringify({ data: answers[asked.length - 1] }) });
  });
  await press(page, 'Recover');
  await shows(page, '12,345 deliveries queued again, 0 remain.');
  expect(asked).toHaveLength(2);
  expect(asked[1]).toEqual(asked[0]);
  expect(Date.parse(asked[0]!.until) - Date.parse(asked[0]!.since)).toBeGreaterThan(86_000_000);
});

test('replays all events of a period, delivered ones too, after a confirmation that counts them', async () => {
  const company = await desk.company();
  const { id } = await desk.endpoint(company, { eventTypes: ['service_request.created'], filter: { channel: { $eq: 'PHONE' } } });
  const before = desk.receiver.received.length;
  for (let i = 0; i < 2; i++) await desk.happen(company);
  await eventually(
    'two delivered events',
    () => desk.api(company, 'GET', `/api/v1/integrations/webhooks/${id}/deliveries?progress=delivered`),
    ({ length }) => length === 2,
  );
  const page = await desk.enter(company, `/endpoints/${id}`);
  await press(page, 'Recover…');
  await page.locator('input[name="include"][value="ALL"]').click();
  await press(page, 'Continue');
  await shows(page, 'Sent: 2 events of its event types that its filter lets through, including those that were delivered.');
  await press(page, 'Back');
  await page.waitForSelector('input[name="include"][value="ALL"]:checked');
  await press(page, 'Continue');
  await press(page, 'Recover');
  await shows(page, '2 deliveries queued again, 0 remain.');
  await press(page, 'Done');
  const requests = await eventually(
    'four requests',
    async () => desk.receiver.received.slice(before),
    ({ length }) => length === 4,
  );
  const ids = requests.map(({ headers }) => headers['webhook-id']);
  expect([new Set(ids).size, ids.length]).toEqual([2, 4]);
});
