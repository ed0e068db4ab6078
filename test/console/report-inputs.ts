// Choosing the period and the columns of a report: tests of reports.test.ts.
import type { HTTPRequest, Page } from 'puppeteer-core';
import { readSheet } from 'read-excel-file/node';
import type { Json } from '../support/expected.ts';
import { inspect } from './inspect.ts';
import { give, press, saved, shows, tabTo } from './start-console.ts';

const CUSTOM = 'period=custom&from=2026-07-01&to=2026-10-31';

const isOpen = (page: Page): Promise<boolean> => page.evaluate(() => document.querySelector(':popover-open') !== null);
/** Waits for the focus on what has this name, which the next drawing of the screen may give it. */
const focuses = (page: Page, name: string) => page.waitForFunction((wanted) => document.activeElement?.getAttribute('aria-label') === wanted, {}, name);
const titles = (page: Page): Promise<string[]> => page.$$eval('.groups th.numeric', (heads) => heads.map(({ firstChild }) => firstChild!.textContent!));

interface Reports {
  readonly page: Page;
  readonly go: (place: string) => Promise<void>;
  readonly cents: (dollars: string) => number;
  /** Rows of the profitability of jobs in the range. */
  readonly jobs: readonly Json[];
}

export function inputTests(start: () => Reports): void {
  let page: Page;
  let given: Reports;
  beforeAll(() => void ({ page } = given = start()));

  test('the period is chosen with the keyboard alone: two days of a calendar, or a name', async () => {
    await given.go(`invoice-activity?${CUSTOM}`);
    await tabTo(page, 'Period: Jul 1 – Oct 31, 2026');
    await page.keyboard.press('Enter');
    await inspect(page, 'reports-period');
    await tabTo(page, 'Oct 31, 2026');
    // There is no 31st of September.
    for (const [key, day] of [
      ['PageUp', 'Sep 30, 2026'],
      ['ArrowUp', 'Sep 23, 2026'],
      ['ArrowLeft', 'Sep 22, 2026'],
    ] as const) {
      await page.keyboard.press(key);
      await focuses(page, day);
    }
    await page.keyboard.press('Enter');
    await shows(page, 'Sep 22, 2026: choose the last day');
    await page.keyboard.press('ArrowUp');
    await focuses(page, 'Sep 15, 2026');
    await page.keyboard.press('Enter');
    // The earlier day is the first one.
    await page.waitForFunction(() => location.hash.includes('from=2026-09-15&to=2026-09-22'));
    await focuses(page, 'Period: Sep 15 – Sep 22, 2026');
    expect(await isOpen(page)).toBe(false);
    await page.keyboard.press('Enter');
    await tabTo(page, 'Last month');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('period=last-month') && !location.hash.includes('from='));
    await focuses(page, 'Period: Last month');
    expect(await isOpen(page)).toBe(false);
    await page.keyboard.press('Enter');
    expect(await isOpen(page)).toBe(true);
    await page.keyboard.press('Escape');
    await focuses(page, 'Period: Last month');
    expect(await isOpen(page)).toBe(false);
  });

  test.each([
    ['a first day after the last one', '[name="from"]', '2026-11-30', 'The last day is before the first.', ['2026-11-30', '2026-10-31'], '[name="to"]'],
    ['a year that is typed in part', '[name="to"]', '0202-10-31', 'Give a whole date.', ['2026-07-01', '0202-10-31'], '[name="to"]'],
  ])('%s is kept as it was typed, marked, and asks for nothing', async (_, input, typed, fault, days, marked) => {
    await given.go(`invoice-activity?${CUSTOM}`);
    await press(page, 'Period: Jul 1 – Oct 31, 2026');
    await page.waitForSelector('.groups td');
    const asked: string[] = [];
    const listen = (request: HTTPRequest): void => void (request.url().includes('/v1/reports/') && asked.push(request.url()));
    page.on('request', listen);
    await give(page, input, typed);
    await shows(page, fault);
    await shows(page, 'Nothing is shown until then.');
    page.off('request', listen);
    expect(asked).toEqual([]);
    expect(await page.$$eval('input[type="date"]', (inputs) => inputs.map(({ value }) => value))).toEqual(days);
    expect(await page.$eval(marked, (each) => document.getElementById(each.getAttribute('aria-describedby')!)?.textContent)).toBe(fault);
    await inspect(page, `reports-${fault === 'Give a whole date.' ? 'half-typed' : 'reversed'}`);
    await page.keyboard.press('Escape');
  });

  test('columns are chosen, kept with a saved view, and those of the spreadsheet', async () => {
    await given.go(`job-profitability?${CUSTOM}&bucket=month`);
    const usual = ['Jobs', 'Revenue', 'Total cost', 'Gross profit', 'Margin'];
    expect(await titles(page)).toEqual(usual);
    await press(page, 'Columns: 5 of 10 columns');
    await inspect(page, 'reports-columns');
    for (const label of ['Labor cost', 'Jobs']) await page.locator(`label.choice ::-p-text(${label})`).click();
    await page.keyboard.press('Escape');
    const chosen = ['Revenue', 'Labor cost', 'Total cost', 'Gross profit', 'Margin'];
    expect(await titles(page)).toEqual(chosen);
    const [labor] = await page.$$eval('.groups tfoot td.numeric', (cells) => cells.slice(1, 2).map(({ textContent }) => textContent));
    expect(given.cents(labor!)).toBe(given.jobs.reduce((sum, row) => sum + row['labor_cost_cents'], 0));
    const sheet = await readSheet(await saved(page, 'For Excel'), 'By job type');
    expect(sheet.find((row) => row.includes('Revenue'))).toEqual(['Job type', ...chosen]);
    await press(page, 'Save view…');
    await press(page, 'Save');
    await shows(page, 'was saved. It is listed under Reports.');
    await page.evaluate(() => void (location.hash = '/reports'));
    await press(page, 'Job profitability by job type');
    await page.waitForFunction(() => location.hash.includes('column=labor_cost_cents'));
    await page.waitForSelector('.groups th');
    expect(await titles(page)).toEqual(chosen);
    await press(page, 'Columns: 5 of 10 columns');
    await press(page, 'The usual columns');
    await page.waitForFunction(() => !location.hash.includes('column='));
    expect(await titles(page)).toEqual(usual);
    await page.evaluate(() => void (location.hash = '/reports'));
    await press(page, 'Forget Job profitability by job type');
    await page.waitForFunction(() => !document.body.innerText.includes('Saved views'));
  });
}
