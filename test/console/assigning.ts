// What the board and its dialog say before anything is sent: tests of today.test.ts, which has the same company.
import type { HTTPRequest, Page } from 'puppeteer-core';
import { inspect } from './inspect.ts';
import { give, press, shows, value, type ConsoleSetup } from './start-console.ts';
import { beside, chen, clock, at, dayOf, done, eves, left, long, missed, names, startDay, visit, work, type Day } from './start-day.ts';

let setup: ConsoleSetup;
let page: Page;
let read: Day['read'];
let go: Day['go'];
let openAdding: Day['openAdding'];

beforeAll(async () => void ({ setup, page, read, go, openAdding } = await startDay()), 600_000);
afterEach(async () => {
  if (!page.isClosed() && (await page.$('dialog')) !== null) await page.keyboard.press('Escape');
});
const now = (of: any): Promise<any> => read(`job-appointments/${of.id}`);
const EVE = 'Eve Lane (eve.lane@example.com)';
const choosesEve = (): Promise<string[]> => page.select('#team_member_id', eves[1].id);

/** Runs `during`. Resolves to the writes that the page sent while it ran. */
async function writesDuring(during: () => Promise<void>): Promise<string[]> {
  const sent: string[] = [];
  const listen = (request: HTTPRequest): void => void (request.method() === 'POST' && sent.push(request.url()));
  page.on('request', listen);
  await during();
  page.off('request', listen);
  return sent;
}

test('shows the e-mail addresses of technicians of one name, on the board and where one is chosen', async () => {
  await page.waitForSelector('[aria-label="Chen Li"]');
  const rows = await page.$$eval('.technician', (all) => all.map((row) => row.getAttribute('aria-label')));
  expect(rows).toEqual(['Ana Ruiz', 'Ben Cole', 'Chen Li', 'Dee Young', EVE, 'Eve Lane (eve@example.com)']);
  await openAdding(beside['number'], 'Eve');
  expect(await page.$$eval('#team_member_id option', (all) => all.map(({ text }) => text))).toEqual(['Choose…', ...rows]);
});

test('says how late a visit without a technician is, and names no technician who was taken off', async () => {
  const texts = await page.$$eval('.to-do section:first-child li', (all) => all.map(({ innerText }) => innerText));
  const of = (each: any): string => texts.find((text) => text.startsWith(each.number))!;
  expect(of(missed)).toMatch(/[34] h( \d+ min)? late/);
  expect(of(left)).not.toContain('late');
  await go(`/schedule?day=${dayOf(at(12))}`);
  await page.waitForFunction((number) => document.querySelector('tbody')?.innerText.includes(number), {}, left['number']);
  const row = await page.$$eval('tbody tr', (all, number) => all.find(({ innerText }) => innerText.includes(number))!.innerText, left['number']);
  expect(row).toContain('None');
  expect(row).not.toContain('Eve');
  await go('/today');
});

test('proposes times within the arrival window, and offers to work outside it once the times are', async () => {
  await openAdding(long['number'], 'Eve');
  await choosesEve();
  await shows(page, `planned ${clock(at(14))} – ${clock(at(18))}`);
  expect(await Promise.all(['#starts_at', '#ends_at'].map((input) => value(page, input)))).toEqual([14, 16].map((hour) => `${dayOf(at(12))}T${hour}:00`));
  expect(await page.$('[name="outside"]')).toBeNull();
  const end = (hour: number, century = ''): Promise<void> => give(page, '#ends_at', `${century}${dayOf(at(12))}T${hour}:00`);
  await end(17);
  await page.waitForSelector('[name="outside"]');
  const sent = await writesDuring(async () => {
    await end(13);
    await press(page, 'Add technician');
    await shows(page, '“To” must be later than “From”.');
    // The year 12026
    await end(17, '1');
    await press(page, 'Add technician');
    await shows(page, '“To”: Give the whole date and time');
  });
  expect(sent).toEqual([]);
  await end(16);
  // What was wrong may be corrected.
  await page.waitForFunction(() => document.querySelector('dialog .problem') === null);
  await press(page, 'Add technician');
  await shows(page, `${EVE} was added to V-13.`);
  expect((await now(long)).assignments).toEqual([expect.objectContaining({ team_member: { id: eves[1].id, name: 'Eve Lane' } })]);
});

test('warns before a visit that is completed opens again, and of times that are past', async () => {
  const warning = 'The visit is completed. Adding a technician opens it again.';
  await openAdding(done['number'], 'Eve');
  await shows(page, warning);
  await page.keyboard.press('Escape');
  await openAdding(missed['number'], 'Eve');
  await shows(page, 'These times are past.');
  await give(page, '#ends_at', `${dayOf(at(12))}T19:00`);
  await page.waitForFunction(() => document.querySelector('dialog .warning') === null);
});

test('offers in the menu, too, to take off the visit’s technician, if the user wants that', async () => {
  const own = visit('V-40', 19, 20);
  await setup.system.importRecords((await startDay()).company, 'job-appointments', [own]);
  await setup.system.importRecords((await startDay()).company, 'job-assignments', [work(own, chen, 'TO_DO')]);
  await press(page, 'Refresh');
  await openAdding(own['number'], 'Eve');
  await choosesEve();
  await shows(page, 'Take Chen Li off the visit');
  expect(await page.$eval('[name="takes-off"]', (box) => (box as HTMLInputElement).checked)).toBe(false);
  await page.click('[name="takes-off"]');
  await press(page, 'Add technician');
  await shows(page, `${EVE} was added to V-40. Chen Li was removed from V-40.`);
  expect(names(await now(own))).toEqual(['Eve Lane']);
});

test('technicians of one name differ in reports, too', async () => {
  await go('/reports/collections');
  await page.waitForFunction((name) => [...document.querySelectorAll('.name-filter option')].some(({ textContent }) => textContent === name), {}, EVE);
  await go('/today');
});

describe('a technician who works elsewhere at the time', () => {
  const elsewhere = `V-13, Núñez Residence, ${clock(at(14))} – ${clock(at(16))}`;

  test('shows a warning once the technician is chosen', async () => {
    await openAdding(beside['number'], 'Eve');
    await choosesEve();
    await shows(page, `${EVE} works elsewhere at this time`);
    await shows(page, elsewhere);
    await inspect(page, 'today-elsewhere');
    await page.select('#team_member_id', eves[0].id);
    await page.waitForFunction(() => document.querySelector('dialog .warning') === null);
  });

  test('is warned of although the visit of that work is on another day', async () => {
    await openAdding(beside['number'], 'Dee');
    await shows(page, `V-15, Núñez Residence, ${clock(at(15))} – ${clock(at(16))}`);
  });

  test('is warned of when the button is pressed at the latest, and is added if it is pressed again', async () => {
    const locked: boolean[] = [];
    const answer = async (request: HTTPRequest): Promise<void> => {
      if (!request.url().includes(`team_member_id=${eves[1].id}`)) return request.continue();
      locked.push(await page.$eval('dialog fieldset', ({ disabled }) => disabled));
      return locked.length === 1 ? request.abort('connectionrefused') : request.continue();
    };
    const listen = (request: HTTPRequest): void => void answer(request);
    await page.setRequestInterception(true);
    page.on('request', listen);
    try {
      await openAdding(beside['number'], 'Ana');
      const lost = page.waitForRequest((request) => request.url().includes(`team_member_id=${eves[1].id}`));
      await choosesEve();
      await lost;
      const sent = await writesDuring(async () => {
        await press(page, 'Add technician');
        await shows(page, 'has other work at this time. Press “Add technician” again');
      });
      expect(sent).toEqual([]);
      await shows(page, elsewhere);
      // The fields cannot be edited during the check.
      expect(locked).toEqual([false, true]);
    } finally {
      page.off('request', listen);
      await page.setRequestInterception(false);
    }
    expect(names(await now(beside))).toEqual([]);
    await press(page, 'Add technician');
    await shows(page, `${EVE} was added to V-14.`);
    expect(names(await now(beside))).toEqual(['Eve Lane']);
  });
});

test('the home page counts the requests without a visit that the day lists', async () => {
  await go('/home');
  await page.waitForSelector('.tiles a[href="#/today"]');
  const count = await page.$eval('.tiles a[href="#/today"]', ({ textContent }) => textContent);
  await page.click('.tiles a[href="#/today"]');
  await shows(page, `Unbooked requests (${count})`);
  expect((await setup.system.get((await startDay()).company, '/api/v1/integrations/summary')).body.data.unbookedServiceRequests).toBe(Number(count));
});
