// What can be seen to be wrong with a page by looking at it as a whole.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'puppeteer-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Barriers that axe finds. Evaluated, not injected as an element: the page's policy would refuse that, and must. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => (globalThis as any).axe.run(document, { resultTypes: ['violations'] }));
  return violations
    .filter(({ impact }: any) => impact === 'serious' || impact === 'critical' || impact === 'moderate')
    .map(({ id, nodes }: any) => `${id}: ${nodes.map(({ target }: any) => target.join(' ')).join(', ')}`);
}

/** The elements that reach over the right edge, where the page as a whole does. */
export const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth)
      .map((element) => `${element.tagName}.${element.className}`);
  });
