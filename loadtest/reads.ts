// npm run bench:reads: lists and details of invoices compared with the baseline on the same data (docs/explanation/performance.md).
import { join } from 'node:path';
import { say } from '@truckroll/local-stack';
import { evenCompanies, setOf } from './data/companies.ts';
import { requireEqual } from './data/equal.ts';
import { startReading } from './data/reading.ts';
import { collectTargets, type Pair } from './data/targets.ts';
import { rounded } from './measure/report.ts';
import { measure, type Side } from './measure/rounds.ts';
import { medianRatio } from './measure/turns.ts';
import { requireWrk, runWrk, writeTargets } from './measure/wrk.ts';
import { runBenchmark, type Figures } from './system/benchmark.ts';
import { groupsOf } from './system/programs.ts';

const HELP = `npm run bench:reads -- [--rounds 3] [--seconds 10] [--only list|detail] [--quick]

Measures the list and the detail of invoices against the baseline (one Express process, pg, normalised tables) and its tuned
form, on the same 200,000 invoices of 20 companies. The first run creates the data, which takes some minutes.
--quick uses little data and short rounds: for developing only.
`;

const CONNECTIONS = [16, 1] as const;
const WARM_UP = { connections: 16, seconds: 3 };
const COMPARED = 200;

await runBenchmark({
  help: HELP,
  numbers: { rounds: [3, 1], seconds: [10, 3] },
  parts: ['list', 'detail'],
  database: ({ quick }) => setOf(quick).database,
  check: requireWrk,
  async run(stack, { quick, rounds, seconds, only }) {
    const { services, gateway, callers } = await startReading(stack, evenCompanies(setOf(quick)));
    const groups = await groupsOf(stack, { gateway, service: services.running.billing, integrations: services.running.integrations });
    const startBaseline = (name: string, ...args: string[]) => stack.launch({ name, script: 'loadtest/baseline/main.ts', args, onePort: true });
    const baselines = { baseline: await startBaseline('baseline'), tuned: await startBaseline('baseline-tuned', '--tuned') };

    say('Collecting every page, and comparing bodies …');
    const targets = await collectTargets(gateway.port, callers);
    for (const { port } of Object.values(baselines)) {
      for (const pairs of [targets.pages, targets.details]) await requireEqual({ system: gateway.port, baseline: port }, pairs, COMPARED);
    }

    const figures: Figures = {};
    for (const [workload, pairs] of Object.entries({ list: targets.pages, detail: targets.details })) {
      if (only !== undefined && only !== workload) continue;
      const fileOf = (side: keyof Pair): string => {
        const requests = pairs.map((pair) => pair[side]);
        return writeTargets(join(stack.folder, `${workload}-${side}.targets`), requests);
      };
      const files = { system: fileOf('system'), baseline: fileOf('baseline') };
      for (const { port } of Object.values(baselines)) await runWrk('requests.lua', [files.baseline, '1'], { port, ...WARM_UP });
      await runWrk('requests.lua', [files.system, '1'], { port: gateway.port, ...WARM_UP });
      for (const connections of CONNECTIONS) {
        say(`${workload}, ${connections} connections`);
        const load = (port: number, file: string) => async (round: number) => () =>
          runWrk('requests.lua', [file, String(100 + round)], { port, connections, seconds });
        const asBaseline = ({ pid, port }: typeof gateway): Side => {
          return { groups: { service: [pid], PostgreSQL: groups['PostgreSQL'] ?? [] }, prepare: load(port, files.baseline) };
        };
        const { baseline, tuned, system } = await measure(rounds, {
          baseline: asBaseline(baselines.baseline),
          tuned: asBaseline(baselines.tuned),
          system: { groups, prepare: load(gateway.port, files.system) },
        });
        const throughput = (other: typeof system): number => rounded(medianRatio(system, other, ({ perSecond }) => perSecond));
        if (connections === 1) figures[`${workload}_p50_c1`] = rounded(medianRatio(system, baseline, ({ p50 }) => p50));
        else figures[`${workload}_throughput_c16`] = throughput(baseline);
        if (connections === 16 && workload === 'list') figures['list_throughput_c16_tuned'] = throughput(tuned);
      }
    }
    return figures;
  },
});
