import type { Command } from 'commander';
import type { Report } from '../catalog.ts';
import { addFilters, queryOf } from '../filters.ts';
import { REPORTS } from '../gen/catalog.ts';
import { amountsOption, printerOf, type JsonRecord, type Shown } from '../output.ts';
import type { ApiSession } from '../session.ts';

const HELP = `
Reads every page and prints its rows. Days are those of the company's time zone.`;

interface Page {
  readonly data: JsonRecord[];
  readonly report: { readonly as_of: string };
  readonly meta: { readonly timezone: string };
}

export function register(program: Command, session: ApiSession, [, asked]: readonly string[]): void {
  const report = program.command('report').description('Print a report, in dollars.');
  for (const [name, each] of Object.entries(REPORTS)) {
    const command = report.command(name).description(`${each.about.replace(/^Reads t/, 'T')}.`);
    if (name === asked) complete(command, session, each);
  }
}

function complete(command: Command, session: ApiSession, { path, options }: Report): void {
  addFilters(command, options);
  command
    .addOption(amountsOption())
    .addHelpText('after', HELP)
    .action(async (given: Shown) => {
      const query = { ...queryOf(options, { ...given }), limit: 100 };
      if (session.csv) return void (await printCsv(session, path, query, given));
      const rows: JsonRecord[] = [];
      let last: Page | undefined;
      for await (const page of session.client().pages(path as '/v1/reports/receivables', { query, signal: session.io.signal })) {
        last = page as unknown as Page;
        rows.push(...last.data);
      }
      const printer = printerOf(session, given, columnsOf(rows), columnsOf(rows), 'Nothing was counted.');
      printer.page(rows);
      printer.end();
      if (last !== undefined) session.note(`Days of ${last.meta.timezone}, as of ${last.report.as_of}.`);
    });
}

/** The API's own CSV; only the first page's line of names is printed. */
async function printCsv(session: ApiSession, path: string, query: object, { amounts }: Shown): Promise<void> {
  const client = session.client();
  const unit = amounts === 'dollars' ? 'decimal' : 'cents';
  for (let cursor: string | undefined, first = true; ; first = false) {
    const input = { query: { ...query, amounts: unit, cursor }, headers: { accept: 'text/csv' }, signal: session.io.signal };
    const answer = await client.raw('get', path as '/v1/reports/receivables', input as object);
    const lines = (await answer.text()).trimEnd().split('\r\n');
    for (const line of first ? lines : lines.slice(1)) session.say(line);
    const next = /<([^>]+)>; *rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
    if (next === undefined) return;
    cursor = new URL(next, 'http://x').searchParams.get('cursor') ?? undefined;
  }
}

function columnsOf([first]: readonly JsonRecord[]): string[] {
  return Object.entries(first ?? {}).flatMap(([name, value]) =>
    name === 'currency' ? [] : name === 'group' ? (value === null ? [] : ['group.label']) : [name],
  );
}
