// npm run bench:profile: CPU time of a list, a detail, a write and a webhook, by process and package.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { evenCompanies, setOf } from './data/companies.ts';
import { startReading } from './data/reading.ts';
import { collectTargets } from './data/targets.ts';
import { perEach, withCpu } from './measure/cpu.ts';
import { requireWrk, runWrk, writeTargets } from './measure/wrk.ts';
import { byGroup, microsNow, readStacks } from './profile/cpu-profile.ts';
import { runBenchmark, type BenchmarkOptions, type Figures } from './system/benchmark.ts';
import { withClient } from './system/postgres.ts';
import { groupsOf, startSystem } from './system/programs.ts';
import type { Running, Stack } from './system/stack.ts';
import { drainBacklog } from './webhooks/backlog.ts';
import { startSinks } from './webhooks/sinks.ts';
import * as webhooks from './webhooks/system.ts';
import { nothingUnderWay } from './writes/baseline.ts';
import * as writes from './writes/system.ts';

const HELP = `npm run bench:profile -- [--only reads|writes|webhooks] [--connections 16] [--seconds 15] [--events 30000] [--quick]

Profiles Node's processes and prints how much CPU time each takes for a request, in µs, by package: of a list and of a detail, on the data of
bench:reads; of a write, on that of bench:writes, while no event is published; or of an event of a backlog, as bench:webhooks sends it. --only is
reads unless given. --quick reads little data.
`;
const WARM_UP = { reads: 5, writes: 15, events: 5000, endpoints: 40 };

type Options = BenchmarkOptions<'connections' | 'seconds' | 'events', 'reads' | 'writes' | 'webhooks'>;
type Load = () => Promise<{ readonly requests: number; readonly perSecond: number }>;

/** Measures loads one after the other; the profiles are there once the processes have ended. */
interface Profiler {
  readonly stack: Stack;
  /** Settings that make Node write its profile when a process ends. */
  readonly env: Record<string, string>;
  see(name: string, processes: Readonly<Record<string, Running>>, load: Load): Promise<void>;
}

const KINDS = {
  async reads({ stack, env, see }: Profiler, { quick, connections, seconds }: Options): Promise<void> {
    const { services, gateway, callers, stop } = await startReading(stack, evenCompanies(setOf(quick)), { env });
    const targets = await collectTargets(gateway.port, callers);
    for (const [name, pairs] of Object.entries({ list: targets.pages, detail: targets.details })) {
      const requests = pairs.map(({ system }) => system);
      const file = writeTargets(join(stack.folder, `${name}-profile.targets`), requests);
      const load = (seed: string, lasts: number) => runWrk('requests.lua', [file, seed], { port: gateway.port, connections, seconds: lasts });
      await load('1', WARM_UP.reads);
      await see(name, { gateway, billing: services.running.billing }, () => load('2', seconds));
    }
    await stop();
  },

  writes: ({ stack, env, see }: Profiler, { connections, seconds }: Options): Promise<void> =>
    withClient(stack, async (client) => {
      await writes.stopPublishing(client);
      const system = await startSystem(stack, writes.SERVICES, env);
      const { gateway, services } = system;
      const key = await writes.prepareWrites(services);
      const write = writes.writeLoad(stack, key, connections);
      await write(gateway.port, await writes.readVisits(gateway, key), WARM_UP.writes);
      await nothingUnderWay(client);
      const visits = await writes.readVisits(gateway, key);
      await see('write', { gateway, scheduling: services.running.scheduling }, () => write(gateway.port, visits, seconds));
      await system.stop();
    }),

  async webhooks({ stack, env, see }: Profiler, { events }: Options): Promise<void> {
    const sinks = await startSinks();
    const { database, services, dispatcher, create } = await webhooks.startWebhooks(stack, sinks, env);
    const endpoints = await create(WARM_UP.endpoints, [sinks.urls.well]);
    const drain = (count: number) => drainBacklog(database, endpoints, sinks, count);
    await drain(WARM_UP.events);
    const { scheduling, integrations } = services.running;
    await see('webhook', { scheduling, integrations, dispatcher }, async () => ({ requests: events, perSecond: await drain(events) }));
    await database.close();
    sinks.stop();
    for (const { stop } of [dispatcher, scheduling, integrations]) await stop();
  },
};

await runBenchmark({
  help: HELP,
  numbers: { connections: 16, seconds: [15, 4], events: [30_000, 3000] },
  parts: ['reads', 'writes', 'webhooks'],
  linuxOnly: true,
  database: ({ only = 'reads', quick }: Options) => ({ reads: setOf(quick).database, writes: writes.DATABASE, webhooks: webhooks.DATABASE })[only],
  check: requireWrk,
  run: benchmark,
});

async function benchmark(stack: Stack, options: Options): Promise<Figures> {
  const folder = join(stack.folder, 'profiles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const figures: Figures = {};
  const reports: (() => void)[] = [];
  async function see(name: string, processes: Readonly<Record<string, Running>>, load: Load): Promise<void> {
    const groups = await groupsOf(stack, processes);
    const from = microsNow();
    const { result, cpu } = await withCpu(groups, load);
    const to = microsNow();
    reports.push(() => {
      process.stdout.write(`\n${name}: ${result.perSecond.toFixed(0)} a second\n`);
      for (const [of, micros] of Object.entries(perEach(cpu, result.requests / 1000))) {
        process.stdout.write(`\n${name}, ${of}: ${micros.toFixed(0)} µs of CPU time per request\n`);
        const pid = processes[of]?.pid;
        // A sample may hit a process that waits for a core, so samples give shares; the total is the measured CPU time.
        if (pid !== undefined) process.stdout.write(byGroup(readStacks(folder, pid, from, to), micros));
        figures[`${name}_${of}_us`] = Math.round(micros);
      }
    });
  }
  await KINDS[options.only ?? 'reads']({ stack, env: { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` }, see }, options);
  for (const report of reports) report();
  return figures;
}
