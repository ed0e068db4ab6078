// The documentation in a browser, and some of its samples on a real system. npm run check:docs runs all samples.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import type { Browser, Page } from 'puppeteer-core';
import { buildSite } from '../../gateway/docs/src/site.ts';
import { checkErrors, checkSamples } from '../docs/check.ts';
import { standInsOf } from '../docs/stand-ins.ts';
import type { Target } from '../docs/target.ts';
import { startSystem, type System } from '../support/system.ts';
import { DESKTOP, PHONE, openTab, startBrowser, type Tab } from './browser.ts';
import { focused, press, tabTo, visibleText } from './start-console.ts';
import { barriers, tooWide } from './inspect.ts';

const root = join(import.meta.dirname, '../..');
const folder = process.env['SCREENSHOTS'];
let system: System;
let target: Target;
let browser: Browser;
let keyFolder: string;
let tab: Tab;
let page: Page;

beforeAll(async () => {
  keyFolder = mkdtempSync(join(tmpdir(), 'truckroll-docs-'));
  system = await startSystem({ gatewaySettings: { DOCS_DEMO_KEY_FILE: join(keyFolder, 'key') } });
  const company = await system.createCompany();
  target = { url: system.baseUrl, key: company.apiKey, token: system.userToken(company) };
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await system.stop();
  rmSync(keyFolder, { recursive: true });
});
beforeEach(async () => {
  tab = await openTab(browser, system.baseUrl);
  page = tab.page;
});
afterEach(async () => {
  await tab.close();
  expect(tab.complaints.filter((text) => !text.includes('status of 404'))).toEqual([]);
});

const open = (path: string) => page.goto(system.baseUrl + path);

async function prefer(scheme: string): Promise<void> {
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]);
}

test.each(['/docs', '/docs/reports', '/docs/records', '/docs/reference/job-assignments', '/nowhere'])(
  '%s has no accessibility problem that axe finds, in either colour scheme, and fits the width of a phone',
  async (path) => {
    await open(path);
    for (const [name, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
      await page.setViewport(viewport);
      for (const scheme of ['light', 'dark']) {
        await prefer(scheme);
        if (folder !== undefined) {
          await mkdir(folder, { recursive: true });
          await page.screenshot({ path: `${folder}/docs${path.replaceAll('/', '-')}-${name}-${scheme}.png` });
        }
        // The phone has the same colours, so one scheme is enough.
        if (name === 'desktop' || scheme === 'light')
          expect([name, scheme, await barriers(page, scheme === 'dark' ? 'color-contrast' : undefined)]).toEqual([name, scheme, []]);
      }
      expect([name, await tooWide(page)]).toEqual([name, []]);
    }
  },
);

test('the search works with the keyboard alone and leads to the result’s place', async () => {
  await open('/docs/start');
  await page.keyboard.press('/');
  await page.keyboard.type('rotate webhook secret');
  await page.waitForSelector('#results [aria-selected="true"]');
  expect(await page.$eval('#search input', (input) => [input.getAttribute('aria-expanded'), input.getAttribute('aria-activedescendant')])).toEqual([
    'true',
    'result-0',
  ]);
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  expect(page.url()).toBe(`${system.baseUrl}/docs/reference/webhook#rotateWebhookSecret`);
  expect(await page.$eval('nav [aria-current="page"]', (link) => link.textContent)).toBe(await page.$eval('h1', (title) => title.textContent));

  await page.type('#search input', 'zzqx');
  await page.waitForFunction(() => document.querySelector('#search [role="status"]')?.textContent === 'Nothing found');
  await page.keyboard.press('Escape');
  expect(await page.$eval('#search input', (input) => input.value)).toBe('');
});

test('code is copied as shown, and a chosen language applies to all samples and pages', async () => {
  await open('/docs/reference/invoices');
  const shown = (selector: string) => page.$$eval(selector, (blocks) => blocks.filter((block) => block.checkVisibility()).map((block) => block.textContent));
  expect((await shown('.samples code')).every((code) => code.startsWith('curl'))).toBe(true);
  await page.click('label[for="getInvoice-python"]');
  const samples = await shown('.samples code');
  expect([samples.length, samples.every((code) => code.startsWith('import'))]).toEqual([2, true]);
  await page.$$eval('.samples .copy', (buttons) => (buttons.find((button) => button.checkVisibility()) as HTMLButtonElement | undefined)?.click());
  await page.waitForFunction(() => [...document.querySelectorAll('.copied')].some((status) => status.textContent === 'Copied'));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(samples[0]);
  await open('/docs/reference/payments');
  expect((await shown('.samples code'))[0]).toMatch(/^import/);
});

test('samples have the key that the gateway is given, and reads are run by keyboard, their answer beside the sample', async () => {
  await open('/docs/reference/tags');
  expect(await page.$('.run')).toBeNull();
  writeFileSync(join(keyFolder, 'key'), target.key);
  await page.reload();
  await page.waitForSelector('.run button');
  expect(await page.$eval('.samples code', (code) => code.textContent)).toBe(
    `curl "${target.url}/v1/tags?limit=2" \\\n  -H "Authorization: Bearer ${target.key}"`,
  );
  await tabTo(page, 'Run');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.run [role="status"]')?.textContent?.includes(': 200 in'));
  expect(await page.$eval('.run pre', (answer) => JSON.parse(answer.textContent).data)).toEqual([]);
  expect(await barriers(page)).toEqual([]);
  // Only a detail of an own record can be read.
  await page.$$eval('.run button', (buttons) => buttons[1]!.click());
  await page.waitForFunction(() => document.querySelectorAll('.run [role="status"]')[1]?.textContent === 'The demo company has none.');
  await open('/docs/reference/api-key');
  await page.waitForSelector('.run button');
  expect(await page.$$eval('.run', (places) => places.map((place) => place.closest('section')?.querySelector('h2')?.id))).toEqual(['listApiKeys']);
});

test('a heading links to itself, also by keyboard, and the page marks the section being read', async () => {
  await open('/docs/errors');
  await tabTo(page, '#');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash === '#what-to-do');
  await open('/docs/errors#retries-that-do-no-harm');
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.waitForFunction(() => document.querySelector('.contents [aria-current]')?.textContent === 'Examples');
});

test('on a phone the menu opens over the page, closes again and returns the focus', async () => {
  await page.setViewport(PHONE);
  await open('/docs');
  expect(await visibleText(page)).not.toContain('Job assignments');
  await press(page, 'Menu');
  await page.waitForSelector('#menu', { visible: true });
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.waitForSelector('#menu', { hidden: true });
  expect(await focused(page)).toBe('Menu');
});

test('without JavaScript everything works except the search', async () => {
  await page.setJavaScriptEnabled(false);
  await open('/docs/reference/job-assignments');
  const text = await visibleText(page);
  for (const word of ['Adds one technician to a visit', 'expected_revision', 'required', 'Revenue attributions', 'curl -X POST']) expect(text).toContain(word);
  await page.click('label[for="addAssignment-typescript"]');
  expect(await visibleText(page)).toContain('crypto.randomUUID()');
  expect(await page.$eval('#search', (search) => search.checkVisibility())).toBe(false);
});

describe('on a running system', () => {
  const { operations } = buildSite(root);
  const named = (...names: string[]) => operations.filter(({ id }) => names.includes(id));
  const languages = new Set(['bash', 'typescript', ...(spawnSync('python3', ['--version']).status === 0 ? ['python'] : [])]);

  test('runs the samples of reads and changes as printed', async () => {
    const prepare = standInsOf(target);
    const chosen = named('listInvoices', 'getCollectionsReport', 'createApiKey', 'createWebhook', 'updateWebhook');
    const wrong = await Promise.all(chosen.map((operation) => checkSamples(operation, target, prepare, languages)));
    expect([chosen.length, wrong.flat()]).toEqual([5, []]);
  });

  // check:docs covers the operations that need visits.
  test('returns errors as shown', async () => {
    const prepare = standInsOf(target);
    const wrong = await Promise.all(
      operations.filter(({ idempotent }) => !idempotent).map(async (operation) => (await prepare(operation)) && checkErrors(operation, target, prepare)),
    );
    expect(wrong.filter((each) => each !== undefined).length).toBeGreaterThan(40);
    expect(wrong.flat().filter(Boolean)).toEqual([]);
  });
});
