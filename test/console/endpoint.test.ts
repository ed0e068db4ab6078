// What the console does with one endpoint: its content filter, the settings that decide what is sent, and sending again.
import { until } from '@truckroll/testing/until';
import type { HTTPRequest, Page } from 'puppeteer-core';
import { fill, focuses, press, shows, tabTo, useConsole, value, visibleText, TYPES, type ConsoleSetup } from './start-console.ts';
import { inspect } from './inspect.ts';
import './health.ts';

const HOOKS = '/api/v1/integrations/webhooks';

let setup: ConsoleSetup;
useConsole((started) => (setup = started));

/** A page with an endpoint of a new company. */
async function opened(fields?: object) {
  const company = await setup.company();
  const { id } = await setup.endpoint(company, fields);
  return { company, id, page: await setup.enter(company, `/endpoints/${id}`) };
}

describe('a content filter', () => {
  async function choose(page: Page, name: string, option: string): Promise<void> {
    const element = await page.waitForSelector(`[aria-label="${name}"]:not(:disabled)`);
    await element!.select(option);
  }

  const errorOf = (page: Page, name: string): Promise<string | undefined> =>
    page.$eval(`[aria-label="${name}"]`, (group) => document.getElementById(group.getAttribute('aria-describedby') ?? '')?.innerText);

  test('is made of conditions, tried on recent events, saved, and shown in words', async () => {
    const company = await setup.company();
    const { id } = await setup.endpoint(company, { eventTypes: ['service_request.created', 'interaction.completed'] });
    for (let i = 0; i < 3; i++) await setup.happen(company);
    await setup.receiver.until(3);
    const page = await setup.enter(company, `/endpoints/${id}`);
    await shows(page, 'None: every event of these types is sent.');
    await press(page, 'Edit');
    await press(page, 'Add condition');
    await choose(page, 'Path of condition 1', 'channel');
    await choose(page, 'Operator of condition 1', '$in');
    await page.locator('input[type="checkbox"][value="PHONE"]').click();
    await press(page, 'Try on recent events');
    await shows(page, '3 of the newest 3 events of the company would be sent.');
    expect((await page.$$('.preview tbody tr')).length).toBe(3);
    await shows(page, 'Marisol Núñez');
    await inspect(page, 'endpoint-filter');
    await press(page, 'Add condition');
    await choose(page, 'Path of condition 2', 'contact_name');
    await choose(page, 'Operator of condition 2', '$startsWith');
    await page.type('[aria-label="Value of condition 2"]', 'Ada');
    expect(await page.$('.preview tbody tr')).toBeNull();
    await press(page, 'Try on recent events');
    await shows(page, '0 of the newest 3 events');
    await press(page, 'Save changes');
    await shows(page, 'channel is one of PHONE');
    await shows(page, 'contact_name begins with "Ada"');
    const filter = { channel: { $in: ['PHONE'] }, contact_name: { $startsWith: 'Ada' } };
    expect(await setup.api(company, 'GET', `${HOOKS}/${id}`)).toMatchObject({ filter });
    await press(page, 'Edit');
    await press(page, 'Remove condition 2');
    await press(page, 'Remove condition 1');
    await page.waitForFunction(() => document.activeElement?.textContent === 'Add condition');
    await press(page, 'Save changes');
    await shows(page, 'None: every event of these types is sent.');
    expect(await setup.api(company, 'GET', `${HOOKS}/${id}`)).toMatchObject({ filter: null });
  });

  test('keeps what was not edited exactly, and several conditions on one path', async () => {
    const company = await setup.company();
    const filter = {
      created_at: { $gte: '2026-03-01T00:00:00.123456-06:00', $lt: '2027-01-01T00:00:00Z' },
      'business_unit.id': { $nin: ['25b6f769-2b68-47e2-86f3-486e7d414ed9'] },
      contact_email: { $exists: false },
      summary: { $in: ['one\ntwo', 'three'] },
    };
    const { id } = await setup.endpoint(company, { filter, eventTypes: ['service_request.created'] });
    const page = await setup.enter(company, `/endpoints/${id}`);
    for (const text of ['created_at is at or after', 'created_at is before', 'business_unit.id is none of', 'contact_email has no value'])
      await shows(page, text);
    await page.waitForSelector('time[title="2026-03-01T00:00:00.123456-06:00"]');
    await press(page, 'Edit');
    await choose(page, 'Operator of condition 4', 'present');
    await press(page, 'Save changes');
    await shows(page, 'contact_email has a value');
    expect((await setup.api(company, 'GET', `${HOOKS}/${id}`)).filter).toEqual({ ...filter, contact_email: { $exists: true } });
  });

  test('reads numbers, and times in the company’s time zone', async () => {
    const company = await setup.company('America/Denver');
    const { id } = await setup.endpoint(company, { eventTypes: ['interaction.completed'] });
    const page = await setup.enter(company, `/endpoints/${id}/edit`);
    await press(page, 'Add condition');
    await choose(page, 'Path of condition 1', 'duration_seconds');
    await choose(page, 'Operator of condition 1', '$gte');
    await page.type('[aria-label="Value of condition 1"]', '90');
    await press(page, 'Add condition');
    await choose(page, 'Path of condition 2', 'started_at');
    await page.$eval('[aria-label="Value of condition 2"]', (input) => {
      (input as HTMLInputElement).value = '2026-01-15T08:30';
      input.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await press(page, 'Save changes');
    await shows(page, 'duration_seconds is at least 90');
    const { filter } = await setup.api(company, 'GET', `${HOOKS}/${id}`);
    expect(filter).toEqual({ duration_seconds: { $gte: 90 }, started_at: { $gt: '2026-01-15T15:30:00.000Z' } });
  });

  test('shows each of the API’s errors at the condition that it is about', async () => {
    const company = await setup.company();
    const { id } = await setup.endpoint(company, { filter: { 'account.id': { $exists: true } } });
    const page = await setup.enter(company, `/endpoints/${id}/edit`);
    await press(page, 'Add condition');
    await choose(page, 'Path of condition 2', 'account.id');
    await page.type('[aria-label="Value of condition 2"]', 'no uuid');
    await press(page, 'Add condition');
    await choose(page, 'Path of condition 3', 'status');
    await choose(page, 'Operator of condition 3', '$in');
    for (const verb of ['Try on recent events', 'Save changes']) {
      await press(page, verb);
      await shows(page, verb === 'Save changes' ? 'The changes were not saved.' : 'The filter was not tried.');
      expect(await errorOf(page, 'condition 1')).toBeUndefined();
      expect(await errorOf(page, 'condition 2')).toMatch(/UUID/);
      expect(await errorOf(page, 'condition 3')).toBe('Give a list of at least one value.');
      expect(await page.$eval('[aria-label="Value of condition 2"]', (input) => input.getAttribute('aria-invalid'))).toBe('true');
    }
    await inspect(page, 'endpoint-filter-refused');
    await choose(page, 'Path of condition 3', 'account.id');
    await choose(page, 'Operator of condition 3', '$eq');
    await press(page, 'Save changes');
    await page.waitForFunction(() => document.body.innerText.includes('Another row has the same path and operator.'));
    expect(await errorOf(page, 'condition 2')).toBe(await errorOf(page, 'condition 3'));
    // A path that the chosen events lack stays, and the API says so.
    await press(page, 'Remove condition 3');
    await press(page, 'Remove condition 2');
    for (const box of await page.$$('input[name="eventTypes"]:checked')) await box.click();
    await page.locator('::-p-aria([name="interaction.completed An interaction with a customer was completed."])').click();
    await choose(page, 'Path of condition 1', 'direction');
    await choose(page, 'Operator of condition 1', 'present');
    for (const box of await page.$$('input[name="eventTypes"]')) await box.click();
    await press(page, 'Save changes');
    await shows(page, 'has no such path');
    expect(await errorOf(page, 'condition 1')).toContain('has no such path');
  });

  test('offers the paths and operators that the API takes, for each event type', async () => {
    const company = await setup.company();
    const page = await setup.enter(company, '/endpoints/new');
    await page.waitForSelector('input[name="eventTypes"]');
    for (const types of [...TYPES.map((type) => [type]), TYPES]) {
      for (const box of await page.$$('input[name="eventTypes"]')) {
        if ((await box.evaluate(({ checked, value }, wanted) => checked !== wanted.includes(value), types)) === true) await box.click();
      }
      await press(page, 'Add condition');
      await page.waitForSelector('[aria-label="Path of condition 1"]');
      const offered = await offeredByPath(page);
      const paths = Object.keys(offered);
      const taken: Record<string, string[]> = {};
      // A filter has at most 20 paths.
      for (let from = 0; from < paths.length; from += 20) {
        const filter = Object.fromEntries(paths.slice(from, from + 20).map((path) => [path, { $none: 1 }]));
        for (const { field, message } of await refusals(company, types, filter))
          taken[field.replace(/^filter\.|\.\$none$/g, '')] = listedIn(message, `${field} of ${types.join()}`);
      }
      expect([types, offered]).toEqual([types, taken]);
      // The API lists every path that it knows for one that is too long.
      const [unknown] = await refusals(company, types, { ['x'.repeat(101)]: { $exists: true } });
      expect(paths.toSorted()).toEqual(listedIn(unknown!.message, types.join()));
      await press(page, 'Remove condition 1');
    }
  });

  /** The operators offered by path of the first condition. Chosen in the page itself, where hundreds of choices take no round trips. */
  async function offeredByPath(page: Page): Promise<Record<string, string[]>> {
    const operators = await page.evaluate(async () => {
      const labelled = (name: string) => document.querySelector<HTMLSelectElement>(`[aria-label="${name} of condition 1"]`)!;
      const optionsOf = (name: string) => [...labelled(name).options].map(({ value }) => value).filter((value) => value !== '');
      const found: Record<string, string[]> = {};
      for (const path of optionsOf('Path')) {
        labelled('Path').value = path;
        for (const type of ['input', 'change']) labelled('Path').dispatchEvent(new Event(type, { bubbles: true }));
        // The form is drawn before the next task.
        await new Promise((resolve) => setTimeout(resolve));
        found[path] = optionsOf('Operator');
      }
      return found;
    });
    const named = (operator: string) => (/^(present|absent)$/.test(operator) ? '$exists' : operator);
    return Object.fromEntries(Object.entries(operators).map(([path, all]) => [path, [...new Set(all.map(named))].toSorted()]));
  }

  /** The sorted names in a sentence such as "Give one of $eq, $ne." */
  function listedIn(message: string, what: string): string[] {
    expect([what, message]).toEqual([what, expect.stringContaining('Give one of ')]);
    return message
      .replace(/^.*Give one of |\.$/g, '')
      .split(', ')
      .toSorted();
  }

  async function refusals(
    company: Parameters<ConsoleSetup['api']>[0],
    eventTypes: readonly string[],
    filter: object,
  ): Promise<{ field: string; message: string }[]> {
    const response = await fetch(`${setup.system.baseUrl}${HOOKS}/filter-preview`, {
      method: 'POST',
      headers: { authorization: `Bearer ${setup.system.userToken(company)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ eventTypes, filter }),
    });
    return (await response.json()).error.details;
  }

  test('is made with the keyboard alone', async () => {
    const company = await setup.company();
    const { id } = await setup.endpoint(company);
    const page = await setup.enter(company, `/endpoints/${id}/edit`);
    await page.waitForSelector('#name');
    await focuses(page, 'Edit Lead sync');
    await tabTo(page, 'Add condition');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Path of condition 1');
    await page.keyboard.type('status');
    await page.keyboard.press('Tab');
    await page.keyboard.type('is not');
    await page.keyboard.press('Tab');
    await page.keyboard.type('SPAM');
    await tabTo(page, 'Save changes');
    await page.keyboard.press('Enter');
    await shows(page, 'status is not ');
    expect(await visibleText(page)).toMatch(/status is not [A-Z]+/);
  });
});

describe('states and settings', () => {
  test('pauses and resumes an endpoint, and sends what was skipped when it is enabled again', async () => {
    const { company, id, page } = await opened();
    const newest = () => setup.api(company, 'GET', `${HOOKS}/${id}/deliveries`);
    await press(page, 'Pause');
    await shows(page, 'This endpoint is paused.');
    for (let i = 0; i < 2; i++) await setup.happen(company);
    await until('two deliveries that wait', newest, (all) => all.length === 2 && all.every(({ status }: any) => status === 'pending'));
    await press(page, 'Refresh');
    await press(page, 'Disable…');
    await shows(page, '2 deliveries that wait are skipped at once.');
    await press(page, 'Cancel');
    await press(page, 'Resume');
    await shows(page, 'What has waited is being sent.');
    await until('two deliveries that arrived', newest, (all) => all.every(({ status }: any) => status === 'succeeded'));
    await press(page, 'Disable…');
    await press(page, 'Disable endpoint');
    await shows(page, 'Events are kept as skipped');
    await setup.happen(company);
    await until('a skipped delivery', newest, ([first]) => first.status === 'skipped');
    await press(page, 'Enable…');
    await press(page, 'Enable endpoint');
    await shows(page, 'What was skipped is being sent.');
    await until('a delivery that was skipped', newest, (all) => all.length === 3 && all.every(({ status }: any) => status === 'succeeded'));
  });

  test('sets a rate limit and headers, whose values are not shown again', async () => {
    const { company, id, page } = await opened();
    await press(page, 'Edit');
    await fill(page, 'input[name="maxPerSecond"]', '25');
    await press(page, 'Add header');
    await fill(page, 'input[name="headerName"]', 'X-Api-Key');
    await page.type('input[name="headerValue"]', 'known to the receiver');
    await press(page, 'Save changes');
    for (const text of ['25 a second', 'X-Api-Key']) await shows(page, text);
    await press(page, 'Edit');
    await page.waitForSelector('input[name="headerValue"][placeholder="unchanged"]');
    expect(await page.content()).not.toContain('known to the receiver');
    await page.$eval('input[name="maxPerSecond"]', (input) => void (input.value = ''));
    await press(page, 'Save changes');
    await shows(page, 'was saved.');
    expect(await setup.api(company, 'GET', `${HOOKS}/${id}`)).toMatchObject({ maxPerSecond: null, headers: [{ name: 'X-Api-Key' }] });
    await press(page, 'Edit');
    await press(page, 'Remove header 1');
    await press(page, 'Add header');
    await page.waitForSelector('input[name="headerName"]');
    await page.type('input[name="headerName"]', 'Host');
    await press(page, 'Save changes');
    await shows(page, 'Choose another name');
  });

  test('sends alerts to addresses of users, and names the address that is none', async () => {
    const company = await setup.company();
    const { id, createdBy } = await setup.endpoint(company);
    const page = await setup.enter(company, `/endpoints/${id}/edit`);
    await page.waitForSelector('#alertEmails');
    expect(await value(page, '#alertEmails')).toBe(createdBy.email);
    await page.type('#alertEmails', '\nelsewhere@example.com');
    await press(page, 'Save changes');
    await shows(page, 'elsewhere@example.com: ');
    expect(await page.$eval('#alertEmails', (field) => field.getAttribute('aria-invalid'))).toBe('true');
    await fill(page, '#alertEmails', ' ');
    await press(page, 'Save changes');
    await shows(page, 'To no one');
    expect(await setup.api(company, 'GET', `${HOOKS}/${id}`)).toMatchObject({ alertEmails: [] });
    await press(page, 'Edit');
    await page.waitForSelector('#alertEmails');
    await page.type('#alertEmails', createdBy.email);
    await press(page, 'Save changes');
    await shows(page, createdBy.email);
    expect(await setup.api(company, 'GET', `${HOOKS}/${id}`)).toMatchObject({ alertEmails: [createdBy.email] });
  });

  test('are listed worst first: a paused one before one that is well, and what users disabled last', async () => {
    const company = await setup.company();
    for (const [name, state] of [
      ['A, off', 'DISABLED'],
      ['B, well', 'ENABLED'],
      ['C, held', 'PAUSED'],
    ] as const) {
      const { id } = await setup.endpoint(company, { name });
      await setup.api(company, 'PATCH', `${HOOKS}/${id}`, { state });
    }
    const page = await setup.enter(company);
    await shows(page, 'C, held');
    expect(await page.$$eval('td a.name', (links) => links.map(({ textContent }) => textContent))).toEqual(['C, held', 'B, well', 'A, off']);
    expect(await page.$$eval('td .badge', (badges) => badges.map(({ textContent }) => textContent))).toEqual(['Paused', 'Idle', 'Disabled']);
    expect(await page.$('svg.sparkline')).toBeNull();
  });
});

describe('recovering', () => {
  test('recovers deliveries that were skipped while an endpoint was disabled', async () => {
    const { company, page } = await opened();
    await press(page, 'Disable…');
    await shows(page, 'Nothing waits for it now. New events are skipped too');
    await press(page, 'Disable endpoint');
    await shows(page, 'Events are kept as skipped');
    for (let i = 0; i < 3; i++) await setup.happen(company);
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
  });

  test('continues a recovery over several requests until nothing remains, with the same end time', async () => {
    const { page } = await opened();
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
    const company = await setup.company();
    const filter = { channel: { $eq: 'PHONE' } };
    const { id } = await setup.endpoint(company, { url: `${setup.receiver.url}/replayed`, eventTypes: ['service_request.created'], filter });
    for (let i = 0; i < 2; i++) await setup.happen(company);
    await until(
      'two delivered events',
      () => setup.api(company, 'GET', `${HOOKS}/${id}/deliveries?progress=delivered`),
      ({ length }) => length === 2,
    );
    const page = await setup.enter(company, `/endpoints/${id}`);
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
    const requests = await until(
      'four requests',
      async () => setup.receiver.received.filter(({ path }) => path.endsWith('/replayed')),
      ({ length }) => length === 4,
    );
    const ids = requests.map(({ headers }) => headers['webhook-id']);
    expect([new Set(ids).size, ids.length]).toEqual([2, 4]);
  });
});
