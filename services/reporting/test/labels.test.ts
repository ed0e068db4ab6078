import { randomUUID } from 'node:crypto';
import type { Database } from '@truckroll/postgres';
import { NameCache } from '@truckroll/record-store';
import { silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { labelsOf } from '../src/reports/labels.ts';
import { schema } from '../src/schema.ts';
import { NONE } from '../src/facts/definitions.ts';

const [company, other] = [randomUUID(), randomUUID()];
const id: string = randomUUID();

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema)), 60_000);
afterAll(() => close());
afterEach(() => database.query({ text: 'truncate names, assignments' }));

const name = (kind: string, text: string, of = company) =>
  database.query({ text: 'insert into names (company_id, kind, id, name, version) values ($1, $2, $3, $4, 0)', values: [of, kind, id, text] });
const assign = (text: string, of = company) =>
  database.query({
    text: `insert into assignments (company_id, id, job_id, team_member_id, team_member_name, projection)
      values ($1, gen_random_uuid(), gen_random_uuid(), $2, $3, 1)`,
    values: [of, id, text],
  });
const label = async (dimension: string, value = id) =>
  (await labelsOf(database, new NameCache(database, 'reporting', silentLog), company, dimension, [value]))(value);

test.each([
  ['account', 'accounts'],
  ['business_unit', 'business-units'],
  ['job_type', 'job-types'],
  ['collector', 'team-members'],
  ['team_member', 'team-members'],
])('labels a group by %s with the latest name among the company’s %s', async (dimension, kind) => {
  await name(kind, 'of another company', other);
  expect(await label(dimension)).toBe(id);
  await name('lead-sources', 'of another kind');
  await name(kind, 'Ana Ruiz');
  await assign('formerly');
  expect(await label(dimension)).toBe('Ana Ruiz');
});

test('labels a technician without a name with the first one on the company’s assignments, and no other group', async () => {
  await assign('Aaron Other', other);
  expect(await label('team_member')).toBe(id);
  for (const text of ['Cid Vega', 'Bo Lind']) await assign(text);
  expect([await label('team_member'), await label('collector')]).toEqual(['Bo Lind', id]);
});

test.each([
  ['job_class', 'SERVICE', 'Service'],
  ['job_class', 'LATER', 'LATER'],
  ['payment_method', 'CARD', 'CARD'],
  ['team_member', NONE, NONE],
])('labels the group by %s of %j as %j', async (dimension, value, text) => {
  expect(await label(dimension, value)).toBe(text);
});
