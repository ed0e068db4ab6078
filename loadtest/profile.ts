// npm run bench:profile: where the microseconds of a list and of a detail go, by process and by what they are for.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem, say } from '@truckroll/local-stack';
import { FULL, QUICK } from './data/companies.ts';
import { startReading } from './data/reading.ts';
import { collectTargets } from './data/targets.ts';
import { perEach, withCpu, type CpuMs } from './measure/cpu.ts';
import { requireWrk, runLoad, writeTargets } from './measure/wrk.ts';
import { microsNow, readStacks, type Window } from './profile/cpu-profile.ts';
import { flameGraph } from './profile/flame-graph.ts';
import { byGroup } from './profile/groups.ts';
import { runBenchmark } from './system/benchmark.ts';
import { postgresPid } from './system/postgres.ts';
import type { Stack } from './system/stack.ts';

const HELP = `npm run bench:profile -- [--connections 16] [--seconds 15] [--quick]

Profiles the gateway and the service under the load of bench:reads, on its data, and prints for a list and for a detail how
much processor time each group of functions takes per request. Flame graphs come to .truckroll/benchmarks/profiles, one SVG
for each process and kind of request. --quick uses the little data.
`;
const WARM_UP_SECONDS = 5;
const WORKLOADS = { list: 'pages', detail: 'details' } as const;
type Workload = keyof typeof WORKLOADS;

const { values: options } = parseArgs({
  options: {
    connections: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '15' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const set = options.quick ? QUICK : FULL;

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: set.database,
  check() {
    if (process.platform !== 'linux') throw new Problem('bench:profile reads what Linux accounts of processes: run it there.');
    requireWrk();
  },
  run: benchmark,
});

interface Seen {
  readonly workload: Workload;
  readonly window: Window;
  /** Milliseconds per request, by process. */
  readonly cpu: CpuMs;
}

async function benchmark(stack: Stack): Promise<Record<string, number>> {
  const folder = join(stack.folder, 'profiles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const env = { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` };
  const { services, gateway, callers } = await startReading(stack, set, env);
  const pids = { gateway: gateway.pid, billing: services.running.billing.pid };
  const groups = { gateway: [pids.gateway], billing: [pids.billing], PostgreSQL: [await postgresPid(stack)], Redis: [stack.pidOf('redis') ?? 0] };

  const targets = await collectTargets(gateway.port, callers);
  const seen: Seen[] = [];
  for (const workload of Object.keys(WORKLOADS) as Workload[]) {
    const file = join(stack.folder, `${workload}-profile.targets`);
    writeTargets(
      file,
      targets[WORKLOADS[workload]].map(({ system }) => system),
    );
    const load = { port: gateway.port, file, connections: Number(options.connections) };
    await runLoad({ ...load, seconds: WARM_UP_SECONDS, seed: 1 });
    const from = microsNow();
    const { result, cpu } = await withCpu(groups, () => runLoad({ ...load, seconds: Number(options.seconds), seed: 2 }));
    seen.push({ workload, window: { from, to: microsNow() }, cpu: perEach(cpu, result.requests) });
  }
  // A process writes its profile as it ends.
  await gateway.stop();
  await services.stop('billing');
  await services.stop('integrations');

  const figures: Record<string, number> = {};
  for (const one of seen) for (const process of ['gateway', 'billing'] as const) Object.assign(figures, told(folder, process, pids[process], one));
  say(`flame graphs are in ${folder}`);
  return figures;
}

function told(folder: string, process: 'gateway' | 'billing', pid: number, { workload, window, cpu }: Seen): Record<string, number> {
  const stacks = readStacks(folder, pid, window);
  writeFileSync(join(folder, `${workload}-${process}.svg`), flameGraph(`${process}, ${workload}`, stacks, (cpu[process] ?? NaN) * 1000));
  // Samples are taken by the clock, also while others have the processor: they tell shares of what the process really took.
  const all = (cpu[process] ?? NaN) * 1000;
  const sum = stacks.reduce((total, { micros }) => total + micros, 0);
  const rows = [...byGroup(stacks)].map(([group, micros]) => `  ${((all * micros) / sum).toFixed(1).padStart(8)}  ${group}\n`);
  globalThis.process.stdout.write(`\n${workload}, ${process}: ${all.toFixed(0)} µs of processor per request\n${rows.join('')}`);
  return { [`${workload}_${process}_us`]: Math.round(all) };
}
