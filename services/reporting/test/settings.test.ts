// What a change of a company's settings leads to: financials refreshed in batches, and sums built in the new time zone.
import { randomUUID } from 'node:crypto';
import { JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import type { Database } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { summaryBuilder } from '../src/building/builder.ts';
import { eligible } from '../src/facts/standing.ts';
import { companies } from '../src/read-models/companies.ts';
import { jobs } from '../src/read-models/jobs.ts';
import { keepingSettings, schema } from '../src/schema.ts';
import { AT, SETTINGS, apply, build, job, settingsOf } from './records.ts';

const NOW = Date.parse(AT) * 1000;

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema, { settings: keepingSettings }));
});
afterAll(() => close());

async function store(company: string, settings: typeof SETTINGS, time = NOW): Promise<void> {
  await database.transaction((tx) => companies.store(tx, company, [settingsOf(company, settings, time)]));
}

interface Work {
  building: string[];
  refresh: (string | null)[];
}

test.each<[string, Partial<typeof SETTINGS>, Work]>([
  ['nothing', {}, { building: ['America/Chicago'], refresh: [] }],
  ['whether unverified costs count', { verified_only: true }, { building: ['America/Chicago'], refresh: [] }],
  ['whether costs are kept', { costing_enabled: false }, { building: ['America/Chicago'], refresh: [null] }],
  ['the time zone', { timezone: 'Asia/Kathmandu' }, { building: ['Asia/Kathmandu'], refresh: [null] }],
])('an event that changes %s', async (_, change, expected) => {
  const company = randomUUID();
  await store(company, SETTINGS);
  await database.query({ text: 'delete from financials_to_refresh where company_id = $1', values: [company] });
  await store(company, { ...SETTINGS, ...change });
  expect(await work(company)).toEqual(expected);
});

test('leaves the sums that are being built for another company when a time zone changes', async () => {
  const [moved, other] = [randomUUID(), randomUUID()];
  for (const company of [moved, other]) await store(company, SETTINGS);
  await store(moved, { ...SETTINGS, timezone: 'Asia/Kathmandu' });
  expect((await work(other)).building).toEqual(['America/Chicago']);
});

test('keeps the current sums until those of a new time zone are built', async () => {
  const company = randomUUID();
  await store(company, SETTINGS);
  await database.query({ text: `update generations set state = 'current' where company_id = $1`, values: [company] });
  await store(company, { ...SETTINGS, timezone: 'Asia/Kathmandu' });
  const { rows } = await database.query({ text: 'select state, time_zone from generations where company_id = $1 order by generation', values: [company] });
  expect(rows).toEqual([
    { state: 'current', time_zone: 'America/Chicago' },
    { state: 'building', time_zone: 'Asia/Kathmandu' },
  ]);
});

test('remembers when the time zone changed last, whatever changes after it', async () => {
  const company = randomUUID();
  const changedAt = async (): Promise<number | null | undefined> =>
    (await database.query<{ changed_at: number | null }>({ text: 'select changed_at from companies where company_id = $1', values: [company] })).rows[0]
      ?.changed_at;
  await store(company, SETTINGS, NOW);
  await store(company, { ...SETTINGS, timezone: 'Asia/Kathmandu' }, NOW + 1);
  expect(await changedAt()).toBe(NOW + 1);
  await store(company, { ...SETTINGS, timezone: 'Asia/Kathmandu', verified_only: true }, NOW + 2);
  expect(await changedAt()).toBe(NOW + 1);
  await store(company, SETTINGS, NOW + 3);
  expect(await changedAt()).toBe(NOW + 3);
});

test('starts the refresh of financials again when a setting changes during it', async () => {
  const company = randomUUID();
  await store(company, SETTINGS);
  await database.query({ text: 'update financials_to_refresh set after = $2 where company_id = $1', values: [company, randomUUID()] });
  await store(company, { ...SETTINGS, costing_enabled: false });
  expect((await work(company)).refresh).toEqual([null]);
});

test('refreshes the financials of all jobs of each company after a change of the time zone, in more than one batch', async () => {
  const moved = new Map([1001, 1].map((count) => [randomUUID() as string, count]));
  for (const [company, count] of moved) {
    await store(company, SETTINGS);
    const lines = Array.from({ length: count }, () => job());
    await database.transaction((tx) => apply(tx, company, jobs, 'jobs', ...lines));
    await store(company, { ...SETTINGS, timezone: 'Pacific/Kiritimati' });
  }
  const builder = summaryBuilder(database, silentLog, createMetrics('reporting'));
  await builder.start();
  for (const company of moved.keys()) while ((await work(company)).refresh.length > 0);
  await builder.stop();
  for (const [company, count] of moved) {
    const { rows } = await database.query({
      text: 'select report_date::text as on, count(*) as jobs from job_financials where company_id = $1 group by 1',
      values: [company],
    });
    expect(rows).toEqual([{ on: '2026-03-02', jobs: count }]);
  }
});

test('refreshes the financials of a company that keeps no costs any more, although no sums are built for it', async () => {
  const company = randomUUID();
  await store(company, SETTINGS);
  await database.transaction((tx) => apply(tx, company, jobs, 'jobs', job()));
  await build(database, company);
  const enabled = async (): Promise<(boolean | undefined)[]> => {
    const { rows } = await database.query<{ derived: Buffer }>({ text: 'select derived from job_financials where company_id = $1', values: [company] });
    return rows.map(({ derived }) => JobFinancials.decode(derived).costing?.enabled);
  };
  expect(await enabled()).toEqual([true]);
  await store(company, { ...SETTINGS, costing_enabled: false });
  // Ends when nothing is left to refresh.
  await build(database, company);
  expect(await enabled()).toEqual([false]);
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

async function work(company: string): Promise<Work> {
  const { rows: building } = await database.query<{ time_zone: string }>({
    text: `select time_zone from generations where company_id = $1 and state = 'building'`,
    values: [company],
  });
  const { rows: refresh } = await database.query<{ after: string | null }>({
    text: 'select after from financials_to_refresh where company_id = $1',
    values: [company],
  });
  return { building: building.map(({ time_zone }) => time_zone), refresh: refresh.map(({ after }) => after) };
}
