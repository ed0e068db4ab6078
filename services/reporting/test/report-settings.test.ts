// What a report is read from, the settings that it states, and when it is refused.
import { randomUUID } from 'node:crypto';
import { watermarkSources } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { reportSettings } from '../src/reports/settings.ts';
import { schema } from '../src/schema.ts';

const FRESH = 900;

let database: Database;
let close: () => Promise<void>;
let company: string;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema)), 60_000);
afterAll(() => close());
beforeEach(async () => {
  await database.query({ text: 'truncate applied_until, companies, summed, due_notes, due_months' });
  company = randomUUID();
});

interface Company {
  zone?: string;
  costing?: boolean;
  verifiedOnly?: boolean;
}

const known = (id: string, { zone = 'America/Chicago', costing = true, verifiedOnly = false }: Company = {}) =>
  database.query({
    text: `insert into companies (company_id, time_zone, costing_enabled, verified_only) values ($1, $2, $3, $4)`,
    values: [id, zone, costing, verifiedOnly],
  });
const summed = (id: string, report: string, before: string | null = null) =>
  database.query({ text: `insert into summed values ($1, $2, 'America/Chicago', 7, $3, 6)`, values: [id, report, before] });
const published = (...sources: readonly string[]) =>
  database.query({ text: 'insert into applied_until select source, to_timestamp($2) from unnest($1::text[]) source', values: [sources, FRESH] });
const refusal = (cause: string) => ({ status: 503, retryAfterSeconds: 2, cause: expect.objectContaining({ message: expect.stringContaining(cause) }) });

test.each([
  [true, false],
  [false, true],
])('states that costs are kept: %p, and that only verified costs count: %p', async (costing, verifiedOnly) => {
  await known(company, { costing, verifiedOnly });
  await summed(company, 'invoice', '2026-03-01');
  await summed(company, 'job');
  await published(...watermarkSources);
  expect(await reportSettings(database, company, 'job')).toMatchObject({
    timeZone: 'America/Chicago',
    costingEnabled: costing,
    verifiedOnly,
    summed: { timeZone: 'America/Chicago', version: 7, dueBefore: -Infinity, dueVersion: 6 },
    asOf: FRESH * 1e6,
  });
  expect((await reportSettings(database, company, 'invoice')).summed).toMatchObject({ dueBefore: 20_513 });
  expect((await reportSettings(database, company, 'collection')).summed).toBeUndefined();
});

test('states the dates and months that are due of one report of one company', async () => {
  const other = randomUUID();
  for (const id of [company, other]) await known(id);
  await published(...watermarkSources);
  const due = (id: string, report: string, date: string) =>
    database.query({
      text: 'with month as (insert into due_months values ($1, $2, $3)) insert into due_notes values ($1, $2, $3)',
      values: [id, report, date],
    });
  for (const [id, report, date] of [
    [company, 'job', '2026-03-01'],
    [company, 'invoice', '2026-04-01'],
    [other, 'job', '2026-05-01'],
  ] as const)
    await due(id, report, date);
  expect(await reportSettings(database, company, 'job')).toMatchObject({ dates: { days: '2026-03-01', months: '2026-03-01' } });
  expect(await reportSettings(database, company, 'collection')).toMatchObject({ dates: { days: '', months: '' } });
});

test('refuses a report until the settings of the company have arrived', async () => {
  await published(...watermarkSources);
  await expect(reportSettings(database, company, 'job')).rejects.toMatchObject(refusal('settings'));
});

test('refuses a report until every owner has published', async () => {
  await known(company);
  await published(...watermarkSources.slice(1));
  await expect(reportSettings(database, company, 'job')).rejects.toMatchObject(refusal('owner'));
});

test('states the new time zone of a company at once', async () => {
  await known(company, { zone: 'Asia/Kathmandu' });
  await summed(company, 'job');
  await published(...watermarkSources);
  expect(await reportSettings(database, company, 'job')).toMatchObject({
    timeZone: 'Asia/Kathmandu',
    summed: { timeZone: 'America/Chicago' },
    asOf: FRESH * 1e6,
  });
});
