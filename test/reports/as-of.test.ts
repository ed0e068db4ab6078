// Readers ask for reports while records change. Each report must contain everything that was committed before its as_of.
import { watermarkSources } from '@truckroll/contract';
import { generateCompany } from '@truckroll/demo-company';
import { until } from '@truckroll/testing/until';
import type { Json } from '../support/expected.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { fresh } from './ask.ts';

const DAYS = 10;
const CHANGES = 8;
const RANGE = 'start_date=2026-03-01&end_date=2026-03-31&bucket=day';
const REPORTS: Record<string, string> = { payments: 'collections', invoices: 'invoice-activity' };
const CENTS: Record<string, string> = { payments: 'received_cents', invoices: 'tax_cents' };
/** Parts of a company that reporting locks while it applies events. */
const PARTS: Record<string, string> = { payments: 'movements', invoices: 'jobs' };
const PATHS = Object.keys(REPORTS);

let system: System;
let company: TestCompany;
const templates: Record<string, Json> = {};

beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany('America/Chicago');
  const files = generateCompany({ seed: 5, size: 10, timezone: 'America/Chicago', until: '2025-11-20T18:00:00Z' });
  for (const { path, records } of files) templates[path] = [...records][0] as Json;
  await fresh(system, company);
}, 120_000);
afterAll(() => system.stop());

const dateOf = (day: number): string => `2026-03-${String(day + 1).padStart(2, '0')}`;

function recordOf(path: string, day: number, cents: number): Json {
  const base = { ...templates[path], id: `4f1d2c3b-4a59-4687-9b0c-${String(day).padStart(12, '0')}` };
  const at = `${dateOf(day)}T18:00:00Z`;
  if (path === 'payments') return { ...base, status: 'PAID', amount_cents: cents, occurred_at: at, invoice_allocations: [] };
  const amounts = { subtotal_cents: 0, discount_cents: 0, discounted_subtotal_cents: 0, tax_cents: cents, total_cents: cents };
  return { ...base, status: 'OPEN', issued_at: at, job_id: null, line_items: [], discounts: [], tax: { name: 'None', rate: 0, rounding: 'round' }, amounts };
}

interface Committed {
  readonly path: string;
  readonly date: string;
  readonly cents: number;
  readonly at: number;
}

async function commit(path: string, day: number, cents: number): Promise<Committed> {
  expect((await system.importRecords(company, path, [recordOf(path, day, cents)])).problems).toEqual([]);
  const { rows } = await system.database.query<{ at: number }>({ text: 'select clock_timestamp() as at' });
  return { path, date: dateOf(day), cents, at: rows[0]!.at / 1000 };
}

/**
 * Changes records in turn; each change raises an amount by a cent, so that a later state is never less than an earlier one. The last
 * changes wait for a report that may be compared with the first ones.
 */
async function write(path: string, committed: Committed[], reads: readonly Read[]): Promise<void> {
  for (let cents = 1; cents <= CHANGES; cents += 1) {
    if (cents === CHANGES) {
      const first = committed.find((change) => change.path === path)!;
      await until(
        `a report of ${path} with an as_of after the first change`,
        () => reads.filter((each) => each.path === path).map(({ asOf }) => asOf),
        (times) => times.some((asOf) => asOf > first.at),
      );
    }
    for (let day = 0; day < DAYS; day += 1) committed.push(await commit(path, day, cents));
  }
}

interface Read {
  readonly path: string;
  readonly asOf: number;
  readonly cents: ReadonlyMap<string, number>;
}

async function read(path: string): Promise<Read> {
  const { status, body } = await system.get(company, `/v1/reports/${REPORTS[path]}?${RANGE}&limit=100`);
  expect(status).toBe(200);
  const cents = new Map((body.data as Json[]).map((row) => [row['period_start'] as string, row[CENTS[path]!] as number]));
  return { path, asOf: Date.parse(body.report.as_of), cents };
}

/** Resolves when reporting has received a watermark of every owner for a later time, whether it counts or waits for events. */
async function watermarksAfter(at: number): Promise<void> {
  const text = `select count(distinct source) as sources from (select * from reporting.applied_until union all select source, at from reporting.watermarks) known
    where at > to_timestamp($1)`;
  await until(
    `watermarks after ${at} of all owners`,
    () => system.database.query<{ sources: number }>({ text, values: [at / 1000] }),
    ({ rows }) => rows[0]?.sources === watermarkSources.length,
  );
}

function whileBehind<T>(path: string, work: () => Promise<T>): Promise<T> {
  return system.database.transaction(async (tx) => {
    await tx.query({
      text: `select pg_advisory_xact_lock(hashtextextended($2 || ' of ' || $1 || ' in reporting', 0))`,
      values: [company.id, PARTS[path]],
    });
    return await work();
  });
}

test('includes everything committed before as_of, while payments and invoices change and reporting falls behind', async () => {
  const committed: Committed[] = [];
  const reads: Read[] = [];
  const ended = new AbortController();
  const repeatedly = async (path: string): Promise<void> => {
    while (!ended.signal.aborted) reads.push(await read(path));
  };
  const fallBehind = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await whileBehind('payments', async () => {
        await watermarksAfter(committed.at(-1)?.at ?? 0);
        reads.push(await read('payments'));
      });
    }
  };
  const others = Promise.all([...PATHS.map(repeatedly), fallBehind()]);
  await Promise.all(PATHS.map((path) => write(path, committed, reads))).finally(() => ended.abort());
  await others;
  await fresh(system, company);
  for (const path of PATHS) reads.push(await read(path));

  const last = Math.max(...committed.map(({ at }) => at));
  let comparedMeanwhile = 0;
  for (const { path, asOf, cents } of reads) {
    const before = committed.filter((change) => change.path === path && change.at < asOf);
    if (asOf < last) comparedMeanwhile += before.length;
    expect(before.filter((change) => (cents.get(change.date) ?? 0) < change.cents)).toEqual([]);
  }
  expect(comparedMeanwhile).toBeGreaterThan(0);
  for (const { cents } of reads.slice(-PATHS.length)) expect([...cents.values()].filter((sum) => sum > 0)).toEqual(Array.from({ length: DAYS }, () => CHANGES));
}, 120_000);

test.each(PATHS)('stays before a single change of %s that is published but not applied', async (path) => {
  const { asOf, cents, at } = await whileBehind(path, async () => {
    const change = await commit(path, 0, CHANGES + 1);
    await watermarksAfter(change.at);
    return { at: change.at, ...(await read(path)) };
  });
  expect(cents.get(dateOf(0)) ?? 0).toBeLessThan(CHANGES + 1);
  expect(asOf).toBeLessThanOrEqual(at);
  await fresh(system, company);
  expect((await read(path)).cents.get(dateOf(0))).toBe(CHANGES + 1);
});
