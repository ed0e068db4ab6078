// npm run bench:reads: lists and details of invoices compared with the baseline on the same data (docs/explanation/performance.md).
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem, say } from '@truckroll/local-stack';
import { FULL, QUICK } from './data/companies.ts';
import { startReading } from './data/reading.ts';
import { collectTargets, type Pair } from './data/targets.ts';
import type { Groups } from './measure/cpu.ts';
import { requireEqual } from './measure/equal.ts';
import { rounded } from './measure/report.ts';
import { figuresTable, measure, warmUp, type Figures, type Variant } from './measure/rounds.ts';
import { requireWrk, writeTargets } from './measure/wrk.ts';
import { runBenchmark } from './system/benchmark.ts';
import { postgresPid } from './system/postgres.ts';
import { startBaseline } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const HELP = `npm run bench:reads -- [--rounds 3] [--seconds 10] [--only list|detail|encodings] [--quick]

Measures the list and the detail of invoices against the baseline (one Express process, pg, normalised tables) and its tuned
form, on the same 200,000 invoices of 20 companies. The first run creates the data, which takes some minutes. --only encodings
compares compressed lists with uncompressed ones. --quick uses little data and short rounds: for developing only.
`;

const PARTS = ['list', 'detail', 'encodings'];
const CONNECTIONS = [16, 1] as const;
const COMPARED = 200;
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const { only } = options;
const rounds = Number(options.rounds ?? (options.quick ? 1 : 3));
const seconds = Number(options.seconds ?? (options.quick ? 3 : 10));
const set = options.quick ? QUICK : FULL;

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: set.database,
  check() {
    if (only !== undefined && !PARTS.includes(only)) throw new Problem(`--only ${only} is not known: give ${PARTS.join(', ')}.`);
    requireWrk();
  },
  run: benchmark,
});

async function benchmark(stack: Stack): Promise<Record<string, number>> {
  const { services, gateway, callers } = await startReading(stack, set);
  const postgres = await postgresPid(stack);
  const groups: Groups = {
    gateway: [gateway.pid],
    service: [services.running.billing.pid],
    PostgreSQL: [postgres],
    other: [services.running.integrations.pid, stack.pidOf('redis') ?? 0],
  };
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
    const side = ({ pid, port }: typeof plain): Omit<Variant, 'name'> => {
      return { port, file: targetFile(stack, workload, pairs, 'baseline'), groups: { service: [pid], PostgreSQL: [postgres] } };
    };
    const system = { name: 'system', port: gateway.port, file: targetFile(stack, workload, pairs, 'system'), groups };
    await compare(workload, [{ name: 'baseline', ...side(plain) }, { name: 'tuned', ...side(tuned) }, system], (connections, of) => {
      const [slow, fast, own] = [of('baseline'), of('tuned'), of('system')];
      if (connections === 1) figures[`${workload}_p50_c1`] = rounded(own.p50 / slow.p50);
      else figures[`${workload}_throughput_c16`] = rounded(own.perSecond / slow.perSecond);
      if (connections === 16 && workload === 'list') figures['list_throughput_c16_tuned'] = rounded(own.perSecond / fast.perSecond);
    });
  }
  if (only === 'encodings') {
    const system = { port: gateway.port, file: targetFile(stack, 'list', targets.pages, 'system'), groups };
    await compare('list', [{ name: 'none', ...system }, ...ENCODINGS.map((encoding) => ({ name: encoding, ...system, encoding }))], (connections, of) => {
      for (const encoding of ENCODINGS) {
        figures[`list_${encoding}_throughput_c${connections}`] = rounded(of(encoding).perSecond / of('none').perSecond);
        figures[`list_${encoding}_bytes`] = rounded(of(encoding).bytes / of('none').bytes);
      }
    });
  }
  return figures;
}

type Note = (connections: number, of: (name: string) => Figures) => void;

async function compare(workload: string, variants: readonly Variant[], note: Note): Promise<void> {
  await warmUp(variants);
  for (const connections of CONNECTIONS) {
    const results = await measure({ variants, connections, rounds, seconds });
    process.stdout.write(`\n${workload}, ${connections} connections, medians of ${rounds} × ${seconds} s\n${figuresTable(results)}`);
    note(connections, (name) => results.get(name) as Figures);
  }
}

function targetFile({ folder }: Stack, workload: string, pairs: readonly Pair[], side: keyof Pair): string {
  const file = join(folder, `${workload}-${side}.targets`);
  writeTargets(
    file,
    pairs.map((pair) => pair[side]),
  );
  return file;
}
