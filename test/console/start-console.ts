// The console on a whole system: gateway, services, dispatcher, an integrator's server, and a browser.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { until } from '@truckroll/testing/until';
import type { Browser, ElementHandle, Page } from 'puppeteer-core';
import { startReceiver, type Answer, type Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { openTab, startBrowser, type Tab } from './browser.ts';

const HOOKS = '/api/v1/integrations/webhooks';
export const TYPES = ['service_request.created', 'service_request.status_changed', 'service_request.booked', 'interaction.completed'];

const thanks: Answer = (response) => void response.writeHead(204).end();

export interface ConsoleSetup {
  readonly system: System;
  readonly receiver: Receiver;
  answer: Answer;
  company(timezone?: string): Promise<TestCompany>;
  api(company: TestCompany, method: string, path: string, body?: object): Promise<any>;
  endpoint(company: TestCompany, fields?: object): Promise<any>;
  /** Records a service request, which sends webhooks to the endpoints. */
  happen(company: TestCompany): Promise<void>;
  open(place?: string): Promise<Page>;
  /** Opens a page as a user of the company who signed in before and has reloaded it. */
  enter(company: TestCompany, place?: string): Promise<Page>;
  /** Closes all pages. Resolves to the problems recorded in them, and to data they would leave in the browser. */
  leave(): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startConsole(): Promise<ConsoleSetup> {
  const answered = { answer: thanks };
  const receiver = await startReceiver((response, request) => answered.answer(response, request));
  const system = await startSystem({ webhookAllowedTargets: [receiver.target] });
  await system.startDispatcher();
  const browser: Browser = await startBrowser();

  const tabs: Tab[] = [];

  async function openPage(): Promise<Page> {
    const tab = await openTab(browser, system.baseUrl);
    tabs.push(tab);
    return tab.page;
  }

  async function api(company: TestCompany, method: string, path: string, body?: object): Promise<any> {
    const headers = { authorization: `Bearer ${system.userToken(company)}`, 'content-type': 'application/json' };
    const response = await fetch(`${system.baseUrl}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { data: unknown }).data;
  }

  const setup: ConsoleSetup = {
    system,
    receiver,
    get answer() {
      return answered.answer;
    },
    set answer(answer) {
      answered.answer = answer;
    },
    company: (timezone) => system.createCompany(timezone),
    api,
    endpoint: (company, fields = {}) => api(company, 'POST', HOOKS, { name: 'Lead sync', url: receiver.url, eventTypes: TYPES, ...fields }),
    async happen(company) {
      const intake = system.channel('scheduling').client(IntakeServiceService);
      await intake.recordServiceRequest({
        company_id: company.id,
        id: randomUUID(),
        channel: 'SERVICE_REQUEST_CHANNEL_PHONE',
        contact_name: 'Marisol Núñez',
        summary: 'AC “not cooling”',
      } as never);
    },
    async open(place = '/endpoints') {
      const page = await openPage();
      await page.goto(`${system.baseUrl}/console#${place}`);
      await page.waitForSelector('#token');
      return page;
    },
    async enter(company, place = '/endpoints') {
      const page = await openPage();
      const keep = (token: string) => sessionStorage.setItem('truckroll.token', token);
      const { identifier } = await page.evaluateOnNewDocument(keep, system.userToken(company));
      await page.goto(`${system.baseUrl}/console#${place}`);
      await page.waitForSelector('header.bar', { visible: true });
      await page.removeScriptToEvaluateOnNewDocument(identifier);
      return page;
    },
    async leave() {
      const found: string[] = [];
      for (const { page, complaints, close } of tabs.splice(0)) {
        found.push(...complaints, ...(await leftBy(page)));
        await close();
      }
      setup.answer = thanks;
      return found;
    },
    async stop() {
      await browser.close();
      await system.stop();
      await receiver.close();
    },
  };
  return setup;
}

/** The console of the test file that is being loaded. */
let used: Promise<ConsoleSetup> | undefined;

/**
 * Starts the console before the tests of a file, and of the files with tests that it imports, and stops it after them. After each test, its pages
 * must have recorded no problem.
 */
export function useConsole(started: (setup: ConsoleSetup) => void): void {
  // Chromium may have to be installed first.
  beforeAll(async () => started(await (used ??= startConsole())), 600_000);
  afterAll(async () => {
    const own = used;
    used = undefined;
    await (await own)?.stop();
  });
  afterEach(async () => expect(await (await used)?.leave()).toEqual([]));
}

/** What a page leaves in the browser, except the session's token, which ends with its tab, and that the user signed out. */
export const leftBy = (page: Page): Promise<string[]> =>
  page.evaluate(() => [
    ...Object.keys(localStorage).filter((name) => name !== 'truckroll.signed-out'),
    ...Object.keys(sessionStorage).filter((name) => name !== 'truckroll.token'),
    ...(document.cookie === '' ? [] : [document.cookie]),
  ]);

export async function signIn(page: Page, token: string): Promise<void> {
  // At once: hundreds of characters take seconds when typed.
  await page.locator('#token').fill(token);
  await page.keyboard.press('Enter');
  await page.waitForSelector('header.bar', { visible: true });
}

/**
 * The button or link of this accessible name that can be pressed, once it stays where it is between two frames. The page finds it by itself, because
 * the browser would make its tree of accessible names anew for every look.
 */
function pressable(name: string): HTMLElement | undefined {
  const nameOf = (node: Node): string => {
    if (!(node instanceof Element)) return node.textContent ?? '';
    if (node.ariaHidden === 'true' || node instanceof SVGElement || !node.checkVisibility()) return '';
    return node.ariaLabel ?? (node instanceof HTMLImageElement ? node.alt : [...node.childNodes].map(nameOf).join(''));
  };
  const bare = (text: string): string => text.replace(/\s/g, '');
  // Nothing behind a dialog can be pressed.
  const within = [...document.querySelectorAll('dialog')].findLast((dialog) => dialog.matches(':modal')) ?? document;
  const named = [...within.querySelectorAll<HTMLElement>('button:enabled, a[href]')].find((each) => bare(nameOf(each)) === bare(name));
  const box = named?.getBoundingClientRect();
  const place = `${name} ${box?.x} ${box?.y}`;
  const stays = document.documentElement.dataset['pressed'] === place;
  if (stays) delete document.documentElement.dataset['pressed'];
  else document.documentElement.dataset['pressed'] = place;
  return stays ? named : undefined;
}

export async function press(page: Page, name: string): Promise<void> {
  const found = await page.waitForFunction(pressable, {}, name).catch(async () => {
    throw new Error(`the page has no button or link ${name} to press:\n${await visibleText(page)}`);
  });
  await (found as ElementHandle<HTMLElement>).click();
}

/** Presses the button and resolves to the content of the file that it saves. */
export async function saved(page: Page, button: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'downloads-'));
  const session = await page.target().createCDPSession();
  try {
    const behavior = { behavior: 'allowAndName', downloadPath: folder, eventsEnabled: true } as const;
    await session.send('Browser.setDownloadBehavior', { ...behavior, browserContextId: page.browserContext().id! });
    const done = new Promise<string>((resolve) => {
      session.on('Browser.downloadProgress', ({ state, guid }) => state === 'completed' && resolve(guid));
    });
    await press(page, button);
    return await readFile(join(folder, await done));
  } finally {
    await session.detach();
    await rm(folder, { recursive: true });
  }
}

/** Presses Tab until the element with this name, id or value has the focus, and checks that it has a focus ring. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let steps = 0; steps < 100; steps++) {
    await page.keyboard.press('Tab');
    const ring = await page.evaluate((wanted) => {
      const at = document.activeElement;
      const names = [at?.textContent?.trim(), at?.id, at?.getAttribute('aria-label'), (at as HTMLInputElement)?.value];
      return names.includes(wanted) ? getComputedStyle(at!).outlineStyle : undefined;
    }, name);
    if (ring === undefined) continue;
    expect([name, ring]).toEqual([name, 'solid']);
    return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}

export async function shows(page: Page, text: string): Promise<void> {
  try {
    await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), { polling: 50 }, text);
  } catch {
    throw new Error(`the page does not show “${text}” but:\n${await visibleText(page)}`);
  }
}

export const visibleText = (page: Page): Promise<string> => page.evaluate(() => document.body.innerText);

export const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent || '');

/** Waits for the focus, which a screen takes after it is shown. */
export const focuses = (page: Page, text: string): Promise<string> =>
  until(
    `the focus on ${text}`,
    () => focused(page),
    (now) => now === text,
  );

export const value = (page: Page, selector: string): Promise<string> => page.$eval(selector, (element) => (element as HTMLInputElement).value);

/** Gives an input a value at once, as a user does who pastes it or picks it. */
export const give = (page: Page, selector: string, text: string): Promise<void> =>
  page.$eval(
    selector,
    (input, to) => {
      (input as HTMLInputElement).value = to;
      for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }));
    },
    text,
  );

export async function fill(page: Page, selector: string, text: string): Promise<void> {
  await page.waitForSelector(selector);
  await page.$eval(selector, (element) => {
    (element as HTMLInputElement).value = '';
  });
  await page.type(selector, text);
}
