// The age of a report: from the commit of a change to the first answer whose as_of includes it, while billing commits a hundred
// changes a second and clients read reports of the same company.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { resource } from '@truckroll/contract';
import { ImportServiceService, type ImportRequest } from '@truckroll/contract/gen/records/v1/records';
import { Problem, say } from '@truckroll/local-stack';
import type { Services } from '../system/programs.ts';
import { SPARE_JOBS, YEARS, idOf, type ReportSet } from './company.ts';
import { billingRecords } from './ingest.ts';

export interface Freshness {
  readonly services: Pick<Services, 'channels'>;
  readonly gatewayPort: number;
  readonly key: string;
  readonly companyId: string;
  readonly set: ReportSet;
  readonly seconds: number;
}

export interface FreshFigures {
  readonly freshP50: number;
  readonly freshP99: number;
  readonly httpP50: number;
  readonly httpP99: number;
  readonly changesPerSecond: number;
}

const CHANGES_PER_SECOND = 100;
const READS_PER_SECOND = 20;
/** Warm-up, in ms. */
const WARM_UP_MS = 3000;
const SETTLE_MS = 30_000;

const QUERIES = [
  'invoice-activity?start_date=2024-01-01&end_date=2025-01-01&bucket=month',
  'invoice-activity?start_date=2024-01-01&end_date=2025-01-01&bucket=month&group_by=account&limit=100',
  `invoice-activity?start_date=${YEARS.start}&end_date=${YEARS.end}&bucket=day&group_by=account&limit=100`,
  'invoice-activity?start_date=2025-06-01&end_date=2026-06-01&bucket=month&group_by=job_type',
  'collections?start_date=2025-06-01&end_date=2026-06-01&bucket=week&group_by=payment_method',
  `collections?start_date=${YEARS.start}&end_date=${YEARS.end}&bucket=quarter`,
  'job-profitability?start_date=2025-06-01&end_date=2026-06-01&bucket=month&group_by=business_unit',
  'technician-participation-profitability?start_date=2024-01-01&end_date=2025-01-01&bucket=month&group_by=team_member',
];

/** Times of a change in ms since 1970: when the owner reported its commit, and when the first report included it. */
interface Change {
  readonly committed: number;
  shown?: number;
}

export async function measureFreshness(freshness: Freshness): Promise<FreshFigures> {
  const { gatewayPort, key, seconds } = freshness;
  const changes: Change[] = [];
  const http: number[] = [];
  let writing = true;
  let behind = { ms: 0, at: 0 };
  /** An answer includes everything committed before its as_of. */
  const shown = (asOf: number): void => {
    const at = now();
    for (const change of changes) if (change.shown === undefined && change.committed <= asOf) change.shown = at;
  };
  const ask = (n: number) =>
    fetch(`http://127.0.0.1:${gatewayPort}/v1/reports/${QUERIES[n % QUERIES.length] as string}`, { headers: { authorization: `Bearer ${key}` } });
  const read = async (n: number): Promise<void> => {
    const startedAt = performance.now();
    const response = await ask(n);
    const body = (await response.json()) as { report?: { as_of: string } };
    if (body.report === undefined) throw new Problem(`A report was answered with ${response.status}: ${JSON.stringify(body)}`);
    if (writing) http.push(performance.now() - startedAt);
    const ms = now() - Date.parse(body.report.as_of);
    if (ms > behind.ms) behind = { ms, at: now() };
    shown(Date.parse(body.report.as_of));
  };
  // Reports answer 503 until every owner has announced how far it has published.
  for (const until = now() + SETTLE_MS; (await ask(0)).status === 503 && now() < until; ) await delay(100);
  await everySecond(READS_PER_SECOND, WARM_UP_MS / 1000, read);
  http.length = 0;
  behind = { ms: 0, at: 0 };
  const startedAt = now();
  const writes = write(freshness, changes).finally(() => (writing = false));
  await Promise.all([writes, everySecond(READS_PER_SECOND, seconds, read)]);
  const took = (now() - startedAt) / 1000;
  for (const until = now() + SETTLE_MS; changes.some((change) => change.shown === undefined); ) {
    if (now() > until)
      throw new Problem(`${changes.filter((change) => change.shown === undefined).length} changes are in no report after ${SETTLE_MS / 1000} s.`);
    await read(0);
    await delay(20);
  }
  const ages = changes.map(({ committed, shown: at }) => (at as number) - committed);
  say(
    `${changes.length} changes in ${took.toFixed(1)} s, ${http.length} reports read meanwhile; as_of was ${Math.round(behind.ms)} ms behind at most, ${((behind.at - startedAt) / 1000).toFixed(1)} s after the first change`,
  );
  return {
    freshP50: percentile(ages, 0.5),
    freshP99: percentile(ages, 0.99),
    httpP50: percentile(http, 0.5),
    httpP99: percentile(http, 0.99),
    changesPerSecond: changes.length / took,
  };
}

/** Imports invoices of existing jobs and accounts, committing each one separately. */
async function write({ services, companyId, set, seconds }: Freshness, changes: Change[]): Promise<void> {
  const template = billingRecords(20).find(({ path }) => path === 'invoices')?.all[0] as unknown as Record<string, unknown>;
  const channel = services.channels[resource('invoices').owner];
  const first = Date.parse(`${YEARS.end}T18:00:00Z`);
  async function* requests(): AsyncGenerator<ImportRequest> {
    const startedAt = performance.now();
    for (let n = 0; n < CHANGES_PER_SECOND * seconds; n++) {
      const wait = startedAt + (n * 1000) / CHANGES_PER_SECOND - performance.now();
      if (wait > 1) await delay(wait);
      const at = new Date(first + (n % 4000) * 3_600_000).toISOString().replace('.000', '');
      const record = {
        ...template,
        id: randomUUID(),
        job_id: idOf('job', set.jobs + (n % SPARE_JOBS)),
        account: { id: idOf('account', n % set.accounts), name: 'A customer' },
        created_at: at,
        updated_at: at,
        issued_at: at,
        status: 'OPEN',
      };
      yield { company_id: companyId, path: 'invoices', lines: [Buffer.from(JSON.stringify(record))], first_line: n + 1 };
    }
  }
  for await (const { problems } of channel.client(ImportServiceService).import(requests())) {
    const [problem] = problems;
    if (problem !== undefined) throw new Error(`a change was refused: ${problem.field} ${problem.message}`);
    changes.push({ committed: now() });
  }
}

/** Starts work on a schedule, whatever earlier work takes. Resolves when everything has finished. */
async function everySecond(rate: number, seconds: number, work: (n: number) => Promise<void>): Promise<void> {
  const running: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let n = 0; n < rate * seconds; n++) {
    const wait = startedAt + (n * 1000) / rate - performance.now();
    if (wait > 0) await delay(wait);
    const one = work(n);
    one.catch(() => undefined);
    running.push(one);
  }
  await Promise.all(running);
}

/** Milliseconds since 1970, more precise than Date.now. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
