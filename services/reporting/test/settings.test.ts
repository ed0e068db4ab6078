// What a change of a company's settings leads to: financials and facts of all jobs refreshed in batches.
import { randomUUID } from 'node:crypto';
import { JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { eligible } from '../src/facts/standing.ts';
import { companies } from '../src/read-models/companies.ts';
import { jobs } from '../src/read-models/jobs.ts';
import { transactionSettings, schema } from '../src/schema.ts';
import { sumRound } from '../src/sums/task.ts';
import { AT, SETTINGS, apply, build, job, settingsOf } from './records.ts';

const NOW = Date.parse(AT) * 1000;

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema, { settings: transactionSettings }));
});
afterAll(() => close());

async function store(company: string, settings: typeof SETTINGS, time = NOW): Promise<void> {
  await database.transaction((tx) => companies.store(tx, company, [settingsOf(company, settings, time)]));
}

test.each<[string, Partial<typeof SETTINGS>, (string | null)[]]>([
  ['nothing', {}, []],
  ['whether unverified costs count', { verified_only: true }, []],
  ['whether costs are kept', { costing_enabled: false }, [null]],
  ['the time zone', { timezone: 'Asia/Kathmandu' }, [null]],
])('an event that changes %s', async (_, change, expected) => {
  const company = randomUUID();
  await store(company, SETTINGS);
  await database.query({ text: 'delete from financials_to_refresh where company_id = $1', values: [company] });
  await store(company, { ...SETTINGS, ...change });
  expect(await toRefresh(company)).toEqual(expected);
});

test('starts the refresh of financials again when a setting changes during it', async () => {
  const company = randomUUID();
  await store(company, SETTINGS);
  await database.query({ text: 'update financials_to_refresh set after = $2 where company_id = $1', values: [company, randomUUID()] });
  await store(company, { ...SETTINGS, costing_enabled: false });
  expect(await toRefresh(company)).toEqual([null]);
});

test('refreshes the financials of all jobs of each company after a change of the time zone, in more than one batch', async () => {
  const moved = new Map([1001, 1].map((count) => [randomUUID() as string, count]));
  for (const [company, count] of moved) {
    await store(company, SETTINGS);
    const lines = Array.from({ length: count }, () => job());
    await database.transaction((tx) => apply(tx, company, jobs, 'jobs', ...lines));
    await store(company, { ...SETTINGS, timezone: 'Pacific/Kiritimati' });
  }
  await build(database);
  for (const [company, count] of moved) {
    const { rows } = await database.query({
      text: 'select report_date::text as on, count(*) as jobs from job_financials where company_id = $1 group by 1',
      values: [company],
    });
    expect(rows).toEqual([{ on: '2026-03-02', jobs: count }]);
  }
});

test('refreshes the financials of a company that keeps no costs any more, although nothing of it is due', async () => {
  const company = randomUUID();
  await store(company, SETTINGS);
  await database.transaction((tx) => apply(tx, company, jobs, 'jobs', job()));
  await build(database);
  const enabled = async (): Promise<(boolean | undefined)[]> => {
    const { rows } = await database.query<{ derived: Buffer }>({ text: 'select derived from job_financials where company_id = $1', values: [company] });
    return rows.map(({ derived }) => JobFinancials.decode(derived).costing?.enabled);
  };
  expect(await enabled()).toEqual([true]);
  await store(company, { ...SETTINGS, costing_enabled: false });
  // Ends when nothing is left to refresh.
  await build(database);
  expect(await enabled()).toEqual([false]);
});

test('rests after refreshing jobs, and has more to do although no day was summed', async () => {
  const company = randomUUID();
  await store(company, SETTINGS);
  await database.transaction((tx) => apply(tx, company, jobs, 'jobs', job()));
  await build(database);
  await store(company, { ...SETTINGS, costing_enabled: false });
  const done: unknown[] = [];
  const steps = await sumRound(database, { rest: async (ms) => void done.push(ms > 0), did: (step) => done.push(step) });
  expect([steps, ...done]).toEqual([1, { days: 0, months: 0, more: true }, true]);
});

test.each<[string, Partial<typeof SETTINGS> | undefined, string[]]>([
  ['whose settings have not arrived', undefined, ['included_unverified', 'included_verified']],
  ['that keeps costs', {}, ['included_unverified', 'included_verified']],
  ['that counts verified costs only', { verified_only: true }, ['included_verified']],
  ['that keeps no costs', { costing_enabled: false }, []],
])('the jobs of a company %s are eligible by their standing, and no others', async (_, settings, standings) => {
  const company = randomUUID();
  if (settings !== undefined) await store(company, { ...SETTINGS, ...settings });
  const [yes, no] = await Promise.all([true, false].map((asked) => eligible.values(database, company, asked)));
  expect(yes!.toSorted()).toEqual(standings);
  expect([...yes!, ...no!].toSorted()).toEqual(['excluded_unverified', 'excluded_verified', 'included_unverified', 'included_verified', 'untracked']);
});

async function toRefresh(company: string): Promise<(string | null)[]> {
  const { rows } = await database.query<{ after: string | null }>({ text: 'select after from financials_to_refresh where company_id = $1', values: [company] });
  return rows.map(({ after }) => after);
}
