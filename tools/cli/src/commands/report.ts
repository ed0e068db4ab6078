import { operations } from '@truckroll/contract';
import { Argument, type Command } from 'commander';
import { readApi, type ApiClientOptions } from '../export/http.ts';
import type { Session } from '../session.ts';
import { table } from '@truckroll/integrator-cli/terminal/table';

const HELP = `
Reads every page of a report over HTTP and prints its rows; amounts are in cents. docs/reference/reports.md explains the columns.
For a spreadsheet, request CSV from the API: Accept: text/csv.

Examples:
  truckroll report invoice-activity --from 2026-01-01 --to 2027-01-01 --bucket quarter
  truckroll report collections --from 2026-03-01 --to 2026-04-01 --group-by payment_method --where method=CARD method=ACH
  truckroll report job-profitability --from 2026-01-01 --to 2026-04-01 --json
  truckroll report receivables --group-by account`;

const REPORTS = '/v1/reports/';
const names = operations.filter(({ kind }) => kind === 'report').map(({ route }) => route.slice(REPORTS.length));

interface Given {
  from?: string;
  to?: string;
  bucket?: string;
  groupBy?: string;
  where?: string[];
  key?: string;
  url?: string;
}

/** By the parameter that they become. */
const OPTIONS: Readonly<Record<string, string>> = { start_date: '--from', end_date: '--to', bucket: '--bucket', group_by: '--group-by' };

type Row = Record<string, unknown> & { group: { value: string | null; label: string | null } | null };

interface Page {
  data: Row[];
  pagination: { next_cursor: string | null };
  report: { as_of: string };
  meta: { timezone: string };
}

export function register(program: Command, session: Session): void {
  program
    .command('report')
    .description('Print a report of a company.')
    .addArgument(new Argument('<name>', 'which one').choices(names))
    .option('--from <date>', 'first day, such as 2026-01-01; required except for receivables, which show the present')
    .option('--to <date>', 'day after the last one; required except for receivables')
    .option('--bucket <length>', 'day, week, month, quarter or year')
    .option('--group-by <dimension>', 'dimension with a row for each value, such as account')
    .option('--where <filters...>', 'filters of the report as name=value')
    .option('--key <key>', 'API key of the company; default: TRUCKROLL_API_KEY')
    .option('--url <url>', 'address of the API; default: TRUCKROLL_URL')
    .addHelpText('after', HELP)
    .action(async (name: string, given: Given) => {
      const { rows, last } = await readReport(`${REPORTS}${name}?${queryOf(given)}`, {
        baseUrl: session.baseUrl(given.url),
        apiKey: session.apiKey(given.key),
        signal: session.io.signal,
        onWaiting: (reason) => session.note(reason),
        optionOf: (field) => OPTIONS[field] ?? `--where ${field}`,
      });
      const text = table(rows, columnsOf(rows), 'Nothing was counted.');
      session.print({ data: rows, report: last.report }, `${text}\n\nDays of ${last.meta.timezone}, as of ${last.report.as_of}.`);
    });
}

function queryOf({ from, to, bucket, groupBy, where = [] }: Given): string {
  const query = new URLSearchParams({ limit: '100' });
  if (from !== undefined) query.set('start_date', from);
  if (to !== undefined) query.set('end_date', to);
  if (bucket !== undefined) query.set('bucket', bucket);
  if (groupBy !== undefined) query.set('group_by', groupBy);
  for (const filter of where) {
    const [name = '', ...value] = filter.split('=');
    query.append(name, value.join('='));
  }
  return query.toString();
}

async function readReport(path: string, options: ApiClientOptions): Promise<{ rows: Row[]; last: Page }> {
  const rows: Row[] = [];
  for (let cursor: string | null = null; ; ) {
    const last = (await readApi(path, cursor === null ? {} : { cursor }, options)) as Page;
    rows.push(...last.data);
    cursor = last.pagination.next_cursor;
    if (cursor === null) return { rows, last };
  }
}

function columnsOf([first]: readonly Row[]): Record<string, (row: Row) => unknown> {
  const fields = Object.keys(first ?? {}).filter((name) => name !== 'currency' && (name !== 'group' || first?.group !== null));
  return Object.fromEntries(fields.map((name) => [name, (row: Row) => (name === 'group' ? (row.group?.label ?? row.group?.value) : row[name])]));
}
