import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { DESKTOP, PHONE } from './browser.ts';
import { tabProblems } from './keyboard.ts';

/** SCREENSHOTS=folder stores pictures of the screens. */
const folder = process.env['SCREENSHOTS'];

/** Doubled punctuation, and placeholders for missing values. */
const UNFINISHED = /\.\.(?!\.)|[.:!?] \.|\b(undefined|NaN|Infinity|Invalid Date)\b/;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Accessibility problems that axe finds, by all of its rules or by one. axe is evaluated rather than added as an element, because the page's policy
 * must refuse that.
 */
export async function barriers(page: Page, rule?: 'color-contrast'): Promise<string[]> {
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(axe);
  const options = { resultTypes: ['violations'], ...(rule && { runOnly: [rule] }) };
  const { violations } = await page.evaluate((chosen) => (globalThis as any).axe.run(document, chosen), options);
  return violations
    .filter(({ impact }: any) => impact === 'serious' || impact === 'critical' || impact === 'moderate')
    .map(({ id, nodes }: any) => `${id}: ${nodes.map(({ target }: any) => target.join(' ')).join(', ')}`);
}

/** Elements that extend beyond the right edge, if the page scrolls horizontally. */
export const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth)
      .map((element) => `${element.tagName}.${element.className}`);
  });

/** Widths between a phone's and a large screen's, at which the layout changes. */
const WIDTHS = [390, 900, 1280, 1440];

/** Checks the text, the stops of the Tab key, and the layout on desktop and phone in both colour schemes, at widths between them and in print. */
export async function inspect(page: Page, name: string): Promise<void> {
  const text = await page.evaluate(() => document.body.innerText);
  expect([name, text.match(UNFINISHED)]).toEqual([name, null]);
  await page.setViewport(DESKTOP);
  for (const scheme of ['light', 'dark']) {
    await prefer(page, scheme);
    await picture(page, `${name}-${scheme}`);
    // The schemes differ in nothing but colours.
    expect([name, scheme, await barriers(page, scheme === 'dark' ? 'color-contrast' : undefined)]).toEqual([name, scheme, []]);
  }
  expect([name, 'keyboard', await tabProblems(page)]).toEqual([name, 'keyboard', []]);
  await page.setViewport(PHONE);
  if (folder !== undefined) await picture(page, `${name}-phone-dark`);
  await prefer(page, 'light');
  await picture(page, `${name}-phone-light`);
  expect([name, 'phone', await tooWide(page)]).toEqual([name, 'phone', []]);
  for (const width of WIDTHS) {
    await page.setViewport({ width, height: 860 });
    await picture(page, `${name}-${width}`);
    expect([name, width, await tooWide(page)]).toEqual([name, width, []]);
  }
  // The width of a letter page between its margins.
  await page.setViewport({ width: 720, height: 960 });
  await page.emulateMediaType('print');
  await picture(page, `${name}-print`);
  expect([name, 'print', await tooWide(page)]).toEqual([name, 'print', []]);
  await page.emulateMediaType('screen');
  await page.setViewport(DESKTOP);
}

/** Disables motion, because a picture taken during a transition shows mixed colours. */
async function prefer(page: Page, scheme: string): Promise<void> {
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]);
}

/** Pictures that the documentation shows, by the screen they are of. */
const SHOWN: Readonly<Record<string, string>> = { 'endpoint-failing-light': 'console.webp', 'home-light': 'home.webp' };

async function picture(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  const shown = SHOWN[name];
  if (shown !== undefined) await page.screenshot({ path: join(folder, shown), type: 'webp', quality: 80 });
}
