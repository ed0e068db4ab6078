// The board of a day in a browser, compared with what the API answers, and the writes that it makes.
import { randomUUID } from 'node:crypto';
import type { HTTPRequest, Page } from 'puppeteer-core';
import type { TestCompany } from '../support/system.ts';
import './assigning.ts';
import { DESKTOP, PHONE } from './browser.ts';
import { barriers, inspect } from './inspect.ts';
import { give, press, shows, tabTo, visibleText, type ConsoleSetup } from './start-console.ts';
import * as start from './start-day.ts';
import { ana, at, begun, ben, chen, clock, dayOf, dee, jobs, late, moved, names, night, open, others, timezone, tomorrow, visit, work } from './start-day.ts';

let setup: ConsoleSetup;
let company: TestCompany;
let page: Page;
let read: start.Day['read'];
let go: start.Day['go'];
let openAdding: start.Day['openAdding'];

// Chromium may have to be installed first.
beforeAll(async () => {
  ({ setup, company, page, read, go, openAdding } = await start.startDay());
}, 600_000);
afterAll(() => setup.stop());
afterEach(async () => {
  // A test that failed leaves its dialog open.
  if (!page.isClosed() && (await page.$('dialog')) !== null) await page.keyboard.press('Escape');
});
const now = async (of: any): Promise<any> => read(`job-appointments/${of.id}`);
/** Messages to the customer of a visit. */
async function messages({ id }: any): Promise<any[]> {
  const text = 'select message, revision from scheduling.notifications where company_id = $1 and appointment_id = $2';
  return (await setup.system.database.query<any>({ text, values: [company.id, id] })).rows;
}
/** Labels of what stands in the row of a technician. */
const bars = (name: string): Promise<string[]> =>
  page.$$eval(`[aria-label="${name}"] .visit a`, (links) => links.map((link) => link.getAttribute('aria-label')!));

/** Resolves when the page has an event of this type. */
const next = (type: string): Promise<void> =>
  page.evaluate((name) => new Promise<void>((resolve) => addEventListener(name, () => resolve(), { once: true, capture: true })), type);

test('shows a day’s work, time off, late technicians, visits without a technician and unbooked requests as the API returns them', async () => {
  await shows(page, 'AC not cooling');
  await shows(page, 'Time off');
  const day = dayOf(at(12));
  const today: any[] = await read(`job-appointments?starts_from=${day}&starts_before=${dayOf(at(36))}`);
  const live = today.filter((each) => !each.canceled);
  const unassigned = live.filter(({ dispatch_status: status }) => status === 'UNASSIGNED');
  const without = unassigned.sort((a, b) => a.starts_at.localeCompare(b.starts_at)).map(({ number }) => number);
  // The visit of last night lasts into the day.
  await shows(page, `${live.length + 1} visits · ${without.length} without a technician · 2 running late · 1 canceled`);
  for (const { name } of [ana, ben, chen, dee]) {
    const own = today
      .concat(await now(night))
      .flatMap((each) =>
        each.assignments
          .filter(({ team_member: { name: of } }: any) => of === name)
          .map((of: any) => [of.starts_at, each.job.account.name, `${each.number}, ${clock(of.starts_at)} – ${clock(of.ends_at)}`]),
      );
    const labels = own
      .sort()
      .map(([, customer, rest]) =>
        expect.stringMatching(new RegExp(`^${customer} (Completed|In progress|Assigned)(, (\\d h ?)?(\\d+ min )?(late|over))?, ${rest}$`)),
      );
    expect([name, await bars(name)]).toEqual([name, labels]);
  }
  expect(await page.$$eval('.visit.late', (all) => all.map((bar) => (bar as HTMLElement).title.split(', ')[2]))).toEqual(
    [begun, late].map(({ number }) => number),
  );
  const text = await visibleText(page);
  expect(text).toMatch(/Ana Ruiz (1 h )?(\d+ min )?over/);
  expect(text).toMatch(/Ben Cole [12] h (\d+ min )?late/);
  expect(await page.$$eval('[aria-label="Dee Young"] .time-off', (all) => all.length)).toBe(1);
  const list = await page.$$eval('.to-do section:first-child a.name', (links) => links.map(({ textContent }) => textContent));
  expect(list).toEqual(without);
  const reach = await page.$$eval('.to-do a[href^="tel:"], .to-do a[href^="mailto:"]', (links) => links.map((link) => link.getAttribute('href')));
  expect(reach.sort()).toEqual(['mailto:rosa@example.com', 'tel:+15125550123', 'tel:+15125550142']);
  await inspect(page, 'today');
});

test('adds a technician and sends the customer a message, by the keyboard alone', async () => {
  await openAdding('V-4', 'Chen');
  await tabTo(page, 'notifies');
  await page.keyboard.press('Space');
  await tabTo(page, 'message');
  await page.keyboard.type('Chen comes at two.');
  await inspect(page, 'today-add');
  await tabTo(page, 'Add technician');
  await page.keyboard.press('Enter');
  await shows(page, 'Chen Li was added to V-4. The customer got no message. Reason: no provider could be reached.');
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  expect(names(await now(open))).toEqual(['Chen Li']);
  expect(await messages(open)).toEqual([expect.objectContaining({ message: 'Chen comes at two.' })]);
  await page.waitForFunction(() => document.querySelector('[aria-label="Chen Li"] .visit') !== null);
  await page.evaluate((to) => (location.hash = to), `/records/visits/${open.id}`);
  await shows(page, 'Message\nThe customer got no message. Reason: no provider could be reached.');
  await page.goBack();
  await page.waitForSelector('[aria-label="Chen Li"] .visit');
});

test('shows what has changed since the visit was read, and adds the technician then', async () => {
  await openAdding('V-9', 'Dee');
  const { revision } = await now(others[0]);
  await write({ expected_revision: revision, appointment_id: others[0].id, team_member_id: ben.id, starts_at: at(16), ends_at: at(17) });
  await press(page, 'Add technician');
  await shows(page, 'The visit was not changed.');
  await shows(page, 'The visit was changed in the meantime.');
  expect(await page.$eval('dialog', ({ innerText }) => innerText)).not.toMatch(/[a-z]_[a-z]|revision|API/);
  await shows(page, `Ben Cole was added for ${clock(at(16))} – ${clock(at(17))}.`);
  expect(await barriers(page)).toEqual([]);
  await press(page, 'Add technician');
  await shows(page, 'Dee Young was added to V-9.');
  expect(names(await now(others[0]))).toEqual(['Ben Cole', 'Dee Young']);
});

async function write(body: object): Promise<void> {
  const headers = { authorization: `Bearer ${company.apiKey}`, 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  const { status } = await fetch(`${setup.system.baseUrl}/v1/job-assignments`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(status).toBe(201);
}

test('asks before a technician works outside the arrival window', async () => {
  await openAdding('V-10', 'Ana');
  await give(page, '#ends_at', `${dayOf(at(12))}T20:00`);
  await page.waitForSelector('[name="outside"]');
  await press(page, 'Add technician');
  await shows(page, 'The times are outside the arrival window.');
  expect(names(await now(others[1]))).toEqual([]);
  await page.click('[name="outside"]');
  await press(page, 'Add technician');
  await shows(page, 'Ana Ruiz was added to V-10.');
  expect((await now(others[1])).assignments[0].ends_at.replace('.000Z', 'Z')).toBe(at(20).replace('.000Z', 'Z'));
});

describe('a write without an answer', () => {
  let keys: string[];
  let listen: (request: HTTPRequest) => void;

  /** Records the method and key of each write. Those that `lose` picks get no answer; `made` says whether the API receives them all the same. */
  async function losing(made: boolean, lose: (method: string, count: number) => boolean): Promise<void> {
    keys = [];
    const answer = async (request: HTTPRequest): Promise<void> => {
      if (request.method() === 'GET' || !request.url().includes('/v1/job-assignments')) return request.continue();
      keys.push(`${request.method()} ${request.headers()['idempotency-key']}`);
      if (!lose(request.method(), keys.length)) return request.continue();
      if (made) await fetch(request.url(), { method: request.method(), headers: request.headers(), body: request.postData()! });
      return request.abort('connectionrefused');
    };
    listen = (request) => void answer(request);
    await page.setRequestInterception(true);
    page.on('request', listen);
  }
  afterEach(async () => {
    page.off('request', listen);
    await page.setRequestInterception(false);
  });

  test.each([
    ['was made', true, 'Ben Cole (to do)'],
    ['was not made', false, 'no technician'],
  ])('shows what the API holds if it %s, and is sent again with its key', async (_, made, held) => {
    const hour = made ? 14 : 13;
    const own = visit(`V-2${made ? 0 : 1}`, hour, hour + 1);
    await setup.system.importRecords(company, 'job-appointments', [own]);
    await press(page, 'Refresh');
    await losing(made, (_method, count) => count === 1);
    await openAdding(own['number'], 'Ben');
    await press(page, 'Add technician');
    await shows(page, 'Whether the visit was changed is not known.');
    await shows(page, held);
    expect(await page.$eval('dialog fieldset', ({ disabled }) => disabled)).toBe(true);
    await press(page, 'Try again');
    await shows(page, `Ben Cole was added to ${own['number']}.`);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    expect(names(await now(own))).toEqual(['Ben Cole']);
    await page.waitForSelector(`[aria-label="Ben Cole"] [aria-label*="${own['number']},"]`);
  });

  test('says which half of a move was made after a drag, and finishes it', async () => {
    await losing(false, (method, count) => method === 'DELETE' && count === 2);
    await page.waitForSelector('[aria-label="Ana Ruiz"] .visit');
    const bar = (await page.$('.visit:has([aria-label*="V-8,"])'))!;
    const row = (await page.$('[aria-label="Chen Li"] .lanes'))!;
    // Without these events, the button could be released before the browser has begun the drag.
    const [lifted, over] = ['dragstart', 'dragover'].map(next);
    await bar.hover();
    await page.mouse.down();
    await row.hover();
    await lifted;
    await row.hover();
    await over;
    await page.mouse.up();
    await shows(page, 'Take Ana Ruiz off the visit');
    await shows(page, 'Chen Li works elsewhere at this time');
    await page.click('[name="notifies"]');
    await press(page, 'Add technician');
    await shows(page, 'Chen Li was added. Whether Ana Ruiz was removed is not known.');
    await shows(page, 'Chen Li (to do)');
    expect(names(await now(moved))).toEqual(['Ana Ruiz', 'Chen Li']);
    await press(page, 'Try again');
    await shows(page, 'Chen Li was added to V-8. Ana Ruiz was removed from V-8.');
    expect([keys.length, new Set(keys).size]).toEqual([3, 2]);
    const { revision, ...after } = await now(moved);
    expect(names(after)).toEqual(['Chen Li']);
    // A message of an earlier revision would not be sent.
    expect(await messages(moved)).toEqual([expect.objectContaining({ revision })]);
  });
});

describe('a finger on a bar', () => {
  const touched = visit('V-30', 17, 18, { job_id: jobs[1].id });
  const unassigned = visit('V-31', 18, 19);
  /** The middle of an element, in the window. */
  const middle = (selector: string) =>
    page.$eval(selector, (element) => {
      element.scrollIntoView({ block: 'center' });
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2] as const;
    });
  const BAR = '.visit:has([aria-label*="V-30,"])';
  /** Whether the finger holds the bar, which is lifted soon if it stays. Then the browser's own menu stays away. */
  const isHeld = () => page.$eval(BAR, (bar) => !bar.dispatchEvent(new Event('contextmenu', { cancelable: true })));

  beforeAll(async () => {
    await setup.system.importRecords(company, 'job-appointments', [touched, unassigned]);
    await setup.system.importRecords(company, 'job-assignments', [work(touched, ana, 'TO_DO')]);
    await page.setViewport({ width: 1024, height: 300, hasTouch: true });
    await page.waitForSelector('.today');
    await press(page, 'Refresh');
    await page.waitForSelector(BAR);
  });
  afterAll(async () => {
    await page.setViewport(DESKTOP);
    await page.waitForSelector('.today');
  });

  test('scrolls when it moves at once', async () => {
    const [x, y] = await middle(BAR);
    const from = await page.evaluate(() => scrollY);
    const touch = await page.touchscreen.touchStart(x, y);
    for (const moved of [20, 60, 100]) await touch.move(x, y - moved);
    await page.waitForFunction((before) => scrollY > before, {}, from);
    expect(await isHeld()).toBe(false);
    const settled = page.evaluate(() => new Promise<void>((resolve) => addEventListener('scrollend', () => resolve(), { once: true })));
    await touch.end();
    await settled;
  });

  test('clicks what it rests on, such as the button of the menu', async () => {
    const [x, y] = await middle(`${BAR} button`);
    // A browser that takes this for its own long press makes no click, so none is awaited.
    const prevented = page.evaluate(
      () =>
        new Promise<boolean>((resolve) => {
          const ended = (event: Event): void => {
            resolve(event.defaultPrevented);
            event.preventDefault();
          };
          addEventListener('touchend', ended, { once: true, passive: false });
        }),
    );
    const touch = await page.touchscreen.touchStart(x, y);
    await page.waitForSelector('[data-lifted]');
    await touch.end();
    expect(await prevented).toBe(false);
    expect(await page.$('[data-lifted]')).toBeNull();
  });

  test('moves the visit to another technician after a long press', async () => {
    const [x, y] = await middle(BAR);
    const touch = await page.touchscreen.touchStart(x, y);
    expect(await isHeld()).toBe(true);
    await page.waitForSelector('[data-lifted]');
    const [toX, toY] = await middle('[aria-label="Ben Cole"] .lanes');
    await touch.move(toX, toY);
    await page.waitForSelector('[aria-label="Ben Cole"][data-over]');
    await touch.end();
    await shows(page, 'Take Ana Ruiz off the visit');
    expect(await page.$('[data-lifted], [data-over]')).toBeNull();
    await press(page, 'Add technician');
    await shows(page, 'Ben Cole was added to V-30. Ana Ruiz was removed from V-30.');
    expect(names(await now(touched))).toEqual(['Ben Cole']);
  });

  test('lifts nothing on a phone, which has no board to drop it on', async () => {
    await page.waitForSelector('.to-do li[draggable="true"] [aria-label="Change V-31"]');
    await page.setViewport({ ...PHONE, hasTouch: true });
    await page.waitForSelector('[aria-label="Visits by time"]');
    await page.waitForSelector('.to-do [aria-label="Change V-31"]');
    expect(await page.$('[draggable="true"]')).toBeNull();
  });
});

test('a visit’s page has the day of a time that is not on the day on which the visit begins', async () => {
  await go(`/records/visits/${night.id}`);
  await page.waitForSelector('tbody tr');
  const until = new Date(at(1)).toLocaleString('en-US', {
    timeZone: timezone,
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  });
  expect(await page.$$eval('tbody td', (cells) => cells.slice(1, 3).map(({ textContent }) => textContent))).toEqual([clock(at(-2)), until]);
});

test('shows a week by technician and day', async () => {
  await go(`/today?view=week&day=${dayOf(tomorrow['starts_at'])}`);
  await page.waitForSelector('tbody tr');
  const row = await page.$$eval('tbody tr', ([first]) => (first as HTMLTableRowElement).innerText);
  expect(row).toContain('Without a technician');
  expect(row).toContain(clock(tomorrow['starts_at']));
  await inspect(page, 'today-week');
  await page.click('.head a[href$="view=week"]');
});

test('the page had no errors, sent requests to no other origin, and left nothing in the browser', async () => {
  expect(await setup.leave()).toEqual([]);
});
