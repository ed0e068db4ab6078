// What a change of a company's settings leads to: financials refreshed in batches, and sums built in the new time zone.
import { randomUUID } from 'node:crypto';
import { CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { companies } from '../src/read-models/companies.ts';
import { keepingSettings, schema } from '../src/schema.ts';

const BEFORE = { timezone: 'America/Chicago', costing_enabled: true, verified_only: false };

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema, { settings: keepingSettings }));
});
afterAll(() => close());

async function store(company: string, settings: typeof BEFORE): Promise<void> {
  const payload = Buffer.from(CompanyAccount.encode({ ...CompanyAccount.decode(new Uint8Array()), id: company, ...settings }).finish());
  await database.transaction((tx) => companies.store(tx, company, [{ key: company, time: 1_772_377_200_000_000, payload }]));
}

interface Work {
  building: string[];
  refresh: (string | null)[];
}

test.each<[string, Partial<typeof BEFORE>, Work]>([
  ['nothing', {}, { building: ['America/Chicago'], refresh: [] }],
  ['whether unverified costs count', { verified_only: true }, { building: ['America/Chicago'], refresh: [] }],
  ['whether costs are kept', { costing_enabled: false }, { building: ['America/Chicago'], refresh: [null] }],
  ['the time zone', { timezone: 'Asia/Kathmandu' }, { building: ['Asia/Kathmandu'], refresh: [null] }],
])('an event that changes %s', async (_, change, expected) => {
  const company = randomUUID();
  await store(company, BEFORE);
  await database.query({ text: 'delete from financials_to_refresh where company_id = $1', values: [company] });
  await store(company, { ...BEFORE, ...change });
  expect(await work(company)).toEqual(expected);
});

test('starts the refresh of financials again when a setting changes during it', async () => {
  const company = randomUUID();
  await store(company, BEFORE);
  await database.query({ text: 'update financials_to_refresh set after = $2 where company_id = $1', values: [company, randomUUID()] });
  await store(company, { ...BEFORE, costing_enabled: false });
  expect((await work(company)).refresh).toEqual([null]);
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
