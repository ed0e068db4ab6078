// The console on a system whose issuer is the one of npm start.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONSOLE_CLIENT_ID, choosePort, issueToken, serveIssuer, tokenIssuer, type IssuerUser, type RunningIssuer } from '@truckroll/local-stack';
import type { Browser, Page } from 'puppeteer-core';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { openTab, startBrowser, type Tab } from './browser.ts';
import { leftBy } from './start-console.ts';

export interface IssuerSetup {
  readonly system: System;
  readonly browser: Browser;
  readonly issuer: string;
  /** Environment of a gateway that trusts the issuer. */
  readonly settings: Readonly<Record<string, string>>;
  readonly company: TestCompany;
  /** A token of the issuer for the company's user. */
  token(lifetimeSeconds: number): Promise<string>;
  openIssuer(): Promise<void>;
  closeIssuer(): Promise<void>;
  /** A tab at a place of the console, or at a whole address. */
  open(to?: string): Promise<Page>;
  /** A tab in which the company's user has signed in. */
  enter(place?: string): Promise<Page>;
  /** Closes all tabs. Resolves to what they did that they must not do, and to data they would leave in the browser. */
  leave(): Promise<string[]>;
  stop(): Promise<void>;
}

/** What the button calls the issuer. */
export const CONSOLE_SIGN_IN_NAME = 'Ruiz & Sons';

export const WITHOUT_COMPANY: IssuerUser = { subject: 'without-company', name: 'Nora Body', email: 'nora@example.com' };
export const STRANGER: IssuerUser = {
  subject: 'stranger',
  name: 'Stan Ger',
  email: 'stan@example.com',
  company: { id: '00000000-0000-4000-8000-000000000000', name: 'Elsewhere Plumbing' },
};

export async function startWithIssuer(): Promise<IssuerSetup> {
  const state = mkdtempSync(join(tmpdir(), 'truckroll-issuer-'));
  const [port, gatewayPort] = [await choosePort(), await choosePort()];
  const tokens = tokenIssuer(state, `http://127.0.0.1:${port}`);
  const users: IssuerUser[] = [WITHOUT_COMPANY, STRANGER];
  const serve = (): Promise<RunningIssuer> =>
    serveIssuer({ ...tokens, lifetimeSeconds: 3600, consoleUrls: [`http://127.0.0.1:${gatewayPort}/console`], users: async () => users });
  let running = await serve();
  const settings = { TOKEN_ISSUER: tokens.issuer, TOKEN_AUDIENCE: tokens.audience, TOKEN_JWKS_FILE: tokens.jwksFile, CONSOLE_CLIENT_ID, CONSOLE_SIGN_IN_NAME };
  const system = await startSystem({ gatewaySettings: { PORT: String(gatewayPort), ...settings } });
  const company = await system.createCompany();
  users.push({ subject: company.userId, name: 'Ada Ortiz', email: 'ada@example.com', company: { id: company.id, name: 'Test Heating & Air' } });
  const browser = await startBrowser();
  const tabs: Tab[] = [];

  async function open(to = ''): Promise<Page> {
    const tab = await openTab(browser, system.baseUrl, tokens.issuer);
    tabs.push(tab);
    await tab.page.goto(to.startsWith('http') ? to : `${system.baseUrl}/console${to}`);
    return tab.page;
  }

  return {
    system,
    browser,
    issuer: tokens.issuer,
    settings,
    company,
    token: async (lifetimeSeconds) => (await issueToken(state, { subject: company.userId, companyId: company.id, lifetimeSeconds })).token,
    async openIssuer() {
      running = await serve();
    },
    closeIssuer: () => running.close(),
    open,
    async enter(place = '') {
      const page = await open(place);
      await choose(page, 'Ada Ortiz');
      return page;
    },
    async leave() {
      const found: string[] = [];
      for (const { page, complaints, close } of tabs.splice(0)) {
        if (page.url().startsWith(system.baseUrl)) found.push(...(await leftBy(page)));
        found.push(...complaints);
        await close();
      }
      return found;
    },
    async stop() {
      await browser.close();
      await system.stop();
      await running.close();
      rmSync(state, { recursive: true });
    },
  };
}

/** Chooses a user at the issuer, and waits for the way back to the console. */
export async function choose(page: Page, name: string): Promise<void> {
  await page.locator(`::-p-xpath(//button[contains(., "${name}")])`).click();
  await page.waitForFunction(() => location.pathname === '/console' && location.search === '');
}

/** Signs in again with the console's own button. */
export async function signInAgain(page: Page): Promise<void> {
  await page.waitForSelector('button.primary:not(:disabled)');
  await page.locator('button.primary').click();
}
