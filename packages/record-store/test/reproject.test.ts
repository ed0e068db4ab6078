// Reprojecting a stored record also renews its links, applies consequences and publishes. Failures end the pass or refuse one record.
import { randomUUID } from 'node:crypto';
import { catchUpMigrations } from '@truckroll/catch-up';
import { resource, topics } from '@truckroll/contract';
import { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import { outboxTables } from '@truckroll/outbox';
import type { Database, Transaction } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { defineTable, recordProjection, recordStoreMigrations, upsertRecords, type Changed, type Table } from '../src/index.ts';
import { FAIL, locationTables, search } from './locations.ts';

const own = locationTables(FAIL);

let consequences: { id: string; before: unknown }[] = [];
/** SQLSTATE with which deriving fails. */
let failure: string | undefined;

const table = defineTable<Location>({
  resource: resource('locations'),
  table: 'locations',
  search,
  version: 2,
  columns: { address_postal_code: { type: 'text', of: ({ name }) => name } },
  links: { account_id: { table: 'location_accounts', of: ({ accounts }) => accounts.flatMap(({ account }) => account?.id ?? []) } },
  remembers: ['address_postal_code', 'document'],
  async derive(tx: Transaction, _companyId: string, batch: readonly Changed<Location>[]) {
    if (failure !== undefined) await tx.query({ text: 'select fail($1)', values: [failure] });
    return new Map(batch.map(({ id }) => [id, {}]));
  },
  afterChange: async (_tx, _companyId, changed) => void consequences.push(...changed.map(({ id, before }) => ({ id, before }))),
  publishes: { topic: topics.jobs, type: 'location.changed' },
});

let database: Database;
let close: () => Promise<void>;
let company: string;
let stored: Location;
beforeAll(
  async () =>
    void ({ database, close } = await openFreshDatabase({ schema: 'shop', migrations: [catchUpMigrations, outboxTables, recordStoreMigrations, own] })),
);
afterAll(() => close());
beforeEach(async () => {
  company = randomUUID();
  const accounts = [{ account: { id: randomUUID(), name: '' }, archived: false }];
  stored = { ...Location.decode(new Uint8Array()), id: randomUUID(), name: 'Home', accounts };
  failure = undefined;
  await database.query({ text: 'truncate locations, location_accounts' });
  await database.transaction((tx) => upsertRecords(tx, table, company, [stored]));
  await database.query({ text: 'delete from outbox' });
  consequences = [];
});

const alter = (columns: string): Promise<unknown> => database.query({ text: `update locations set ${columns} where company_id = $1`, values: [company] });

async function reproject() {
  const done = { renewed: 0, batches: 0, rests: 0, refused: [] as string[] };
  await recordProjection(database, table as Table<any> as Table).renew({
    signal: new AbortController().signal,
    renewed: (rows) => {
      done.renewed += rows;
      done.batches += 1;
    },
    refused: ({ id }) => void done.refused.push(id),
    rest: async () => void (done.rests += 1),
  });
  return done;
}

const published = async (): Promise<(string | undefined)[]> =>
  (await database.query<{ payload: Buffer }>({ text: 'select payload from outbox' })).rows.map(({ payload }) => Location.decode(payload).name);

const linked = async (): Promise<string[]> =>
  (await database.query<{ value: string }>({ text: 'select value from location_accounts where id = $1', values: [stored.id] })).rows.map(({ value }) => value);

test('writes the links of a record anew, although its columns stay the same', async () => {
  await database.query({ text: 'update location_accounts set value = $1', values: [randomUUID()] });
  await alter('projection = 1');
  await reproject();
  expect(await linked()).toEqual([stored.accounts[0]!.account!.id]);
});

test('publishes a record whose columns change, and gives its consequences the columns from before', async () => {
  await alter(`projection = 1, address_postal_code = 'of older rules'`);
  await reproject();
  expect(await published()).toEqual(['Home']);
  const document = Buffer.from(Location.encode(stored).finish());
  expect(consequences).toEqual([{ id: stored.id, before: { address_postal_code: 'of older rules', document } }]);
});

test('neither publishes a record that stays the same nor applies its consequences', async () => {
  await alter('projection = 1');
  expect((await reproject()).renewed).toBe(1);
  expect([await published(), consequences]).toEqual([[], []]);
});

test('treats a row that older rules wrote as new, because its columns from before those rules are lost', async () => {
  await alter('projection = 0');
  await reproject();
  expect([await published(), consequences]).toEqual([['Home'], [{ id: stored.id, before: undefined }]]);
});

test.each([
  ['contention', '40001', { sqlState: '40001' }],
  ['an outage', '57P01', { status: 503 }],
])('ends with %s, and counts no record as refused, so that the next pass finds it', async (_, state, reason) => {
  await alter('projection = 1');
  failure = state;
  await expect(reproject()).rejects.toMatchObject(reason);
  failure = undefined;
  expect(await reproject()).toMatchObject({ renewed: 1, refused: [] });
});

test('reprojects large records in batches of 8 MB', async () => {
  const others = Array.from({ length: 4 }, () => ({ ...stored, id: randomUUID(), name: 'n'.repeat(3_000_000) }));
  await database.transaction((tx) => upsertRecords(tx, table, company, others));
  await alter('projection = 1');
  expect(await reproject()).toMatchObject({ renewed: 5, batches: 3 });
});

test('refuses only the record that the rules reject, and rests once after each batch', async () => {
  await alter('projection = 1');
  failure = '22000';
  expect(await reproject()).toMatchObject({ renewed: 0, refused: [stored.id], rests: 2 });
  failure = undefined;
  const { batches, rests } = await reproject();
  expect([batches, rests]).toEqual([2, 2]);
});
