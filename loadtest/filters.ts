// npm run bench:filters: the cost of each filter for a company with a million visits and two million assignments.
import { parseArgs } from 'node:util';
import { resource } from '@truckroll/contract';
import { runMain, say } from '@truckroll/local-stack';
import pg from 'pg';
import { compareFilters, type FilterTime } from './filters/compare.ts';
import { prepareVisits, type VisitSet } from './filters/prepare.ts';
import { sequentialScans } from './filters/scans.ts';
import { startServices } from './system/programs.ts';
import { Stack } from './system/stack.ts';

const HELP = `npm run bench:filters -- [--visits 1000000] [--rounds 30]

Times a page of 100 under every single filter of visits and of assignments beside the unfiltered page, in turn, and looks
whether PostgreSQL read a large table from end to end. The first run makes the data and takes long; it is kept.
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

await runMain(async () => {
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const set: VisitSet = { database: `truckroll_filters_${options.visits}`, visits: Number(options.visits) };
  const stack = await Stack.start(set.database);
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  try {
    await client.connect();
    const company = await prepareVisits(stack, client, set);
    const services = await startServices(stack, ['scheduling']);
    const scans = await sequentialScans(client, 'scheduling', LARGE_TABLE);
    const times: FilterTime[] = [];
    for (const path of PATHS) times.push(...(await compareFilters(services.channels.scheduling, resource(path), company, Number(options.rounds))));
    await services.stop('scheduling');
    const scanned = await scans();
    print(times, scanned);
    return scanned.length === 0 ? 0 : 1;
  } finally {
    await client.end();
    await stack.close();
  }
});

function print(times: readonly FilterTime[], scanned: readonly string[]): void {
  for (const { path, filter, milliseconds, ratio, range } of times) {
    const ratioText = ratio.toFixed(2).padStart(6);
    say(`${path.padEnd(17)} ${filter.padEnd(48)} ${milliseconds.toFixed(2).padStart(8)} ms ${ratioText}${range ? '  (range)' : ''}`);
  }
  say(scanned.length === 0 ? 'No large table was read from end to end.' : `Read from end to end: ${scanned.join(', ')}.`);
  const worst = Math.max(...times.filter(({ range }) => !range).map(({ ratio }) => ratio));
  process.stdout.write(`figures: ${JSON.stringify({ worst_filter_ratio: Number(worst.toFixed(2)) })}\n`);
}
