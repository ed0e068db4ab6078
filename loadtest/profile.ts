// npm run bench:profile: CPU time of a list, a detail, a write and a webhook, by process and package.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem } from '@truckroll/local-stack';
import { FULL, QUICK } from './data/companies.ts';
import { startReading } from './data/reading.ts';
import { collectTargets } from './data/targets.ts';
import { perEach, withCpu } from './measure/cpu.ts';
import { requireWrk, runLoad, writeTargets } from './measure/wrk.ts';
import { byGroup, microsNow, readStacks } from './profile/cpu-profile.ts';
import { runBenchmark } from './system/benchmark.ts';
import { postgresPid, withClient } from './system/postgres.ts';
import { startGateway, startServices } from './system/programs.ts';
import type { Running, Stack } from './system/stack.ts';
import { drainBacklog } from './webhooks/backlog.ts';
import { startSinks } from './webhooks/sinks.ts';
import * as webhooks from './webhooks/system.ts';
import * as writes from './writes/system.ts';

const HELP = `npm run bench:profile -- [--only reads|writes|webhooks] [--connections 16] [--seconds 15] [--events 30000] [--quick]

Profiles Node's processes and prints how much CPU time each takes for a request, in µs, by package: of a list and of a detail, on the data of
bench:reads; of a write, on that of bench:writes, while no event is published; or of an event of a backlog, as bench:webhooks sends it. --only is
reads unless given. --quick reads little data.
`;
const WARM_UP = { reads: 5, writes: 15, events: 5000, endpoints: 40 };

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
const [connections, seconds, events] = [options.connections, options.seconds, options.events].map(Number) as [number, number, number];

type Figures = Record<string, number>;
type Load = () => Promise<{ readonly requests: number; readonly perSecond: number }>;

/** Measures loads one after the other, and reports the profiles once the processes have ended. */
interface Profiler {
  /** Settings that make Node write its profile when a process ends. */
  readonly env: Record<string, string>;
  see(name: string, processes: Readonly<Record<string, Running>>, load: Load): Promise<void>;
}

const KINDS: Readonly<Record<string, { readonly database: string; readonly folder?: string; run(stack: Stack, profiler: Profiler): Promise<void> }>> = {
  reads: {
    database: set.database,
    async run(stack, { env, see }) {
      const { services, gateway, callers } = await startReading(stack, set, env);
      const targets = await collectTargets(gateway.port, callers);
      for (const [name, pairs] of Object.entries({ list: targets.pages, detail: targets.details })) {
        const file = join(stack.folder, `${name}-profile.targets`);
        writeTargets(
          file,
          pairs.map(({ system }) => system),
        );
        const load = { port: gateway.port, file, connections };
        await runLoad({ ...load, seconds: WARM_UP.reads, seed: 1 });
        await see(name, { gateway, billing: services.running.billing }, () => runLoad({ ...load, seconds, seed: 2 }));
      }
      await gateway.stop();
      await services.stop('billing');
    },
  },
  writes: {
    database: writes.DATABASE,
    folder: writes.FOLDER,
    run: (stack, { env, see }) =>
      withClient(stack, async (client) => {
        await writes.stopPublishing(client);
        const services = await startServices(stack, ['integrations', 'scheduling'], env);
        const { key } = await writes.prepareWrites(services);
        const gateway = await startGateway(stack, services, env);
        const write = writes.writeLoad(key, connections);
        await write(gateway.port, await writes.readVisits(gateway, key), WARM_UP.writes);
        const visits = await writes.readVisits(gateway, key);
        await see('write', { gateway, scheduling: services.running.scheduling }, () => write(gateway.port, visits, seconds));
        await gateway.stop();
        await services.stop('scheduling');
      }),
  },
  webhooks: {
    database: webhooks.DATABASE,
    folder: webhooks.FOLDER,
    async run(stack, { env, see }) {
      const sinks = await startSinks();
      const { database, services, dispatcher, create } = await webhooks.startWebhooks(stack, sinks, env);
      try {
        const endpoints = await create(WARM_UP.endpoints, [sinks.urls.well]);
        const drain = (count: number) => drainBacklog(database, endpoints, sinks, count);
        await drain(WARM_UP.events);
        const { scheduling, integrations } = services.running;
        await see('webhook', { scheduling, integrations, dispatcher }, async () => ({ requests: events, perSecond: await drain(events) }));
      } finally {
        await database.close();
        sinks.stop();
      }
      await dispatcher.stop();
      await services.stop('scheduling');
      await services.stop('integrations');
    },
  },
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
    if (kind !== KINDS['webhooks']) requireWrk();
  },
  run: benchmark,
});

async function benchmark(stack: Stack): Promise<Figures> {
  const folder = join(stack.folder, 'profiles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const reports: (() => Figures)[] = [];
  const servers = { PostgreSQL: [await postgresPid(stack)], Kafka: [stack.pidOf('kafka') ?? 0], Redis: [stack.pidOf('redis') ?? 0] };
  await kind?.run(stack, {
    env: { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` },
    async see(name, processes, load) {
      const groups = { ...Object.fromEntries(Object.entries(processes).map(([of, { pid }]) => [of, [pid]])), ...servers };
      const from = microsNow();
      const { result, cpu } = await withCpu(groups, load);
      const window = { from, to: microsNow() };
      const each = perEach(cpu, result.requests / 1000);
      reports.push(() => {
        process.stdout.write(`\n${name}: ${result.perSecond.toFixed(0)} a second\n`);
        for (const [of, micros] of Object.entries(each)) {
          process.stdout.write(`\n${name}, ${of}: ${micros.toFixed(0)} µs of CPU time per request\n`);
          const pid = processes[of]?.pid;
          // A sample may hit a process that waits for a core, so samples give shares; the total is the measured CPU time.
          if (pid !== undefined) process.stdout.write(byGroup(readStacks(folder, pid, window), micros));
        }
        return Object.fromEntries(Object.entries(each).map(([of, micros]) => [`${name}_${of}_us`, Math.round(micros)]));
      });
    },
  });
  return Object.assign({}, ...reports.map((report) => report())) as Figures;
}
