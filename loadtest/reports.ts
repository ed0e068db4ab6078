// npm run bench:reports: the four reports compared with plain SQL over the same rows, and the cost of maintaining sums (docs/adr/0006).
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { owners } from '@truckroll/contract';
import { Problem, STATE, say } from '@truckroll/local-stack';
import { Database } from '@truckroll/postgres';
import { keepingSettings } from '@truckroll/reporting/schema';
import { readIntoMemory } from './data/memory.ts';
import { rounded } from './measure/report.ts';
import { casesOf, compare, pageDepth } from './reports/compare.ts';
import { FULL, QUICK, measuredCompany } from './reports/company.ts';
import { measureFreshness } from './reports/fresh.ts';
import { ingestCost } from './reports/ingest.ts';
import { connectAsReporting, firstBuild, keysOf, prepareReports } from './reports/prepare.ts';
import { runBenchmark } from './system/benchmark.ts';
import { Operator } from './system/operator.ts';
import { startGateway, startServices } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const STATEMENTS = ['year_by_month', 'year_by_month_grouped', 'five_years_by_day_grouped', 'filter_and_group'] as const;
const PARTS = [...STATEMENTS, 'page_depth', 'ingest_cost', 'fresh', 'first_build'] as const;

const HELP = `npm run bench:reports -- [--rounds 7] [--seconds 30] [--only ${PARTS.join('|')}] [--quick] [--cold]

Measures the four reports on 1,000,000 invoices and payments and 300,000 jobs of five years in one company. Statements:
the first page, by the sums that reporting keeps and by plain SQL over raw rows that are indexed by date and by each
dimension, in turn on one connection; each figure is that of the worst case. page_depth: page 500 of five years by day by
account ÷ page 1. ingest_cost: 100,000 imported events until they are applied, with sums ÷ without. fresh: from a commit to
the first report with it, at 100 changes a second for so many seconds while reports are read, and how long those reads took;
with the data in memory, or as a database finds them on the disk when it is started (--cold).
first_build, only where it is asked for: the service makes the company's sums anew, as at its first start.
The first run makes the data, which takes some minutes; it is kept. --quick uses little data: for developing only.
`;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    cold: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const set = options.quick ? QUICK : FULL;
const { only } = options;
const wanted = (part: (typeof PARTS)[number]): boolean => (only === undefined ? part !== 'first_build' : only === part);

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: set.name,
  // A separate folder, so that reporting does not read other benchmarks' topics.
  folder: join(STATE, `benchmarks-${options.quick ? 'reports-quick' : 'reports'}`),
  check() {
    if (only !== undefined && !PARTS.some((part) => part === only)) throw new Problem(`--only ${only} is not known: give one of ${PARTS.join(', ')}.`);
  },
  async run(stack) {
    await prepareReports(stack, set);
    return { ...(await statements(stack)), ...(await system(stack)) };
  },
});

async function statements(stack: Stack): Promise<Record<string, number>> {
  const rounds = Number(options.rounds ?? (options.quick ? 3 : 7));
  const database = new Database({ url: stack.databaseUrl, schema: 'reporting', settings: keepingSettings, statementTimeoutMs: 120_000 });
  const figures: Record<string, number> = {};
  try {
    const { rows } = await database.query<{ generation: number }>({
      text: `select generation from generations where company_id = $1 and state = 'current'`,
      values: [measuredCompany(set).id],
    });
    const base = { companyId: measuredCompany(set).id, generation: rows[0]?.generation ?? 0 };
    await database.transaction(async (tx) => {
      for (const figure of STATEMENTS.filter(wanted)) {
        process.stdout.write(`\n${figure.padEnd(44)}     sums     plain SQL\n`);
        let worst = Infinity;
        for (const each of casesOf(figure, base)) worst = Math.min(worst, (await compare(tx, each, rounds)).ratio);
        figures[figure] = rounded(worst, 1);
      }
      if (!wanted('page_depth')) return;
      const { ratio, productMs, rawMs } = await pageDepth(tx, base, set.deepPage, options.quick ? 50 : 300);
      say(`page ${set.deepPage}: ${productMs.toFixed(2)} ms, page 1: ${rawMs.toFixed(2)} ms`);
      figures['page_depth'] = rounded(ratio);
    });
    return figures;
  } finally {
    await database.close();
  }
}

async function system(stack: Stack): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  if (!wanted('ingest_cost') && !wanted('fresh') && !wanted('first_build')) return figures;
  const company = measuredCompany(set);
  const services = await startServices(stack, owners);
  const operator = new Operator(services.running.integrations.port);
  if (wanted('fresh')) {
    if (!options.cold) await readIntoMemory(stack.folder);
    const gateway = await startGateway(stack, services);
    const key = await keysOf(stack).of(company.id, operator);
    const seconds = Number(options.seconds ?? (options.quick ? 5 : 30));
    const { freshP50, freshP99, httpP50, httpP99, changesPerSecond } = await measureFreshness({
      services,
      gatewayPort: gateway.port,
      key,
      companyId: company.id,
      set,
      seconds,
    });
    Object.assign(figures, {
      fresh_p50_ms: Math.round(freshP50),
      fresh_p99_ms: Math.round(freshP99),
      report_http_p50_ms: rounded(httpP50, 1),
      report_http_p99_ms: rounded(httpP99, 1),
      changes_per_second: Math.round(changesPerSecond),
    });
  }
  if (wanted('ingest_cost')) {
    const client = await connectAsReporting(stack);
    figures['ingest_cost'] = await ingestCost(client, services, operator, set.events).finally(() => client.end());
  }
  if (wanted('first_build')) {
    const client = await connectAsReporting(stack);
    figures['first_build_s'] = rounded(await firstBuild(client, company.id).finally(() => client.end()), 1);
  }
  return figures;
}
