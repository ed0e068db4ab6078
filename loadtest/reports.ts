// npm run bench:reports: the four reports compared with plain SQL over the same rows, and the cost of maintaining sums (docs/adr/0006).
import { Database } from '@truckroll/postgres';
import { DuePeriods } from '@truckroll/reporting/reports';
import { transactionSettings } from '@truckroll/reporting/schema';
import { rounded } from './measure/report.ts';
import { casesOf, compare } from './reports/compare.ts';
import { measuredCompany, setOf } from './reports/company.ts';
import { measureFreshness } from './reports/fresh.ts';
import { ingestCost } from './reports/ingest.ts';
import { asReporting, prepareReports } from './reports/prepare.ts';
import { runBenchmark, type BenchmarkOptions, type Figures } from './system/benchmark.ts';
import { startSystem } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const STATEMENTS = ['year_by_month', 'year_by_month_grouped', 'filter_and_group'] as const;
const PARTS = [...STATEMENTS, 'ingest_cost', 'fresh', 'busy_day'] as const;

const HELP = `npm run bench:reports -- [--rounds 7] [--seconds 30] [--only ${PARTS.join('|')}] [--quick]

Measures the four reports on 1,000,000 invoices and payments and 300,000 jobs of five years in one company. Statements:
the first page, by the sums that reporting keeps and by plain SQL over raw rows that are indexed by date and by each
dimension, in turn on one connection; each figure is that of the worst case. ingest_cost: 100,000 imported events until
they are applied, with sums ÷ without. fresh: from a commit to the first report with it, at 100 changes a second for so
many seconds while reports are read, and the latency of those reads. busy_day: the same by payments of one day, while
its year is read by month; 20,000 of them with --seconds 200, and only if asked for by --only. The first run creates the data, which takes some
minutes. --quick uses little data: for developing only.
`;

type Options = BenchmarkOptions<'rounds' | 'seconds', (typeof PARTS)[number]>;

await runBenchmark({
  help: HELP,
  numbers: { rounds: [7, 3], seconds: [30, 5] },
  parts: PARTS,
  database: ({ quick }) => setOf(quick).name,
  async run(stack, options) {
    await prepareReports(stack, setOf(options.quick));
    return { ...(await statements(stack, options)), ...(await system(stack, options)) };
  },
});

async function statements(stack: Stack, { quick, only, rounds }: Options): Promise<Figures> {
  const database = new Database({ url: stack.databaseUrl, schema: 'reporting', settings: transactionSettings, statementTimeoutMs: 120_000 });
  const figures: Figures = {};
  const company = measuredCompany(setOf(quick));
  try {
    await database.transaction(async (tx) => {
      const base = { companyId: company.id, due: new DuePeriods(-Infinity) };
      for (const figure of STATEMENTS.filter((part) => only === undefined || only === part)) {
        process.stdout.write(`\n${figure.padEnd(44)}     sums     plain SQL\n`);
        const ratios: number[] = [];
        for (const each of casesOf(figure, base)) ratios.push(await compare(tx, each, rounds));
        figures[figure] = rounded(Math.min(...ratios), 1);
      }
    });
    return figures;
  } finally {
    await database.close();
  }
}

async function system(stack: Stack, { quick, only, seconds }: Options): Promise<Figures> {
  const figures: Figures = {};
  if (only !== undefined && only !== 'fresh' && only !== 'busy_day' && only !== 'ingest_cost') return figures;
  const set = setOf(quick);
  const { services, gateway } = await startSystem(stack, ['integrations', 'scheduling', 'billing', 'reporting']);
  if (only !== 'ingest_cost') {
    const { id: companyId } = measuredCompany(set);
    const key = await services.operator.keyOf(companyId);
    const { fresh, http, changesPerSecond } = await measureFreshness({
      services,
      gatewayPort: gateway.port,
      key,
      companyId,
      seconds,
      kind: only === 'busy_day' ? 'payments_of_a_day' : 'invoices',
    });
    figures['fresh_p50_ms'] = Math.round(fresh.p50);
    figures['fresh_p99_ms'] = Math.round(fresh.p99);
    figures['report_http_p50_ms'] = rounded(http.p50, 1);
    figures['report_http_p99_ms'] = rounded(http.p99, 1);
    figures['changes_per_second'] = Math.round(changesPerSecond);
  }
  if (only === undefined || only === 'ingest_cost') figures['ingest_cost'] = await asReporting(stack, (client) => ingestCost(client, services, set.events));
  return figures;
}
