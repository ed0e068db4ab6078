// Which sums a report is read from, the settings that it states, and when it is refused.
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
  await database.query({ text: 'truncate applied_until, companies, generations, spoiled_summaries' });
  company = randomUUID();
});

interface Company {
  zone?: string;
  costing?: boolean;
  verifiedOnly?: boolean;
  changedAt?: number | null;
}

const known = (id: string, { zone = 'America/Chicago', costing = true, verifiedOnly = false, changedAt = null }: Company = {}) =>
  database.query({
    text: `insert into companies (company_id, time_zone, costing_enabled, verified_only, changed_at) values ($1, $2, $3, $4, to_timestamp($5))`,
    values: [id, zone, costing, verifiedOnly, changedAt],
  });
const generation = (id: string, number: number, state: string, version = 1) =>
  database.query({
    text: `insert into generations (company_id, generation, time_zone, state, version) values ($1, $2, 'America/Chicago', $3, $4)`,
    values: [id, number, state, version],
  });
const published = (...sources: readonly string[]) =>
  database.query({ text: 'insert into applied_until select source, to_timestamp($2) from unnest($1::text[]) source', values: [sources, FRESH] });
const refusal = (cause: string) => ({ status: 503, retryAfterSeconds: 2, cause: expect.objectContaining({ message: expect.stringContaining(cause) }) });

test.each([
  [true, false],
  [false, true],
])('states that costs are kept: %p, and that only verified costs count: %p', async (costing, verifiedOnly) => {
  await known(company, { costing, verifiedOnly });
  await generation(company, 3, 'current', 7);
  await generation(company, 4, 'building', 8);
  await published(...watermarkSources);
  expect(await reportSettings(database, company)).toEqual({
    generation: 3,
    version: 7,
    timeZone: 'America/Chicago',
    costingEnabled: costing,
    verifiedOnly,
    asOf: FRESH * 1e6,
  });
});

test.each(['building', 'retired'])('refuses a report while the only sums are %s, whatever another company has', async (state) => {
  const other = randomUUID();
  for (const id of [company, other]) await known(id);
  await generation(company, 1, state);
  await generation(other, 1, 'current');
  await published(...watermarkSources);
  await expect(reportSettings(database, company)).rejects.toMatchObject(refusal('sums'));
  await reportSettings(database, other);
});

test('refuses a report while the sums of the company are spoiled, and not because of those of another one', async () => {
  await known(company);
  await generation(company, 1, 'current');
  await published(...watermarkSources);
  const spoil = (id: string) => database.query({ text: 'insert into spoiled_summaries values ($1)', values: [id] });
  await spoil(randomUUID());
  await reportSettings(database, company);
  await spoil(company);
  await expect(reportSettings(database, company)).rejects.toMatchObject(refusal('sums'));
});

test('refuses a report until every owner has published', async () => {
  await known(company);
  await generation(company, 1, 'current');
  await published(...watermarkSources.slice(1));
  await expect(reportSettings(database, company)).rejects.toMatchObject(refusal('owner'));
});

test.each<[string, Company, number]>([
  ['before a change of the time zone that the sums do not have yet', { zone: 'Asia/Kathmandu', changedAt: 500 }, 500],
  ['at the earliest watermark if the time zone changed after it', { zone: 'Asia/Kathmandu', changedAt: 901 }, FRESH],
  ['at the earliest watermark once the sums have the time zone', { changedAt: 500 }, FRESH],
  ['at the earliest watermark if no time of the change is known', { zone: 'Asia/Kathmandu' }, FRESH],
])('the time up to which figures are complete is %s, and their time zone that of the sums', async (_, settings, second) => {
  await known(company, settings);
  await generation(company, 1, 'current');
  await published(...watermarkSources);
  expect(await reportSettings(database, company)).toMatchObject({ asOf: second * 1e6, timeZone: 'America/Chicago' });
});
