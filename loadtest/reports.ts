// npm run bench:reports: the four reports compared with plain SQL over the same rows, and the cost of maintaining sums (docs/adr/0006).
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem, STATE } from '@truckroll/local-stack';
import { Database } from '@truckroll/postgres';
import { keepingSettings } from '@truckroll/reporting/schema';
import { rounded } from './measure/report.ts';
import { casesOf, compare, pageDepth } from './reports/compare.ts';
import { FULL, QUICK, measuredCompany } from './reports/company.ts';
import { measureFreshness } from './reports/fresh.ts';
import { ingestCost } from './reports/ingest.ts';
import { asReporting, keysOf, prepareReports } from './reports/prepare.ts';
import { runBenchmark } from './system/benchmark.ts';
import { Operator } from './system/operator.ts';
import { startGateway, startServices } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const STATEMENTS = ['year_by_month', 'year_by_month_grouped', 'five_years_by_day_grouped', 'filter_and_group'] as const;
const PARTS = [...STATEMENTS, 'page_depth', 'ingest_cost', 'fresh'] as const;

const HELP = `npm run bench:reports -- [--rounds 7] [--seconds 30] [--only ${PARTS.join('|')}] [--quick]

Measures the four reports on 1,000,000 invoices and payments and 300,000 jobs of five years in one company. Statements:
the first page, by the sums that reporting keeps and by plain SQL over raw rows that are indexed by date and by each
dimension, in turn on one connection; each figure is that of the worst case. page_depth: page 500 of five years by day by
account ÷ page 1. ingest_cost: 100,000 imported events until they are applied, with sums ÷ without. fresh: from a commit to
the first report with it, at 100 changes a second for so many seconds while reports are read, and the latency of those reads.
The first run creates the data, which takes some minutes. --quick uses little data: for developing only.
`;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const { only, quick } = options;
const set = quick ? QUICK : FULL;
const company = measuredCompany(set);
const wanted = (part: (typeof PARTS)[number]): boolean => only === undefined || only === part;

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: set.name,
  // A separate folder, so that reporting does not read other benchmarks' topics.
  folder: join(STATE, `benchmarks-${quick ? 'reports-quick' : 'reports'}`),
  check() {
    if (only !== undefined && !PARTS.some((part) => part === only)) throw new Problem(`--only ${only} is not known: give one of ${PARTS.join(', ')}.`);
  },
  async run(stack) {
    await prepareReports(stack, set);
    return { ...(await statements(stack)), ...(wanted('ingest_cost') || wanted('fresh') ? await system(stack) : {}) };
  },
});

async function statements(stack: Stack): Promise<Record<string, number>> {
  const rounds = Number(options.rounds ?? (quick ? 3 : 7));
  const database = new Database({ url: stack.databaseUrl, schema: 'reporting', settings: keepingSettings, statementTimeoutMs: 120_000 });
  const figures: Record<string, number> = {};
  try {
    await database.transaction(async (tx) => {
      const { rows } = await tx.query<{ generation: number }>({
        text: `select generation from generations where company_id = $1 and state = 'current'`,
        values: [company.id],
      });
      const base = { companyId: company.id, generation: rows[0]?.generation ?? 0 };
      for (const figure of STATEMENTS.filter(wanted)) {
        process.stdout.write(`\n${figure.padEnd(44)}     sums     plain SQL\n`);
        const ratios: number[] = [];
        for (const each of casesOf(figure, base)) ratios.push(await compare(tx, each, rounds));
        figures[figure] = rounded(Math.min(...ratios), 1);
      }
      if (wanted('page_depth')) figures['page_depth'] = rounded(await pageDepth(tx, base, set.deepPage, quick ? 50 : 300));
    });
    return figures;
  } finally {
    await database.close();
  }
}

async function system(stack: Stack): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  const services = await startServices(stack, ['integrations', 'scheduling', 'billing', 'reporting']);
  const operator = new Operator(services.running.integrations.port);
  if (wanted('fresh')) {
    const gateway = await startGateway(stack, services);
    const key = await keysOf(stack).of(company.id, operator);
    const seconds = Number(options.seconds ?? (quick ? 5 : 30));
    const { fresh, http, changesPerSecond } = await measureFreshness({ services, gatewayPort: gateway.port, key, companyId: company.id, seconds });
    figures['fresh_p50_ms'] = Math.round(fresh.p50);
    figures['fresh_p99_ms'] = Math.round(fresh.p99);
    figures['report_http_p50_ms'] = rounded(http.p50, 1);
    figures['report_http_p99_ms'] = rounded(http.p99, 1);
    figures['changes_per_second'] = Math.round(changesPerSecond);
  }
  if (wanted('ingest_cost')) figures['ingest_cost'] = await asReporting(stack, (client) => ingestCost(client, services, operator, set.events));
  return figures;
}
