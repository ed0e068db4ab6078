// The Tab key on a screen.
import type { Page } from 'puppeteer-core';

/** Presses between two looks, and at most: a long list has a link or two in each row. */
const AT_ONCE = 20;
const MOST = 60;

/** What is wrong with the stops of the Tab key: one that is not seen, one that shows no focus, one that the key does not leave. */
export async function tabProblems(page: Page): Promise<string[]> {
  const before = await page.evaluateHandle(() => document.activeElement as HTMLElement);
  const watch = await page.evaluateHandle(() => {
    const stops = new Set<Element>();
    const found = { problems: [] as string[], all: false, end: () => ending.abort() };
    const ending = new AbortController();
    // An input of a date and time has seven stops.
    let pressed = 0;
    const say = (at: Element, what: string): void => void found.problems.push(`${at.tagName} ${at.ariaLabel ?? at.textContent.slice(0, 40)} ${what}`);
    const options = { capture: true, signal: ending.signal };
    addEventListener('keydown', () => ++pressed === 9 && document.activeElement !== document.body && say(document.activeElement!, 'keeps the focus'), options);
    addEventListener(
      'focusin',
      ({ target }) => {
        pressed = 0;
        const at = target as Element;
        found.all ||= stops.has(at);
        stops.add(at);
        const { outlineStyle, boxShadow } = getComputedStyle(at);
        const { width, height } = at.getBoundingClientRect();
        if (width === 0 || height === 0 || !at.checkVisibility({ visibilityProperty: true, opacityProperty: true })) say(at, 'is not seen');
        else if (outlineStyle === 'none' && boxShadow === 'none') say(at, 'shows no focus');
      },
      options,
    );
    return found;
  });
  for (let steps = 0; steps < MOST && !(await watch.evaluate(({ all }) => all)); steps += AT_ONCE) {
    for (let press = 0; press < AT_ONCE; press++) await page.keyboard.press('Tab');
  }
  const problems = await watch.evaluate(({ problems: said, end }) => {
    end();
    return [...new Set(said)];
  });
  await before.evaluate((element) => element.focus());
  return problems;
}
