// npm run bench:profile: CPU time of a list, a detail, a write and a webhook, by process and purpose.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem, say } from '@truckroll/local-stack';
import { FULL, QUICK } from './data/companies.ts';
import { requireWrk } from './measure/wrk.ts';
import { profileReads } from './profile/reads.ts';
import { profileWebhooks } from './profile/webhooks.ts';
import { profileWrites } from './profile/writes.ts';
import { runBenchmark } from './system/benchmark.ts';
import type { Stack } from './system/stack.ts';
import * as webhooks from './webhooks/system.ts';
import * as writes from './writes/system.ts';

const HELP = `npm run bench:profile -- [--only reads|writes|webhooks] [--connections 16] [--seconds 15] [--events 30000] [--quick]

Profiles the gateway and the service and prints how much processor time each group of functions takes per request, how busy
they and the processors were, and what PostgreSQL took: of a list and of a detail, under the load of bench:reads and on its data,
of a write, under the load of bench:writes, or of an event of a backlog, as bench:webhooks sends it. Flame graphs come to
profiles in the benchmark’s folder below .truckroll, one SVG for each process and kind of request. --only is reads unless
given; --events is how many there are of webhooks, and connections and seconds are of the others. --quick reads the little data.
`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'reads' },
    connections: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '15' },
    events: { type: 'string', default: '30000' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const set = options.quick ? QUICK : FULL;

interface Kind {
  readonly database: string;
  readonly folder?: string;
  readonly wrk: boolean;
  profile(stack: Stack, folder: string): Promise<Record<string, number>>;
}

const [connections, seconds, events] = [options.connections, options.seconds, options.events].map(Number) as [number, number, number];
const KINDS: Readonly<Record<string, Kind>> = {
  reads: { database: set.database, wrk: true, profile: (stack, folder) => profileReads(stack, set, folder, connections, seconds) },
  writes: { database: writes.DATABASE, folder: writes.FOLDER, wrk: true, profile: (stack, folder) => profileWrites(stack, folder, connections, seconds) },
  webhooks: { database: webhooks.DATABASE, folder: webhooks.FOLDER, wrk: false, profile: (stack, folder) => profileWebhooks(stack, folder, events) },
};
const kind = KINDS[options.only];

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: set.database,
  ...kind,
  check() {
    if (kind === undefined) throw new Problem(`--only ${options.only} is not known: give ${Object.keys(KINDS).join(', ')}.`);
    if (process.platform !== 'linux') throw new Problem('bench:profile reads what Linux accounts of processes: run it there.');
    if (kind.wrk) requireWrk();
  },
  run: benchmark,
});

async function benchmark(stack: Stack): Promise<Record<string, number>> {
  const folder = join(stack.folder, 'profiles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const figures = (await kind?.profile(stack, folder)) ?? {};
  say(`flame graphs are in ${folder}`);
  return figures;
}
