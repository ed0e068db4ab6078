// npm run bench:reads: lists and details of invoices compared with the baseline on the same data (design/performance.md).
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem, say } from '@truckroll/local-stack';
import { FULL, QUICK, deepCompany } from './data/companies.ts';
import { startReading } from './data/reading.ts';
import { collectTargets, deepPage, type Caller, type Pair } from './data/targets.ts';
import type { Groups } from './measure/cpu.ts';
import { pageDepth } from './measure/depth.ts';
import { requireEqual } from './measure/equal.ts';
import { rounded, table } from './measure/report.ts';
import { measure, warmUp, type Figures, type Variant } from './measure/rounds.ts';
import { requireWrk, writeTargets } from './measure/wrk.ts';
import { runBenchmark } from './system/benchmark.ts';
import { postgresPid } from './system/postgres.ts';
import { startBaseline } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const HELP = `npm run bench:reads -- [--rounds 3] [--seconds 10] [--only list|detail|depth|encodings] [--quick]

Measures the list and the detail of invoices against the usual service (one Express process, pg, normalised tables) and
its tuned form, on the same 200,000 invoices of 20 companies, and the depth of pages in a company of 1,000,000. The first
run makes the data, which takes some minutes. --only encodings measures lists that come compressed beside those that do not. --quick uses little data and short rounds: for developing only.
`;

const WORKLOADS = { list: 'pages', detail: 'details' } as const;
type Workload = keyof typeof WORKLOADS;
const CONNECTIONS = [16, 1] as const;
const COMPARED = 200;
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
const DEEP_PAGE = 2000;
const DEPTH_REQUESTS = 300;

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
const ROUNDS = Number(options.rounds ?? (options.quick ? 1 : 3));
const SECONDS = Number(options.seconds ?? (options.quick ? 3 : 10));
const set = options.quick ? QUICK : FULL;

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: set.database,
  check() {
    if (only !== undefined && !['list', 'detail', 'depth', 'encodings'].includes(only))
      throw new Problem(`--only ${only} is not known: give list, detail, depth or encodings.`);
    requireWrk();
  },
  run: benchmark,
});

async function benchmark(stack: Stack): Promise<Record<string, number>> {
  const { services, gateway, callers, callerOf } = await startReading(stack, set);

  const postgres = await postgresPid(stack);
  const systemGroups: Groups = {
    gateway: [gateway.pid],
    service: [services.running.billing.pid],
    PostgreSQL: [postgres],
    other: [services.running.integrations.pid, stack.pidOf('redis') ?? 0],
  };
  const plain = await startBaseline(stack, 'plain');
  const tuned = await startBaseline(stack, 'tuned');

  say('Collecting every page, and comparing bodies …');
  const targets = await collectTargets(gateway.port, callers);
  for (const baseline of [plain, tuned]) {
    const ports = { system: gateway.port, baseline: baseline.port };
    await requireEqual(ports, targets.pages, COMPARED);
    await requireEqual(ports, targets.details, COMPARED);
  }

  const figures: Record<string, number> = {};
  for (const workload of Object.keys(WORKLOADS) as Workload[]) {
    if (only !== undefined && only !== workload) continue;
    const files = targetFiles(stack, workload, targets[WORKLOADS[workload]]);
    const variants: Variant[] = [
      { name: 'baseline', port: plain.port, file: files.baseline, groups: { service: [plain.pid], PostgreSQL: [postgres] } },
      { name: 'tuned', port: tuned.port, file: files.baseline, groups: { service: [tuned.pid], PostgreSQL: [postgres] } },
      { name: 'system', port: gateway.port, file: files.system, groups: systemGroups },
    ];
    Object.assign(figures, await compare(workload, variants));
  }
  if (only === undefined || only === 'depth') {
    const { id } = deepCompany(set);
    figures['page_depth'] = await depth(gateway.port, await callerOf(id));
  }
  if (only === 'encodings') {
    const system = { port: gateway.port, file: targetFiles(stack, 'list', targets.pages).system, groups: systemGroups };
    Object.assign(figures, await compareEncodings(system));
  }
  return figures;
}

async function compareEncodings(system: Omit<Variant, 'name'>): Promise<Record<string, number>> {
  const variants: Variant[] = [{ name: 'as it is', ...system }, ...ENCODINGS.map((encoding) => ({ name: encoding, ...system, encoding }))];
  const figures: Record<string, number> = {};
  await warmUp(variants);
  for (const connections of CONNECTIONS) {
    const results = await measure({ variants, connections, rounds: ROUNDS, seconds: SECONDS });
    process.stdout.write(`\n${table(`list, ${connections} at once, medians of ${ROUNDS} × ${SECONDS} s`, results)}`);
    const plain = results.get('as it is') as Figures;
    for (const encoding of ENCODINGS) {
      const packed = results.get(encoding) as Figures;
      figures[`list_${encoding}_throughput_c${connections}`] = rounded(packed.perSecond / plain.perSecond);
      figures[`list_${encoding}_bytes`] = rounded(packed.bytes / plain.bytes);
    }
  }
  return figures;
}

async function compare(workload: Workload, variants: readonly Variant[]): Promise<Record<string, number>> {
  const [rounds, seconds] = [ROUNDS, SECONDS];
  const figures: Record<string, number> = {};
  await warmUp(variants);
  for (const connections of CONNECTIONS) {
    const results = await measure({ variants, connections, rounds, seconds });
    const [baseline, tuned, system] = variants.map(({ name }) => results.get(name)) as [Figures, Figures, Figures];
    const title = `${workload}, ${connections} connection${connections === 1 ? '' : 's'}, medians of ${rounds} × ${seconds} s`;
    process.stdout.write(`\n${table(title, results)}`);
    if (connections === 1) figures[`${workload}_p50_c1`] = rounded(system.p50 / baseline.p50);
    else {
      figures[`${workload}_throughput_c16`] = rounded(system.perSecond / baseline.perSecond);
      if (workload === 'list') figures['list_throughput_c16_tuned'] = rounded(system.perSecond / tuned.perSecond);
    }
  }
  return figures;
}

async function depth(port: number, caller: Caller): Promise<number> {
  say(`Walking to page ${DEEP_PAGE} of the large company …`);
  const [first, deep] = [await deepPage(port, caller, 1), await deepPage(port, caller, DEEP_PAGE)];
  const { ratio, firstMs, deepMs } = await pageDepth(port, first, deep, DEPTH_REQUESTS);
  process.stdout.write(`\npage depth: page 1 ${firstMs.toFixed(2)} ms, page ${DEEP_PAGE} ${deepMs.toFixed(2)} ms (medians of ${DEPTH_REQUESTS})\n`);
  return rounded(ratio);
}

function targetFiles({ folder }: Stack, workload: Workload, pairs: readonly Pair[]): { system: string; baseline: string } {
  const write = (side: keyof Pair): string => {
    const file = join(folder, `${workload}-${side}.targets`);
    writeTargets(
      file,
      pairs.map((pair) => pair[side]),
    );
    return file;
  };
  return { system: write('system'), baseline: write('baseline') };
}
