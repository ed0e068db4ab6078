// npm run bench:writes: the two scheduling writes over HTTP, compared with the baseline.
import { requireEqual } from './data/equal.ts';
import { rounded } from './measure/report.ts';
import { measure, type Side } from './measure/rounds.ts';
import { totalOf } from './measure/cpu.ts';
import { median, medianRatio } from './measure/turns.ts';
import { requireWrk } from './measure/wrk.ts';
import { runBenchmark } from './system/benchmark.ts';
import { withClient } from './system/postgres.ts';
import { groupsOf, startSystem } from './system/programs.ts';
import { fillBaseline, nothingUnderWay, startBaseline } from './writes/baseline.ts';
import { DATABASE, SERVICES, prepareWrites, readVisits, stopPublishing, writeLoad, type Visit } from './writes/system.ts';

const HELP = `npm run bench:writes -- [--rounds 5] [--seconds 10] [--quick]

Adds and removes technicians on 10,000 visits with 16 connections over HTTP, in turn with an Express process that gives the same
guarantees (loadtest/baseline/writes), while no event is published.
--quick runs one short round: for developing only.
`;
const CONNECTIONS = 16;
const COMPARED = 50;
/** By then V8 has compiled the hot code of all sides. */
const WARM_UP_SECONDS = 15;

await runBenchmark({
  help: HELP,
  numbers: { rounds: [5, 1], seconds: [10, 4] },
  database: () => DATABASE,
  check: requireWrk,
  run: (stack, { rounds, seconds }) =>
    withClient(stack, async (client) => {
      // The relay lets go of its lock when scheduling stops.
      const preparing = await startSystem(stack, SERVICES);
      const key = await prepareWrites(preparing.services);
      await preparing.stop();
      await stopPublishing(client);
      const write = writeLoad(stack, key, CONNECTIONS);
      const sideOf = async (groups: Side['groups'], port: number, visits: () => Promise<readonly Visit[]>): Promise<Side> => {
        await write(port, await visits(), WARM_UP_SECONDS);
        return {
          groups,
          async prepare() {
            await nothingUnderWay(client);
            const present = await visits();
            return () => write(port, present, seconds);
          },
        };
      };
      const { gateway, services } = await startSystem(stack, SERVICES);
      const groups = await groupsOf(stack, { gateway, scheduling: services.running.scheduling });
      const { PostgreSQL = [], Redis = [] } = groups;
      const visits = () => readVisits(gateway, key);
      await fillBaseline(client, key, await visits());
      const baseline = await startBaseline(stack, client);
      const targets = (await baseline.visits()).map(({ id }) => ({ path: `/v1/job-appointments/${id}`, header: ['Authorization', `Bearer ${key}`] as const }));
      const pairs = targets.map((target) => ({ system: target, baseline: target }));
      await requireEqual({ system: gateway.port, baseline: baseline.port }, pairs, COMPARED);

      const { usual, own } = await measure(rounds, {
        usual: await sideOf({ baseline: [baseline.pid], PostgreSQL, Redis }, baseline.port, baseline.visits),
        own: await sideOf(groups, gateway.port, visits),
      });
      return {
        writes_per_second: Math.round(median(own.map(({ perSecond }) => perSecond))),
        write_throughput_usual: rounded(medianRatio(own, usual, ({ perSecond }) => perSecond)),
        write_cpu_usual: rounded(medianRatio(own, usual, ({ cpu }) => totalOf(cpu))),
      };
    }),
});
