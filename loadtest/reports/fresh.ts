// The age of a report: from the commit of a change to the first answer whose as_of includes it, while billing commits a hundred
// changes a second and clients read reports of the same company.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { resource } from '@truckroll/contract';
import { ImportServiceService, type ImportRequest } from '@truckroll/contract/gen/records/v1/records';
import { generateCompany, type DemoFile, type DemoRecord } from '@truckroll/demo-company';
import { Problem, say } from '@truckroll/local-stack';
import { TIMEZONE } from '../data/companies.ts';
import { importFile } from '../data/import.ts';
import { latencyOf, onSchedule } from '../measure/latency.ts';
import type { Services } from '../system/programs.ts';
import { YEARS } from './company.ts';
import { billingRecords } from './ingest.ts';

interface Freshness {
  readonly services: Services;
  readonly gatewayPort: number;
  readonly key: string;
  readonly companyId: string;
  readonly seconds: number;
  /** Invoices of many days, read by all of REPORTS; or payments of one day, read by YEAR_BY_MONTH, which contains it. */
  readonly kind: 'invoices' | 'payments_of_a_day';
}

const CHANGES_PER_SECOND = 100;
const READS_PER_SECOND = 20;
const WARM_UP_SECONDS = 3;
const SETTLE_MS = 30_000;
/** All of its two years of history come after the measured period, so that its jobs change none of the compared sums. */
const JOBS = { seed: 6, size: 1000, timezone: TIMEZONE, until: '2030-06-30T18:00:00Z' };

/** Questions that clients ask: one year or all, whole or by group. */
export const REPORTS = [
  'invoice-activity?start_date=2024-01-01&end_date=2025-01-01&bucket=month',
  'invoice-activity?start_date=2024-01-01&end_date=2025-01-01&bucket=month&group_by=account&limit=100',
  `invoice-activity?start_date=${YEARS.start}&end_date=${YEARS.end}&bucket=day&group_by=account&limit=100`,
  'invoice-activity?start_date=2025-06-01&end_date=2026-06-01&bucket=month&group_by=job_type',
  'collections?start_date=2025-06-01&end_date=2026-06-01&bucket=week&group_by=payment_method',
  `collections?start_date=${YEARS.start}&end_date=${YEARS.end}&bucket=quarter`,
  'job-profitability?start_date=2025-06-01&end_date=2026-06-01&bucket=month&group_by=business_unit',
  'technician-participation-profitability?start_date=2024-01-01&end_date=2025-01-01&bucket=month&group_by=team_member',
];

/** A year by month of the measured period, and the day of the payments in it. */
const YEAR_BY_MONTH = 'collections?start_date=2025-01-01&end_date=2026-01-01&bucket=month';
const BUSY_DAY = '2025-08-12';

/** Milliseconds since 1970, more precise than Date.now. */
const now = (): number => performance.timeOrigin + performance.now();

/** Times of a change in ms since 1970: when the owner reported its commit, and when the first report included it. */
interface Change {
  readonly committed: number;
  shown?: number;
}

export async function measureFreshness(freshness: Freshness) {
  const { services, companyId, gatewayPort, key, seconds, kind } = freshness;
  const reports = kind === 'invoices' ? REPORTS : [YEAR_BY_MONTH];
  const jobs = [...generateCompany(JOBS)].find(({ path }) => path === 'job-financials') as DemoFile;
  await importFile(services.channels, companyId, jobs);
  const changes: Change[] = [];
  const http: number[] = [];
  let measuring = false;
  let behind = 0;
  const ask = (number: number) =>
    fetch(`http://127.0.0.1:${gatewayPort}/v1/reports/${reports[number % reports.length] as string}`, { headers: { authorization: `Bearer ${key}` } });
  const read = async (number: number): Promise<void> => {
    const startedAt = performance.now();
    const response = await ask(number);
    const body = (await response.json()) as { report?: { as_of: string } };
    if (body.report === undefined) throw new Problem(`A report was answered with ${response.status}: ${JSON.stringify(body)}`);
    const [at, asOf] = [now(), Date.parse(body.report.as_of)];
    if (measuring) http.push(performance.now() - startedAt);
    if (measuring) behind = Math.max(behind, at - asOf);
    // An answer includes everything committed before its as_of.
    for (const change of changes) if (change.shown === undefined && change.committed <= asOf) change.shown = at;
  };
  // Reports answer 503 until every owner has announced how far it has published.
  for (const until = now() + SETTLE_MS; (await ask(0)).status === 503 && now() < until; ) await delay(100);
  await onSchedule(READS_PER_SECOND, WARM_UP_SECONDS, read);
  measuring = true;
  const startedAt = now();
  const writes = write(freshness, [...jobs.records], changes).finally(() => (measuring = false));
  await Promise.all([writes, onSchedule(READS_PER_SECOND, seconds, read)]);
  const took = (now() - startedAt) / 1000;
  for (const until = now() + SETTLE_MS; changes.some((change) => change.shown === undefined); await delay(20)) {
    if (now() > until) throw new Problem(`Changes are in no report after ${SETTLE_MS / 1000} s.`);
    await read(0);
  }
  say(`${changes.length} changes in ${took.toFixed(1)} s, ${http.length} reports read meanwhile; as_of was ${Math.round(behind)} ms behind at most`);
  return {
    fresh: latencyOf(changes.map(({ committed, shown }) => (shown as number) - committed)),
    http: latencyOf(http),
    changesPerSecond: changes.length / took,
  };
}

/** Imports invoices of existing jobs, or payments, committing each one separately. */
async function write({ services, companyId, seconds, kind }: Freshness, jobs: readonly DemoRecord[], changes: Change[]): Promise<void> {
  const path = kind === 'invoices' ? 'invoices' : 'payments';
  const template = billingRecords(20).find((each) => each.path === path)?.all[0];
  const first = Date.parse(`${YEARS.end}T18:00:00Z`);
  const recordOf = (number: number): object => {
    const { id: job_id, account } = jobs[number % jobs.length] as DemoRecord;
    if (kind === 'payments_of_a_day')
      return { ...template, id: randomUUID(), account, occurred_at: `${BUSY_DAY}T18:00:00Z`, status: 'PAID', invoice_allocations: [] };
    const at = new Date(first + (number % 4000) * 3_600_000).toISOString().replace('.000', '');
    return { ...template, id: randomUUID(), job_id, account, created_at: at, updated_at: at, issued_at: at, status: 'OPEN' };
  };
  async function* requests(): AsyncGenerator<ImportRequest> {
    const startedAt = performance.now();
    for (let number = 0; number < CHANGES_PER_SECOND * seconds; number++) {
      const wait = startedAt + (number * 1000) / CHANGES_PER_SECOND - performance.now();
      if (wait > 1) await delay(wait);
      yield { company_id: companyId, path, lines: [Buffer.from(JSON.stringify(recordOf(number)))], first_line: number + 1 };
    }
  }
  for await (const { problems } of services.channels[resource(path).owner].client(ImportServiceService).import(requests())) {
    const [problem] = problems;
    if (problem !== undefined) throw new Error(`a change was refused: ${problem.field} ${problem.message}`);
    changes.push({ committed: now() });
  }
}
