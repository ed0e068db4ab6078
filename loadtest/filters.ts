// npm run bench:filters: the cost of each filter for a company with a million visits and two million assignments, and of searches.
import { resource } from '@truckroll/contract';
import { generateVisits } from '@truckroll/demo-company';
import { Problem, say } from '@truckroll/local-stack';
import type pg from 'pg';
import { TIMEZONE, UNTIL, companyId } from './data/companies.ts';
import { importFile } from './data/import.ts';
import { casesOf, pageReader, sample } from './filters/cases.ts';
import { timed } from './measure/latency.ts';
import { rounded } from './measure/report.ts';
import { inTurn, median } from './measure/turns.ts';
import { SEARCHES, searchedFiles } from './filters/search.ts';
import { runBenchmark, type Figures } from './system/benchmark.ts';
import { once, withClient } from './system/postgres.ts';
import { startServices } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const HELP = `npm run bench:filters -- [--visits 1000000] [--accounts 200000] [--invoices 1000000] [--rounds 30] [--only filters|search] [--quick]

filters  compares a page of 100 under every single filter of visits and of assignments with the unfiltered page, in turn, and fails
         if PostgreSQL read a large table from end to end
search   prints what a page of 50 takes that is searched for rare words, frequent ones, and frequent ones that seldom meet
The first run creates the data and takes long. --visits is a multiple of 40. --quick uses little data: for developing only.
`;

const PATHS = ['job-appointments', 'job-assignments'];
const WARM_UP_ROUNDS = 2;
/** Records on a page of a search: the default of lists. */
const SEARCHED_PAGE = 50;
/** Number of rows above which a sequential scan is a defect. */
const LARGE_TABLE = 10_000;

type Options = Readonly<Record<'visits' | 'accounts' | 'invoices' | 'rounds', number>>;

await runBenchmark<keyof Options, 'filters' | 'search'>({
  help: HELP,
  numbers: { visits: [1_000_000, 20_000], accounts: [200_000, 5_000], invoices: [1_000_000, 10_000], rounds: [30, 3] },
  parts: ['filters', 'search'],
  database: ({ visits }) => `truckroll_filters_${visits}`,
  run: async (stack, options) => ({
    ...(options.only === 'search' ? {} : await filters(stack, options)),
    ...(options.only === 'filters' ? {} : await searches(stack, options)),
  }),
});

function filters(stack: Stack, { visits, rounds }: Options): Promise<Figures> {
  return withClient(stack, async (client) => {
    const company = companyId(`truckroll visits ${visits}`);
    const services = await startServices(stack, ['scheduling']);
    await once(client, 'visits', async () => {
      for (const file of generateVisits({ seed: 3, visits, timezone: TIMEZONE, until: UNTIL })) {
        say(`Importing ${file.path}, once …`);
        await importFile(services.channels, company, file);
      }
    });
    const before = await scansOf(client);
    const ratios: number[] = [];
    for (const path of PATHS) {
      const page = pageReader(services.channels.scheduling, resource(path), company);
      for (const { name, filter, range } of casesOf(resource(path), await sample(page))) {
        const times = await inTurn(WARM_UP_ROUNDS + rounds, { filtered: () => timed(() => page(filter)), plain: () => timed(() => page({})) });
        const [filtered, plain] = [median(times.filtered.slice(WARM_UP_ROUNDS)), median(times.plain.slice(WARM_UP_ROUNDS))];
        const ratio = filtered / plain;
        say(`${path.padEnd(17)} ${name.padEnd(48)} ${filtered.toFixed(2).padStart(8)} ms ${ratio.toFixed(2).padStart(6)}${range ? '  (range)' : ''}`);
        // A page in the middle of the data is a different page.
        if (!range) ratios.push(ratio);
      }
    }
    // The service reports its last statements to PostgreSQL when its connections end.
    await services.stop('scheduling');
    const scanned = [...(await scansOf(client))].filter(([table, scans]) => scans > (before.get(table) ?? 0));
    if (scanned.length > 0) throw new Problem(`Read from end to end: ${scanned.map(([table]) => table).join(', ')}.`);
    return { worst_filter_ratio: rounded(Math.max(...ratios)) };
  });
}

/** The median time of the slowest search of each kind, in milliseconds. */
function searches(stack: Stack, { accounts, invoices, rounds }: Options): Promise<Figures> {
  return withClient(stack, async (client) => {
    const company = companyId(`truckroll searches ${accounts} ${invoices}`);
    const services = await startServices(stack, ['scheduling', 'billing']);
    await once(client, `searches ${accounts} ${invoices}`, async () => {
      for (const file of searchedFiles(accounts, invoices)) {
        say(`Importing ${file.path}, once …`);
        await importFile(services.channels, company, file);
      }
      await client.query('vacuum analyze');
    });
    const worst = new Map<string, number>();
    for (const { path, search, kind } of SEARCHES) {
      const page = pageReader(path === 'accounts' ? services.channels.scheduling : services.channels.billing, resource(path), company, SEARCHED_PAGE);
      const times: number[] = [];
      for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) times.push(await timed(() => page({ search })));
      const { data, next } = await page({ search });
      const took = median(times.slice(WARM_UP_ROUNDS));
      const found = `${data.length} found${next.length > 0 ? ', and more pages' : ''}`;
      say(`${path.padEnd(17)} ${`search=${search}`.padEnd(48)} ${took.toFixed(2).padStart(8)} ms  ${found}`);
      worst.set(kind, Math.max(took, worst.get(kind) ?? 0));
    }
    await services.stop('scheduling');
    await services.stop('billing');
    return Object.fromEntries([...worst].map(([kind, took]) => [`search_${kind}_ms`, rounded(took)]));
  });
}

/** Sequential scans of large tables so far. */
async function scansOf(client: pg.Client): Promise<Map<string, number>> {
  await client.query('select pg_stat_clear_snapshot()');
  const text = `select relname, seq_scan::int as scans from pg_stat_user_tables where schemaname = 'scheduling' and n_live_tup > $1`;
  const { rows } = await client.query<{ relname: string; scans: number }>(text, [LARGE_TABLE]);
  return new Map(rows.map(({ relname, scans }) => [relname, scans]));
}
