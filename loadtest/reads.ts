// npm run bench:reads: lists and details of invoices compared with the baseline on the same data (docs/explanation/performance.md).
import { join } from 'node:path';
import { say } from '@truckroll/local-stack';
import { setOf } from './data/companies.ts';
import { startReading } from './data/reading.ts';
import { collectTargets, type Pair } from './data/targets.ts';
import { requireEqual } from './data/equal.ts';
import { rounded } from './measure/report.ts';
import { figuresTable, measure, warmUp, type Figures, type Variant } from './measure/rounds.ts';
import { requireWrk, writeTargets } from './measure/wrk.ts';
import { runBenchmark } from './system/benchmark.ts';
import { groupsOf, startBaseline } from './system/programs.ts';

const HELP = `npm run bench:reads -- [--rounds 3] [--seconds 10] [--only list|detail] [--quick]

Measures the list and the detail of invoices against the baseline (one Express process, pg, normalised tables) and its tuned
form, on the same 200,000 invoices of 20 companies. The first run creates the data, which takes some minutes.
--quick uses little data and short rounds: for developing only.
`;

const CONNECTIONS = [16, 1] as const;
const COMPARED = 200;

await runBenchmark({
  help: HELP,
  numbers: { rounds: [3, 1], seconds: [10, 3] },
  parts: ['list', 'detail'],
  place: ({ quick }) => setOf(quick),
  check: requireWrk,
  async run(stack, { quick, rounds, seconds, only }) {
    const { services, gateway, callers } = await startReading(stack, setOf(quick));
    const groups = await groupsOf(stack, { gateway, service: services.running.billing, integrations: services.running.integrations });
    const plain = await startBaseline(stack, 'plain');
    const tuned = await startBaseline(stack, 'tuned');

    say('Collecting every page, and comparing bodies …');
    const targets = await collectTargets(gateway.port, callers);
    for (const { port } of [plain, tuned]) {
      for (const pairs of [targets.pages, targets.details]) await requireEqual({ system: gateway.port, baseline: port }, pairs, COMPARED);
    }

    const figures: Record<string, number> = {};
    for (const [workload, pairs] of Object.entries({ list: targets.pages, detail: targets.details })) {
      if (only !== undefined && only !== workload) continue;
      const file = (side: keyof Pair): string =>
        writeTargets(
          join(stack.folder, `${workload}-${side}.targets`),
          pairs.map((pair) => pair[side]),
        );
      const side = (name: string, { pid, port }: typeof plain): Variant => {
        return { name, port, file: file('baseline'), groups: { service: [pid], PostgreSQL: groups['PostgreSQL'] ?? [] } };
      };
      const variants = [side('baseline', plain), side('tuned', tuned), { name: 'system', port: gateway.port, file: file('system'), groups }];
      await warmUp(variants);
      for (const connections of CONNECTIONS) {
        const results = await measure({ variants, connections, rounds, seconds });
        process.stdout.write(`\n${workload}, ${connections} connections, medians of ${rounds} × ${seconds} s\n${figuresTable(results)}`);
        const [slow, fast, own] = variants.map(({ name }) => results.get(name)) as [Figures, Figures, Figures];
        if (connections === 1) figures[`${workload}_p50_c1`] = rounded(own.p50 / slow.p50);
        else figures[`${workload}_throughput_c16`] = rounded(own.perSecond / slow.perSecond);
        if (connections === 16 && workload === 'list') figures['list_throughput_c16_tuned'] = rounded(own.perSecond / fast.perSecond);
      }
    }
    return figures;
  },
});
