// npm run bench:profile: where the microseconds of a list, a detail and a write go, by process and by what they are for.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem, say } from '@truckroll/local-stack';
import { FULL, QUICK } from './data/companies.ts';
import { requireWrk } from './measure/wrk.ts';
import { profileReads } from './profile/reads.ts';
import { profileWrites } from './profile/writes.ts';
import { runBenchmark } from './system/benchmark.ts';
import type { Stack } from './system/stack.ts';
import { DATABASE, FOLDER } from './writes/system.ts';

const HELP = `npm run bench:profile -- [--only reads|writes] [--connections 16] [--seconds 15] [--quick]

Profiles the gateway and the service and prints how much processor time each group of functions takes per request, how busy
they and the processors were, and what PostgreSQL took: of a list and of a detail, under the load of bench:reads and on its data,
or of a write, under the load of bench:writes. Flame graphs come to profiles in the benchmark’s folder below .truckroll, one
SVG for each process and kind of request. --only is reads unless given. --quick reads the little data.
`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'reads' },
    connections: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '15' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const set = options.quick ? QUICK : FULL;
const writes = options.only === 'writes';

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: writes ? DATABASE : set.database,
  ...(writes ? { folder: FOLDER } : {}),
  check() {
    if (!['reads', 'writes'].includes(options.only)) throw new Problem(`--only ${options.only} is not known: give reads or writes.`);
    if (process.platform !== 'linux') throw new Problem('bench:profile reads what Linux accounts of processes: run it there.');
    requireWrk();
  },
  run: benchmark,
});

async function benchmark(stack: Stack): Promise<Record<string, number>> {
  const folder = join(stack.folder, 'profiles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [connections, seconds] = [Number(options.connections), Number(options.seconds)];
  const figures = writes ? await profileWrites(stack, folder, connections, seconds) : await profileReads(stack, set, folder, connections, seconds);
  say(`flame graphs are in ${folder}`);
  return figures;
}
