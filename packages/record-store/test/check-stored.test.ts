// Which stored records a check names, and what it says of each.
import { randomUUID } from 'node:crypto';
import { catchUpMigrations } from '@truckroll/catch-up';
import { codec, resource } from '@truckroll/contract';
import type { BrokenRule, CheckRecordsResponse } from '@truckroll/contract/gen/records/v1/record_checks';
import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import { outboxTables } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { checkStored } from '../src/check-stored.ts';
import { RecordError, defineTable, recordStoreMigrations, type Table } from '../src/index.ts';
import { locationTables, search } from './locations.ts';

const table = defineTable<Location>({
  resource: resource('locations'),
  table: 'locations',
  search,
  columns: { address_postal_code: 'address.postal_code' },
  links: { account_id: { table: 'location_accounts', of: () => [] } },
  checkShown({ name }) {
    if (name === 'beyond') throw new RecordError('locations', 'its id', 'totals', 'the range of cents');
  },
}) as Table<any> as Table;

let database: Database;
let close: () => Promise<void>;
let company: string;
beforeAll(
  async () =>
    void ({ database, close } = await openFreshDatabase({
      schema: 'shop',
      migrations: [catchUpMigrations, outboxTables, recordStoreMigrations, locationTables('')],
    })),
);
afterAll(() => close());
beforeEach(() => void (company = randomUUID()));

const AT = 1_772_377_200_000_000;
const location = (fields: Partial<Location> = {}): Buffer => {
  const address = { id: randomUUID(), formatted: '', line_1: '', line_2: null, city: '', state: '', postal_code: '' };
  const { decode, encode } = codec(table.resource.record.typeName);
  const rest = { property_type: 'House', municipality: 'Austin', created_by: { id: randomUUID(), name: 'Ana' }, created_at: AT, updated_at: AT };
  return Buffer.from(encode({ ...(decode(new Uint8Array()) as Location), id: randomUUID(), name: 'Shop', address, ...rest, ...fields }).finish());
};

async function store(document: Buffer, id: string = randomUUID(), of = company): Promise<string> {
  await database.query({
    text: 'insert into locations (company_id, id, created_at, updated_at, document) values ($1, $2, now(), now(), $3)',
    values: [of, id, document],
  });
  return id;
}

async function pages(): Promise<CheckRecordsResponse[]> {
  const read: CheckRecordsResponse[] = [];
  for await (const page of checkStored(database, [table], company)) read.push(page);
  return read;
}
const broken = async (): Promise<BrokenRule[]> => (await pages()).flatMap((page) => page.broken);

test('names at most ten broken rules of a record, and those of every record', async () => {
  const accounts = Array.from({ length: 11 }, () => ({ account: null, archived: false }));
  const ids = [await store(location({ accounts })), await store(location({ accounts: accounts.slice(2) })), await store(location())];
  const found = await broken();
  expect(ids.map((of) => found.filter(({ id }) => id === of).length)).toEqual([10, 9, 0]);
  expect(found[0]).toMatchObject({ field: 'accounts[0].account', code: 'MISSING' });
});

test('names the field of a record that reads refuse, and goes on after a record that cannot be read', async () => {
  const ids = [await store(Buffer.of(0x0a, 0x7f)), await store(location({ name: 'beyond' }))];
  const found = await broken();
  expect(ids.map((of) => found.filter(({ id }) => id === of))).toEqual([
    [{ id: ids[0], field: '(line)', code: 'INTERNAL_ERROR', message: expect.stringMatching(/^It could not be checked: .*Error/) }],
    [{ id: ids[1], field: 'totals', code: 'OUT_OF_RANGE', message: 'totals of locations/its id would be beyond the range of cents.' }],
  ]);
});

test('checks large records in pages of 8 MB', async () => {
  for (let n = 0; n < 5; n += 1) await store(location({ name: 'n'.repeat(3_000_000) }));
  expect((await pages()).map(({ checked }) => checked)).toEqual([2, 2, 1]);
});

test('checks each record of the company once, a page at a time', async () => {
  await store(location(), randomUUID(), randomUUID());
  for (let n = 0; n < 201; n += 1) await store(location());
  expect((await pages()).map(({ path, checked }) => [path, checked])).toEqual([
    ['locations', 100],
    ['locations', 100],
    ['locations', 1],
  ]);
});
