// npm run bench:writes: the two scheduling writes over HTTP, compared with the baseline and with another checkout.
import { say } from '@truckroll/local-stack';
import { cpuText, perEach, totalOf, withCpu, type Groups } from './measure/cpu.ts';
import { requireEqual } from './data/equal.ts';
import { latencyText } from './measure/latency.ts';
import { rounded } from './measure/report.ts';
import { inTurn, median, medianRatio } from './measure/turns.ts';
import { requireWrk } from './measure/wrk.ts';
import { runBenchmark } from './system/benchmark.ts';
import { withClient } from './system/postgres.ts';
import { groupsOf, startSystem } from './system/programs.ts';
import { fillBaseline, nothingUnderWay, startBaseline } from './writes/baseline.ts';
import { DATABASE, FOLDER, SERVICES, prepareWrites, readVisits, stopPublishing, writeLoad, type Visit } from './writes/system.ts';

const HELP = `npm run bench:writes -- [--rounds 5] [--seconds 10] [--quick] [--before FOLDER]

Adds and removes technicians on 10,000 visits with 16 connections over HTTP, in turn with an Express process that gives the same
guarantees (loadtest/baseline/writes), while no event is published; and with another checkout, which --before names.
--quick runs one short round: for developing only.
`;
const CONNECTIONS = 16;
const COMPARED = 50;
/** By then V8 has compiled the hot code of all sides. */
const WARM_UP_SECONDS = 15;

interface Side {
  readonly port: number;
  /** Processes whose CPU time counts. */
  readonly groups: Groups;
  visits(): Promise<readonly Visit[]>;
}

await runBenchmark({
  help: HELP,
  numbers: { rounds: [5, 1], seconds: [10, 4] },
  place: () => ({ database: DATABASE, folder: FOLDER }),
  check: requireWrk,
  run: (stack, { rounds, seconds, before }) =>
    withClient(stack, async (client) => {
      const start = async (checkout?: string) => {
        const system = await startSystem(stack, SERVICES, {}, checkout);
        const groups = await groupsOf(stack, { gateway: system.gateway, scheduling: system.services.running.scheduling });
        return { ...system, groups };
      };
      // The relay lets go of its lock when scheduling stops.
      const preparing = await startSystem(stack, SERVICES);
      const key = await prepareWrites(preparing);
      await preparing.stop();
      await stopPublishing(client);
      const system = await start();
      const sideOf = ({ gateway, groups }: Awaited<ReturnType<typeof start>>): Side => ({ port: gateway.port, groups, visits: () => readVisits(gateway, key) });
      const own = sideOf(system);
      await fillBaseline(client, key, await own.visits());
      const baseline = await startBaseline(stack, client);
      const usual = { ...baseline, groups: { baseline: [baseline.pid], PostgreSQL: own.groups['PostgreSQL'] ?? [], Redis: own.groups['Redis'] ?? [] } };
      const targets = (await usual.visits()).map(({ id }) => ({ path: `/v1/job-appointments/${id}`, header: ['Authorization', `Bearer ${key}`] as const }));
      const pairs = targets.map((target) => ({ system: target, baseline: target }));
      await requireEqual({ system: own.port, baseline: usual.port }, pairs, COMPARED);

      const sides: Record<string, Side> = { usual, own, ...(before !== undefined && { before: sideOf(await start(before)) }) };
      const write = writeLoad(key, CONNECTIONS);
      for (const { port, visits } of Object.values(sides)) await write(port, await visits(), WARM_UP_SECONDS);
      const measured =
        (name: string, { port, groups, visits }: Side) =>
        async () => {
          await nothingUnderWay(client);
          const before = await visits();
          const { result, cpu } = await withCpu(groups, () => write(port, before, seconds));
          const each = perEach(cpu, result.requests);
          say(`${name}: ${result.perSecond.toFixed(0)} writes/s (${latencyText(result)}, CPU ms: ${cpuText(each)})`);
          return { perSecond: result.perSecond, cpu: totalOf(each) };
        };
      const results = await inTurn(rounds, Object.fromEntries(Object.entries(sides).map(([name, side]) => [name, measured(name, side)])));
      const { own: ours = [], ...others } = results;
      const figures: Record<string, number> = { writes_per_second: Math.round(median(ours.map(({ perSecond }) => perSecond))) };
      for (const [name, theirs] of Object.entries(others)) {
        figures[`write_throughput_${name}`] = rounded(medianRatio(ours, theirs, ({ perSecond }) => perSecond));
        figures[`write_cpu_${name}`] = rounded(medianRatio(ours, theirs, ({ cpu }) => cpu));
      }
      return figures;
    }),
});
