// What a table's definition must agree with, and which filters wait for rows to be projected again.
import { resource } from '@truckroll/contract';
import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import type { Queryable, Transaction } from '@truckroll/postgres';
import { defineTable, registered, type Table } from '../src/index.ts';
import { gateOf, passGate } from '../src/gate.ts';
import { columnFor, idOf, linkFor, storedUnder, valueOf, type TableDefinition } from '../src/table.ts';

const COMPANY = '0191b3c4-5d6e-8f70-8192-a3b4c5d6e7f8';
const links = { account_id: { table: 'location_accounts', of: () => [] } };
const locations: TableDefinition<Location> = {
  resource: resource('locations'),
  table: 'locations',
  columns: { address_postal_code: 'address.postal_code' },
  links,
  search: { table: 'location_entries', of: ({ name }) => ({ texts: [name] }) },
};
const untyped = (definition: TableDefinition<any>): Table => defineTable<any>(definition) as Table;

describe('a definition', () => {
  test('needs a column or link for each filter', () => {
    expect(() => defineTable<Location>({ ...locations, columns: {} })).toThrow('locations: no column or link answers the filter postal_code');
    expect(() => defineTable<Location>({ ...locations, links: {} })).toThrow('locations: no column or link answers the filter account_id');
  });

  test('names only its own columns and links as introduced later', () => {
    for (const name of ['address_postal_code', 'account_id', 'created_at']) expect(() => defineTable({ ...locations, since: { [name]: 2 } })).not.toThrow();
    expect(() => defineTable({ ...locations, since: { area: 2 } })).toThrow('locations: since names area, which is not a column or link');
  });

  test('takes columns from fields of the record that are no lists or objects', () => {
    for (const path of ['nothing', 'address', 'accounts', 'address.nothing', 'name.length']) {
      expect(() => defineTable({ ...locations, columns: { ...locations.columns, wrong: path as 'name' } })).toThrow(`locations: ${path} cannot be a column`);
    }
  });

  test('has version 1 and the order of its resource unless it says otherwise', () => {
    expect([untyped(locations).version, untyped(locations).order]).toEqual([1, ['created_at', 'id']]);
    expect(untyped({ ...locations, version: 3 }).version).toBe(3);
  });
});

describe('the values of a record', () => {
  const table = defineTable<Location>({ ...locations, columns: { ...locations.columns, named: { type: 'text', of: ({ name }) => name } } });
  const record = { id: 'l-1', name: 'Home', created_at: 1_772_377_200_000_001, address: null } as unknown as Location;
  const value = (name: string) => valueOf(table.columns.find((column) => column.name === name)!, record);

  test('are times as text, and null for what the record does not have', () => {
    expect([idOf(table, record), value('named'), value('created_at'), value('address_postal_code')]).toEqual([
      'l-1',
      'Home',
      '2026-03-01T15:00:00.000001Z',
      null,
    ]);
  });

  test('are found by a filter’s field, or by its own name, or where the company’s settings decide', () => {
    const decided = { ...table, decided: { eligible: { column: 'named', values: async () => [] } } };
    expect(columnFor(table, 'postal_code', 'address.postal_code')?.name).toBe('address_postal_code');
    expect(columnFor(table, 'named', '')?.name).toBe('named');
    expect(columnFor(decided, 'eligible', 'address.postal_code')?.name).toBe('named');
    expect(columnFor(table, 'postal_code', 'address.city')).toBeUndefined();
  });

  test('of a link are found with and without a bound’s ending', () => {
    for (const name of ['account_id', 'account_id_from', 'account_id_before']) expect(linkFor(table, name)).toBe(table.links['account_id']);
    for (const name of ['account', 'account_id_until', 'from_account_id']) expect(linkFor(table, name)).toBeUndefined();
  });

  test('are stored under their company, except those that are the same in every company', () => {
    expect(storedUnder({}, COMPANY)).toBe(COMPANY);
    expect(storedUnder({ everyCompany: true }, COMPANY)).toBe('00000000-0000-0000-0000-000000000000');
  });
});

describe('registered tables', () => {
  const register = (tables: object, consequences = {}) => registered('scheduling', tables as never, consequences) as readonly Table<any>[];

  test('have the key of their resource, and its owner', () => {
    expect(register({ locations: untyped(locations) })).toHaveLength(1);
    expect(() => register({ jobs: untyped(locations) })).toThrow('scheduling: the table of locations is registered as jobs');
    expect(() => registered('billing', { locations: untyped(locations) } as never)).toThrow('billing: the table of locations is registered as locations');
  });

  test('apply the consequences of a change after what the table itself does', async () => {
    const done: string[] = [];
    const own = async (): Promise<void> => {
      await Promise.resolve();
      done.push('own');
    };
    const [table] = register({ locations: untyped({ ...locations, afterChange: own }) }, { locations: async () => void done.push('consequence') });
    await table!.afterChange?.({} as Transaction, COMPANY, []);
    expect(done).toEqual(['own', 'consequence']);
  });
});

describe('a filter that is new in a release', () => {
  const collection = { company_id: COMPANY, time_zone: 'UTC', limit: 10, after: new Uint8Array(), ids: [] };
  const table = untyped({ ...locations, version: 3, since: { address_postal_code: 2, account_id: 3, created_at: 2 } });
  const gate = (filters: object, own: object = {}) => gateOf(table, { collection: { ...collection, ...own }, ...filters });

  test('waits for the version that introduced its column or link', () => {
    expect(gate({ postal_code: ['787'] })).toEqual({ version: 2, filters: ['postal_code'] });
    expect(gate({ account_id: [COMPANY] })).toEqual({ version: 3, filters: ['account_id'] });
    expect(gate({}, { created_from: 1 })).toEqual({ version: 2, filters: ['created_from'] });
  });

  test('waits for the latest of several, and all of them are named', () => {
    expect(gate({ postal_code: ['787'], account_id: [COMPANY] })).toMatchObject({ version: 3 });
    expect(gate({ postal_code: ['787'], account_id: [COMPANY] })!.filters.toSorted()).toEqual(['account_id', 'postal_code']);
  });

  test.each([
    [10_000, '10000'],
    [10_001, 'more than 10000'],
  ])('is refused with the names of all such filters while %i rows are to go', async (count, shown) => {
    const counting = { query: async () => ({ rows: [{ count }] }) } as unknown as Queryable;
    await expect(passGate(counting, table, COMPANY, { version: 2, filters: ['postal_code', 'account_id'] })).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining(`The filter postal_code, account_id is new here and is still being prepared: ${shown} of the company's records`),
    });
  });

  test('does not matter to a request without it', () => {
    for (const filters of [{}, { postal_code: [], account_id: null }, { postal_code: undefined }]) expect(gate(filters)).toBeUndefined();
    expect(gate({}, { ids: [COMPANY] })).toBeUndefined();
    expect(gateOf(untyped(locations), { collection, postal_code: ['787'] })).toBeUndefined();
  });
});
