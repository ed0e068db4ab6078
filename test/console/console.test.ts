// What the owner of an integration does in the console, in a real browser.
import { readSheet } from 'read-excel-file/node';
import { fill, focused, focuses, press, saved, shows, tabTo, useConsole, value, type ConsoleSetup } from './start-console.ts';
import './saved-views.ts';
import './session.ts';

let setup: ConsoleSetup;
useConsole((started) => (setup = started));

describe('endpoints', () => {
  test('are created, with a secret that is shown once and can be copied', async () => {
    const company = await setup.company();
    const page = await setup.enter(company);
    await press(page, 'Add your first endpoint');
    await fill(page, '#name', 'Lead sync');
    await fill(page, '#url', 'http://10.0.0.1/');
    await press(page, 'Add endpoint');
    await shows(page, 'The endpoint was not added.');
    expect(await page.$eval('#url', (input) => input.getAttribute('aria-invalid'))).toBe('true');
    expect(await page.$eval('#url-error', (element) => element.textContent)).not.toBe('');
    await fill(page, '#url', setup.receiver.url);
    await press(page, 'Add endpoint');
    await shows(page, 'Copy this signing secret now.');
    const secret = await page.$eval('.secret code', (element) => element.textContent ?? '');
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await press(page, 'Copy signing secret');
    await shows(page, 'Copied');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await shows(page, secret);
    await press(page, 'I have stored it');
    await shows(page, 'Lead sync was added.');
    expect(await page.content()).not.toContain(secret);
    await press(page, 'Webhook endpoints');
    await shows(page, setup.receiver.url);
    expect(await page.content()).not.toContain(secret);
    expect(await setup.api(company, 'GET', '/api/v1/integrations/webhooks')).toMatchObject([{ name: 'Lead sync', enabled: true }]);
  });

  test('show each validation error next to its field', async () => {
    const page = await setup.enter(await setup.company(), '/endpoints/new');
    await page.waitForSelector('#name');
    for (const box of await page.$$('input[name="eventTypes"]')) await box.click();
    await press(page, 'Add endpoint');
    await shows(page, 'Correct what is marked below.');
    for (const field of ['name', 'url', 'eventTypes']) {
      const [text, described] = await page.evaluate((name) => {
        const owner = document.querySelector(`[aria-describedby~="${name}-error"]`);
        return [document.getElementById(`${name}-error`)?.innerText ?? '', owner?.contains(document.querySelector(`[name="${name}"]`))] as const;
      }, field);
      expect([field, described]).toEqual([field, true]);
      expect(text).toMatch(/^[A-Z].*\.$/);
    }
  });

  test('can be created with the keyboard alone', async () => {
    const company = await setup.company();
    const page = await setup.enter(company);
    await shows(page, 'No endpoints yet');
    await tabTo(page, 'Add your first endpoint');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#name');
    await focuses(page, 'Add endpoint');
    await tabTo(page, 'name');
    await page.keyboard.type('By keyboard');
    await tabTo(page, 'url');
    await page.keyboard.type(setup.receiver.url);
    await tabTo(page, 'interaction.completed');
    await page.keyboard.press('Space');
    await tabTo(page, 'Add endpoint');
    await page.keyboard.press('Enter');
    await shows(page, 'Your endpoint is ready');
    await tabTo(page, 'I have stored it');
    await page.keyboard.press('Enter');
    await shows(page, 'By keyboard was added.');
    // Until the list of endpoints has loaded, the document body has the focus.
    await page.waitForFunction(() => document.activeElement !== document.body);
    expect(await focused(page)).toMatch(/^By keyboard|^Endpoint/);
    const [endpoint] = await setup.api(company, 'GET', '/api/v1/integrations/webhooks');
    expect(endpoint).toMatchObject({
      name: 'By keyboard',
      eventTypes: ['service_request.created', 'service_request.status_changed', 'service_request.booked'],
    });
    await page.evaluate(() => document.body.focus());
  });

  test('are edited, sending only the changed fields, and deleted after a confirmation', async () => {
    const company = await setup.company();
    const { id } = await setup.endpoint(company);
    const page = await setup.enter(company, `/endpoints/${id}`);
    await press(page, 'Edit');
    await page.waitForSelector('#name');
    const bodies: unknown[] = [];
    page.on('request', (request) => void (request.method() === 'PATCH' && bodies.push(JSON.parse(request.postData() ?? ''))));
    await fill(page, '#name', 'Renamed');
    await press(page, 'Save changes');
    await shows(page, 'Renamed was saved.');
    expect(bodies).toEqual([{ name: 'Renamed' }]);
    await press(page, 'Delete…');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { hidden: true });
    expect(await focused(page)).toBe('Delete…');
    await press(page, 'Delete…');
    await press(page, 'Delete endpoint');
    await shows(page, 'Renamed was deleted.');
    await shows(page, 'No endpoints yet');
  });

  test('are shown as ownerless when their creator has left, with what to do', async () => {
    const [company, elsewhere] = [await setup.company(), await setup.company()];
    const { id } = await setup.endpoint(company);
    await setup.system.database.query({ text: 'update integrations.webhook_endpoints set created_by = $2 where id = $1', values: [id, elsewhere.userId] });
    const page = await setup.enter(company, '/endpoints');
    await shows(page, 'Ownerless');
    await press(page, 'Lead sync');
    await shows(page, 'The owner of this endpoint has left.');
    await shows(page, 'no one gets e-mails about it.');
  });

  test('get a new secret, shown once', async () => {
    const company = await setup.company();
    const { id, signingSecret } = await setup.endpoint(company);
    const page = await setup.enter(company, `/endpoints/${id}`);
    await press(page, 'Rotate secret…');
    await press(page, 'Rotate secret');
    await shows(page, 'whsec_');
    const secret = await page.$eval('.secret code', (element) => element.textContent);
    expect(secret).not.toBe(signingSecret);
    await press(page, 'I have stored it');
    await shows(page, 'The secret was rotated.');
    expect(await page.content()).not.toContain(secret);
  });
});

describe('deliveries', () => {
  test('shows a test as it arrives, with its request and response, and can send it again', async () => {
    setup.answer = (response) =>
      void response.writeHead(200, { 'content-type': 'application/json', 'x-note': 'by the receiver' }).end('{"taken":{"by":"lead sync"}}');
    const company = await setup.company();
    const { id } = await setup.endpoint(company);
    const page = await setup.enter(company, `/endpoints/${id}`);
    await press(page, 'Send a test');
    await shows(page, 'Test Delivered 200 in ');
    await page.waitForSelector('td .badge.good');
    await press(page, 'See request and response');
    await shows(page, '1 attempt');
    for (const text of ['webhook-signature', 'x-note', 'by the receiver', '127.0.0.1', '"by": "lead sync"', '"type": "webhook.test"']) await shows(page, text);
    await press(page, 'Redeliver');
    await shows(page, 'Redelivery Delivered 200 in ');
    await shows(page, '2 attempts');
    await page.goBack();
    await page.waitForSelector('table');
    expect(await page.$eval('h1', (heading) => heading.textContent)).toBe('Lead sync');
    const title = await page.$eval('td time', (time) => time.getAttribute('title'));
    expect(title).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? UTC$/);
  });

  test('sends the example of a chosen event type as a test', async () => {
    const company = await setup.company();
    const { id } = await setup.endpoint(company, { eventTypes: ['service_request.created'] });
    const page = await setup.enter(company, `/endpoints/${id}`);
    const types = (await page.waitForSelector('[aria-label="Type of the test event"]'))!;
    await page.waitForFunction((select) => (select as HTMLSelectElement).length === 5, {}, types);
    await types.select('interaction.completed');
    await press(page, 'Send a test');
    await shows(page, 'Test Delivered');
    await press(page, 'See request and response');
    await shows(page, '"type": "interaction.completed"');
  });

  test('shows the newest of many attempts first, and older ones on request', async () => {
    const company = await setup.company();
    const { id } = await setup.endpoint(company);
    const page = await setup.enter(company, `/endpoints/${id}`);
    await press(page, 'Send a test');
    await shows(page, 'Test Delivered');
    await setup.system.database.transaction(async (tx) => {
      // The trigger that counts attempts finds its tables through the services' search_path.
      await tx.query({ text: 'set local search_path to integrations' });
      await tx.query({
        text: `insert into webhook_attempts (day, delivery_id, lease_token, number, started_at, ended_at, succeeded, request_headers, response_headers,
            response_body, response_truncated)
          select a.day, a.delivery_id, gen_random_uuid(), 1 + i, a.started_at, a.ended_at, true, '[]', '[]', '', false
          from webhook_attempts a join webhook_deliveries d on d.day = a.day and d.id = a.delivery_id, generate_series(1, 24) i
          where d.endpoint_id = $1`,
        values: [id],
      });
    });
    await press(page, 'See request and response');
    await shows(page, '25 attempts');
    const numbers = () =>
      page.$$eval('details.attempt strong:first-child', (elements) =>
        elements.map((element) => element.textContent).filter((text) => text.startsWith('Attempt')),
      );
    expect(await numbers()).toEqual(Array.from({ length: 20 }, (_, i) => `Attempt ${25 - i}`));
    await press(page, 'Older attempts');
    await page.waitForFunction(() => document.querySelectorAll('details.attempt').length === 25);
    expect(await numbers()).toEqual(Array.from({ length: 25 }, (_, i) => `Attempt ${25 - i}`));
    expect(await page.$$eval('button', (buttons) => buttons.map((button) => button.textContent))).not.toContain('Older attempts');
  });

  test('shows a receiver’s response as text only', async () => {
    const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
    setup.answer = (response) => void response.writeHead(500, { 'content-type': 'text/html', 'x-hostile': '<b onmouseover=alert(1)>' }).end(hostile);
    const company = await setup.company();
    const { id } = await setup.endpoint(company, { name: '<img src=y onerror="window.hacked=1">' });
    const { id: deliveryId } = await setup.api(company, 'POST', `/api/v1/integrations/webhooks/${id}/test`);
    const page = await setup.enter(company, `/endpoints/${id}/deliveries/${deliveryId}`);
    await shows(page, hostile);
    await shows(page, '<b onmouseover=alert(1)>');
    expect(await page.$$('main img, main script, main b')).toEqual([]);
    expect(await page.evaluate(() => (window as any).hacked)).toBeUndefined();
  });

  test('shows JSON as written and foldable, or as plain text when it is too large for the browser', async () => {
    const strange =
      '{"__proto__":{"long":12345678901234567890.10,"twice":1,"twice":2},"<b>":"<img src=x onerror=\\"window.hacked=1\\"> \\u202e","none":null,"empty":[]}';
    let body = strange;
    setup.answer = (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    const company = await setup.company();
    const { id } = await setup.endpoint(company);
    const page = await setup.enter(company, `/endpoints/${id}`);
    await press(page, 'Send a test');
    await press(page, 'See request and response');
    for (const text of ['"long": 12345678901234567890.10', '"twice": 1', '"twice": 2', '"<b>": "<img src=x onerror=', '"none": null', '"empty": []'])
      await shows(page, text);
    const colours = await page.$$eval('.json bdi', (pieces) => new Set(pieces.map((piece) => getComputedStyle(piece).color)).size);
    expect(colours).toBe(4);
    expect(await page.$$('.json img, .json b')).toEqual([]);
    const response = '[aria-label="response body of attempt 1"]';
    const shown = (): Promise<string> => page.$eval(response, (element) => (element as HTMLElement).innerText);
    await page.locator(`${response} details details summary`).click();
    expect(await shown()).toContain('"__proto__": { 3 fields }');
    expect(await shown()).not.toContain('12345678901234567890');
    body = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    await press(page, 'Redeliver');
    await shows(page, '2 attempts');
    await page.waitForSelector('pre[aria-label="response body of attempt 2"]');
    expect(await page.evaluate(() => (window as any).hacked)).toBeUndefined();
  });

  test('are filtered and paged through the address, so that back and reload work', async () => {
    const company = await setup.company();
    const { id } = await setup.endpoint(company, { enabled: false });
    for (let i = 0; i < 27; i++) await setup.happen(company);
    const page = await setup.enter(company, `/endpoints/${id}`);
    const rows = (count: number) => page.waitForFunction((wanted) => document.querySelectorAll('tbody tr').length === wanted, {}, count);
    await rows(25);
    await press(page, 'Older');
    await rows(2);
    await page.goBack();
    await rows(25);
    await page.select('select[name="progress"]', 'delivered');
    await shows(page, 'No deliveries match.');
    expect(page.url()).toContain('progress=delivered');
    await page.reload();
    await shows(page, 'No deliveries match.');
    expect(await value(page, 'select[name="progress"]')).toBe('delivered');
    await press(page, 'Show all');
    await rows(25);
  });

  test('says what cannot be loaded, with what is still known and the request id', async () => {
    const company = await setup.company();
    const { id } = await setup.endpoint(company);
    const page = await setup.enter(company, `/endpoints/${id}`);
    await shows(page, 'Nothing was sent yet.');
    await page.setOfflineMode(true);
    await press(page, 'Refresh');
    await shows(page, 'The API could not be reached.');
    await shows(page, 'This is what was known at');
    await shows(page, 'Lead sync');
    await page.setOfflineMode(false);
    await press(page, 'Refresh');
    await page.waitForFunction(() => document.querySelector('.problem') === null);
    await page.goto(`${setup.system.baseUrl}/console#/endpoints/00000000-0000-4000-8000-000000000000`);
    await shows(page, 'Request ');
    await page.waitForSelector('.problem');
  });
});

describe('API keys', () => {
  test('are created, rotated and revoked; each value is shown once', async () => {
    const opens = async (key: string) => (await fetch(`${setup.system.baseUrl}/v1/company`, { headers: { authorization: `Bearer ${key}` } })).status;
    const once = () => page.$eval('.secret code', (element) => element.textContent ?? '');
    const company = await setup.company();
    const page = await setup.enter(company, '/keys');
    await press(page, 'Create key');
    await page.waitForSelector('#name');
    await press(page, 'Create key');
    await shows(page, 'The key was not created.');
    await page.focus('#expiresAt');
    await page.keyboard.type('11');
    await press(page, 'Create key');
    await shows(page, 'Give the whole date and time, or leave it empty.');
    await page.$eval('#expiresAt', (input) => void ((input as HTMLInputElement).value = ''));
    await fill(page, '#name', 'Nightly export');
    await press(page, 'Create key');
    await shows(page, 'Nightly export is ready');
    const created = await once();
    expect(await opens(created)).toBe(200);
    await press(page, 'I have stored it');
    await shows(page, `${created.slice(0, 8)}…${created.slice(-4)}`);
    expect(await page.content()).not.toContain(created);

    await press(page, 'Rotate Nightly export');
    await press(page, 'Rotate key');
    await shows(page, 'The new value of Nightly export');
    const rotated = await once();
    expect([await opens(created), await opens(rotated)]).toEqual([401, 200]);
    await press(page, 'I have stored it');

    await press(page, 'Revoke Nightly export');
    await press(page, 'Revoke key');
    await shows(page, 'Nightly export was revoked.');
    await page.waitForFunction(() => !document.querySelector('table')?.textContent?.includes('Nightly export'));
    await focuses(page, 'API keys');
    expect(await opens(rotated)).toBe(401);
  });
});

test('the home page of a company without sales has no chart of nothing', async () => {
  const page = await setup.enter(await setup.company(), '/home');
  await page.waitForFunction(() => document.body.innerText.split('Nothing in these two months.').length === 3);
  expect(await page.$('main svg')).toBeNull();
});

describe('audit trail', () => {
  test('shows who changed what, and filters by actor', async () => {
    const company = await setup.company();
    await setup.api(company, 'POST', '/api/v1/integrations/api-keys', { name: 'Nightly export' });
    const page = await setup.enter(company);
    await press(page, 'Audit');
    await shows(page, 'api_key.created');
    await shows(page, 'company.created');
    expect(await page.$eval('tbody tr:first-child td:nth-child(3)', ({ textContent }) => textContent)).toBe('api_key.createdNightly export');
    await page.click('tbody tr:first-child summary');
    await shows(page, 'Nightly export');
    await press(page, 'Ada Ortiz');
    await shows(page, 'Only changes by Ada Ortiz.');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
    await press(page, 'Show all');
    await shows(page, 'company.created');
    const { id } = await setup.endpoint(company);
    await setup.api(company, 'POST', `/api/v1/integrations/webhooks/${id}/test`);
    await press(page, 'Refresh');
    await shows(page, 'webhook.tested');
    await page.waitForFunction(() => document.querySelector('tbody tr td:nth-child(3)')?.textContent === 'webhook.testedLead sync');
  });
});

describe('requests', () => {
  test('shows what programs sent and what was wrong with it, filters it, and saves it as a spreadsheet', async () => {
    const company = await setup.company();
    for (const path of ['/v1/invoices', '/v1/jobs?limit=0', '/v1/nothing']) await setup.system.get(company, path);
    const page = await setup.enter(company);
    await press(page, 'Requests');
    await shows(page, 'query limit: OUT_OF_RANGE');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 3);
    expect(await page.$eval('tbody tr:last-child td:nth-child(3)', ({ textContent }) => textContent)).toMatch(/^GET \/v1\/invoices[0-9a-f-]{36}$/);
    await page.select('[name="status"]', 'failed');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2);
    await press(page, '/v1/jobs');
    await shows(page, 'Only requests of /v1/jobs.');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
    const sheet = await readSheet(await saved(page, 'Download for Excel'), 'Requests');
    const lines = sheet.slice(sheet.findIndex(([title]) => title === 'When (UTC)') + 1);
    expect(lines.map((cells) => cells.slice(1, 7))).toEqual([[expect.any(String), 'GET', '/v1/jobs', 400, 'INVALID_REQUEST', 'query limit: OUT_OF_RANGE']]);
    await page.select('[name="status"]', 'succeeded');
    await shows(page, 'No requests match.');
    await page.select('[name="status"]', '');
    await press(page, 'Show all');
    // A new request appears by itself.
    await setup.system.get(company, '/v1/tags');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 4);
  });

  test('saves all of them, whatever page is shown', async () => {
    const company = await setup.company();
    const page = await setup.enter(company);
    const request = { at: '2026-03-02T15:14:07.120331Z', key: { id: 'k', name: 'Export' }, method: 'GET', route: '/v1/jobs', status: 200, errorCode: null };
    await page.setRequestInterception(true);
    page.on('request', (asked) => {
      const { pathname, searchParams } = new URL(asked.url());
      if (!pathname.endsWith('/integrations/requests')) return void asked.continue();
      const first = Number(searchParams.get('cursor') ?? 0);
      const data = Array.from({ length: 100 }, (_, n) => ({ ...request, id: `r-${first + n}`, details: [], durationMs: 1, address: null }));
      const nextCursor = first === 2400 ? null : String(first + 100);
      void asked.respond({ contentType: 'application/json', body: JSON.stringify({ data, pagination: { nextCursor } }) });
    });
    await press(page, 'Requests');
    await press(page, 'Older');
    await shows(page, 'Newest');
    const sheet = await readSheet(await saved(page, 'Download for Excel'), 'Requests');
    expect(sheet.slice(sheet.findIndex(([title]) => title === 'When (UTC)') + 1).map((cells) => cells.at(-1))).toEqual(
      Array.from({ length: 2500 }, (_, n) => `r-${n}`),
    );
  });
});
