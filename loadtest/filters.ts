// npm run bench:filters: the cost of each filter for a company with a million visits and two million assignments.
import { parseArgs } from 'node:util';
import { resource } from '@truckroll/contract';
import { generateVisits } from '@truckroll/demo-company';
import { Problem, say } from '@truckroll/local-stack';
import type pg from 'pg';
import { companyId } from './data/companies.ts';
import { importFile } from './data/import.ts';
import { compareFilters } from './filters/compare.ts';
import { rounded } from './measure/report.ts';
import { runBenchmark } from './system/benchmark.ts';
import { withClient } from './system/postgres.ts';
import { startServices, type Services } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const HELP = `npm run bench:filters -- [--visits 1000000] [--rounds 30]

Compares a page of 100 under every single filter of visits and of assignments with the unfiltered page, in turn, and fails
if PostgreSQL read a large table from end to end. The first run creates the data and takes long. --visits is a multiple of 40.
`;

const PATHS = ['job-appointments', 'job-assignments'];
/** Number of rows above which a sequential scan is a defect. */
const LARGE_TABLE = 10_000;

const { values: options } = parseArgs({
  options: {
    visits: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '30' },
    help: { type: 'boolean', default: false },
  },
});
const company = { id: companyId(`truckroll visits ${options.visits}`), timezone: 'America/Chicago' };

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: `truckroll_filters_${options.visits}`,
  run: (stack) => withClient(stack, (client) => benchmark(stack, client)),
});

async function benchmark(stack: Stack, client: pg.Client): Promise<Record<string, number>> {
  const services = await startServices(stack, ['scheduling']);
  await prepare(client, services);
  const before = await scansOf(client);
  const ratios: number[] = [];
  for (const path of PATHS) {
    for (const { filter, milliseconds, ratio, range } of await compareFilters(services.channels.scheduling, resource(path), company, Number(options.rounds))) {
      say(`${path.padEnd(17)} ${filter.padEnd(48)} ${milliseconds.toFixed(2).padStart(8)} ms ${ratio.toFixed(2).padStart(6)}${range ? '  (range)' : ''}`);
      if (!range) ratios.push(ratio);
    }
  }
  // The service reports its last statements to PostgreSQL when its connections end.
  await services.stop('scheduling');
  const scanned = [...(await scansOf(client))].filter(([table, scans]) => scans > (before.get(table) ?? 0));
  if (scanned.length > 0) throw new Problem(`Read from end to end: ${scanned.map(([table]) => table).join(', ')}.`);
  return { worst_filter_ratio: rounded(Math.max(...ratios)) };
}

/** Does nothing if the database already holds the data. */
async function prepare(client: pg.Client, { channels }: Pick<Services, 'channels'>): Promise<void> {
  const { rows } = await client.query<{ there: boolean }>(`select to_regclass('public.prepared') is not null as there`);
  if (rows[0]?.there === true) return;
  for (const file of generateVisits({ seed: 3, visits: Number(options.visits), timezone: company.timezone, until: '2026-06-30T18:00:00Z' })) {
    say(`Importing ${file.path}, once …`);
    await importFile(channels, company.id, file, () => undefined);
  }
  await client.query('vacuum (analyze)');
  await client.query('create table public.prepared as select now() as at');
}

/** Sequential scans of large tables so far. */
async function scansOf(client: pg.Client): Promise<Map<string, number>> {
  await client.query('select pg_stat_clear_snapshot()');
  const text = `select relname, seq_scan::int as scans from pg_stat_user_tables where schemaname = 'scheduling' and n_live_tup > $1`;
  const { rows } = await client.query<{ relname: string; scans: number }>(text, [LARGE_TABLE]);
  return new Map(rows.map(({ relname, scans }) => [relname, scans]));
}
