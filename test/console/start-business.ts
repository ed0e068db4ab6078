// A generated company in the console, for tests of the screens that show its records.
import type { Page } from 'puppeteer-core';
import { fresh } from '../reports/ask.ts';
import type { TestCompany } from '../support/system.ts';
import { startConsole, type ConsoleSetup } from './start-console.ts';

export const timezone = 'America/Chicago';

export interface Business {
  readonly setup: ConsoleSetup;
  readonly company: TestCompany;
  readonly page: Page;
  /** A customer who owes money, and the open invoices. */
  readonly owing: any;
  readonly open: any[];
  /** All records of a list of the API. */
  all(path: string): Promise<any[]>;
  go(place: string): Promise<void>;
  /** The rows of the table with this caption, cell by cell. */
  rows(caption: string): Promise<string[][]>;
}

let started: Promise<Business> | undefined;

/** Starts it once, for tests in several files. */
export const startBusiness = (): Promise<Business> => (started ??= start());

async function start(): Promise<Business> {
  const setup = await startConsole();
  const company = await setup.company(timezone);
  await setup.system.importDemo(company, 11, 200, new Date().toISOString());
  await fresh(setup.system, company);

  async function all(path: string): Promise<any[]> {
    const records: any[] = [];
    let cursor: string | null = null;
    do {
      const { body }: { body: any } = await setup.system.get(
        company,
        `/v1/${path}${path.includes('?') ? '&' : '?'}limit=100${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      records.push(...body.data);
      cursor = body.pagination.next_cursor;
    } while (cursor !== null);
    return records;
  }

  const invoices = await all('invoices?status=OPEN&open_balance_from=1');
  const byAccount = Map.groupBy(invoices, ({ account }) => account.id);
  const [id] = [...byAccount].sort(([, a], [, b]) => b.length - a.length)[0]!;
  const [owing] = await all(`accounts?ids=${id}`);
  // Credits among them are negative.
  const open = (await all(`invoices?status=OPEN&account_id=${id}`)).filter(({ amounts }) => amounts.open_balance_cents !== 0);
  const page = await setup.enter(company, '/customers');

  async function rows(caption: string): Promise<string[][]> {
    const find = (wanted: string) => [...document.querySelectorAll('table')].find((table) => table.caption?.textContent === wanted);
    await page.waitForFunction(find, {}, caption);
    return page.$$eval(
      'table',
      (tables, wanted) =>
        [...tables.find((table) => table.caption?.textContent === wanted)!.querySelectorAll('tbody tr')].map((row) =>
          [...row.querySelectorAll('td')].map(({ innerText }) => innerText.trim()),
        ),
      caption,
    );
  }

  return { setup, company, page, owing, open, all, rows, go: (place) => page.evaluate((to) => void (location.hash = to), place) };
}

export const sum = (amounts: readonly number[]): number => amounts.reduce((total, each) => total + each, 0);
export const balance = (invoices: readonly any[]): number => sum(invoices.map(({ amounts }) => amounts.open_balance_cents));
/** The day on which something occurred. */
export const dayOf = ({ occurred_at: at }: any): string => new Date(at).toLocaleDateString('sv-SE', { timeZone: timezone });
