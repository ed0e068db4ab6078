import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'puppeteer-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Accessibility problems that axe finds. axe is evaluated rather than added as an element, because the page's policy must refuse that. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => (globalThis as any).axe.run(document, { resultTypes: ['violations'] }));
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
