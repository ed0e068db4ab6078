// Two releases of a table's rules on one database: the newer one finds and reprojects what the older one writes.
import { randomUUID } from 'node:crypto';
import { catchUpMigrations } from '@truckroll/catch-up';
import { resource } from '@truckroll/contract';
import type { ReprojectResponse } from '@truckroll/contract/gen/records/v1/projections';
import { ListLocationsResponse, Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import { outboxTables } from '@truckroll/outbox';
import { Database, migrate, type DatabaseSchema } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { defineTable, recordStoreMigrations, upsertRecords, type Table } from '../src/index.ts';
import { passGate } from '../src/gate.ts';
import { listStatement } from '../src/list-query.ts';
import { NameCache } from '../src/names.ts';
import { companiesBehind, withProjections } from '../src/projection.ts';
import { RecordReader } from '../src/read.ts';
import { recordProjection } from '../src/reproject.ts';
import { Reprojector } from '../src/reprojector.ts';
import { search } from './locations.ts';

const own = {
  name: 'own',
  migrations: [
    {
      name: '0001_locations',
      sql: `create table locations (
          company_id uuid not null, id uuid not null, created_at timestamptz not null, updated_at timestamptz not null,
          address_postal_code text, area integer, search text, document bytea not null, derived bytea, primary key (company_id, id));
        create table location_accounts (company_id uuid not null, value uuid not null, created_at timestamptz not null, id uuid not null,
          primary key (company_id, value, created_at, id));
        create table location_entries (company_id uuid not null, value text collate "C" not null, created_at timestamptz not null, id uuid not null,
          primary key (company_id, value, created_at, id));
        insert into locations select gen_random_uuid(), gen_random_uuid(), now(), now(), 'before', null, null, '', null;
        select keep_projection('locations')`,
    },
  ],
};
const base: DatabaseSchema = { schema: 'shop', migrations: [catchUpMigrations, recordStoreMigrations, outboxTables, own] };
const links = { account_id: { table: 'location_accounts', of: ({ accounts }: Location) => accounts.flatMap(({ account }) => account?.id ?? []) } };

/**
 * Rules of the previous and the current release: the current one keeps three digits of the postal code, adds a number that cannot be 13,
 * and a search.
 */
const before = withoutSearch(
  defineTable<Location>({ resource: resource('locations'), table: 'locations', columns: { address_postal_code: 'address.postal_code' }, links, search }),
);
const consequences: string[] = [];
const after = defineTable<Location>({
  resource: resource('locations'),
  table: 'locations',
  version: 2,
  since: { address_postal_code: 2, search: 2 },
  search,
  columns: {
    address_postal_code: { type: 'text', of: ({ address }) => address?.postal_code?.slice(0, 3) ?? null },
    area: { type: 'integer', of: ({ estimated_square_footage: area }) => (area === 13 ? refuse() : (area ?? null)) },
  },
  links,
  afterChange: async (_tx, _companyId, changed) => void consequences.push(...changed.map(({ id }) => id)),
});

function withoutSearch({ search: _, ...table }: Table<Location>): Table<Location> {
  return { ...table, columns: table.columns.filter(({ name }) => name !== 'search') };
}

function refuse(): never {
  throw new RangeError('13 is no area');
}

let fresh: TestDatabase;
let older: Database;
let newer: Database;
let reprojector: Reprojector;
let company: string;
const metrics = createMetrics('test');

beforeAll(async () => {
  fresh = await freshDatabase({});
  older = await release(before);
});
afterAll(async () => {
  await reprojector?.stop();
  await Promise.all([older.close(), newer.close()]);
  await fresh.drop();
});
beforeEach(() => {
  company = randomUUID();
  consequences.length = 0;
});

async function release(table: Table<Location>): Promise<Database> {
  const { settings, ...schema } = withProjections(base, [table]);
  await migrate({ url: fresh.url, schema: schema.schema, sets: schema.migrations });
  return new Database({ url: fresh.url, schema: schema.schema, settings, maxConnections: 4 });
}

function location(fields: Partial<Location> = {}): Location {
  const at = 1_772_377_200_000_000;
  const empty = Location.decode(new Uint8Array());
  const address = { id: randomUUID(), formatted: '', line_1: '', line_2: null, city: '', state: '', postal_code: '78701' } as Location['address'];
  return { ...empty, id: randomUUID(), name: 'Home', address, created_at: at, updated_at: at, ...fields };
}

const store = (database: Database, table: Table<Location>, ...records: Location[]) => database.transaction((tx) => upsertRecords(tx, table, company, records));

async function rows(): Promise<unknown[][]> {
  const { rows: found } = await older.query<{ projection: number; address_postal_code: string; area: number | null }>({
    text: 'select projection, address_postal_code, area from locations where company_id = $1 order by id',
    values: [company],
  });
  return found.map(({ projection, address_postal_code, area }) => [projection, address_postal_code, area]);
}

async function reproject(signal = new AbortController().signal): Promise<ReprojectResponse> {
  const steps: ReprojectResponse[] = [];
  await reprojector.run('locations', signal, (step) => steps.push(step));
  return steps.at(-1)!;
}

const page = (database = newer, filter: object = { postal_code: ['787'] }): Promise<Buffer> => {
  const reader = new RecordReader(after as Table<any> as Table, { database, names: new NameCache(newer, 'shop', silentLog) });
  const collection = { company_id: company, time_zone: 'UTC', limit: 10, after: new Uint8Array() };
  return reader.list({ collection, ...filter }, { onClosed: () => undefined });
};

test('counts rows from before versions as version 1, and marks writes that name no version', async () => {
  const { rows: found } = await older.query({ text: `select projection from locations where address_postal_code = 'before'` });
  expect(found).toEqual([{ projection: 1 }]);
  await store(older, before, location());
  expect(await rows()).toEqual([[1, '78701', null]]);
  const unaware = new Database({ url: fresh.url, schema: 'shop', maxConnections: 1 });
  await unaware.query({ text: 'update locations set area = 7 where company_id = $1', values: [company] });
  await unaware.close();
  expect(await rows()).toEqual([[0, '78701', 7]]);
  await older.query({ text: `delete from locations where address_postal_code = 'before' or company_id = $1`, values: [company] });
});

describe('once a newer release has begun', () => {
  let old: Location;
  beforeAll(async () => {
    company = randomUUID();
    old = location({ estimated_square_footage: 2150 });
    await store(older, before, old);
    const first = company;
    newer = await release(after);
    reprojector = new Reprojector({ database: newer, projections: [recordProjection(newer, after as Table<any> as Table)], log: silentLog, metrics });
    company = first;
    expect(await companiesBehind(newer, after)).toEqual([first]);
    expect(await reproject()).toMatchObject({ renewed: 1, behind: 0, refused: [], done: true });
    expect(await rows()).toEqual([[2, '787', 2150]]);
    expect(await companiesBehind(newer, after)).toEqual([]);
  });

  test('marks every row that the older release writes, reprojects it, and applies its consequences', async () => {
    const [mine, touched, theirs] = [location(), location(), location()].sort((a, b) => (a.id < b.id ? -1 : 1)) as [Location, Location, Location];
    await store(newer, after, mine, touched);
    await store(older, before, theirs);
    await older.transaction((tx) => tx.query({ text: 'update locations set derived = null where company_id = $1 and id = $2', values: [company, touched.id] }));
    await newer.transaction((tx) => tx.query({ text: 'update locations set derived = null where company_id = $1 and id = $2', values: [company, mine.id] }));
    expect(await rows()).toEqual([
      [2, '787', 0],
      [0, '787', 0],
      [0, '78701', null],
    ]);
    consequences.length = 0;
    expect(await reproject()).toMatchObject({ renewed: 2, behind: 0 });
    expect(await rows()).toEqual([
      [2, '787', 0],
      [2, '787', 0],
      [2, '787', 0],
    ]);
    expect(consequences.sort()).toEqual([touched.id, theirs.id].sort());
  });

  test('answers a new filter with 503 until no row of the company is outdated, and then with all rows', async () => {
    await store(newer, after, location());
    const whole = (await page()).length;
    await store(older, before, location());
    await expect(page()).rejects.toMatchObject({
      status: 503,
      retryAfterSeconds: 2,
      message: expect.stringMatching(/postal_code is new here .* 1 of the company's records/),
    });
    const stranger = company;
    company = randomUUID();
    await expect(page()).resolves.toHaveLength(0);
    company = stranger;
    await reproject();
    expect((await page()).length).toBe(2 * whole);
  });

  test('answers a new filter with 503 if the older release writes between the two looks of a page', async () => {
    let looks = 0;
    const of = (companyId: string) => {
      const own = newer.of(companyId);
      const queryBinary = async (statement: Parameters<typeof own.queryBinary>[0]) => {
        looks += 1;
        if (looks === 2) await store(older, before, location());
        return own.queryBinary(statement);
      };
      return { ...own, queryBinary };
    };
    await expect(page({ of } as unknown as Database)).rejects.toMatchObject({ status: 503 });
    await reproject();
    expect((await page()).length).toBeGreaterThan(0);
  });

  test.each([
    [1, 2],
    [2000, 2],
    [2001, 3],
    [10_001, 11],
  ])('asks to try again for %i outdated rows after %i s', async (count, retryAfterSeconds) => {
    const counting = { query: async () => ({ rows: [{ count }] }) } as unknown as Database;
    const gate = { version: 2, filters: ['postal_code'] };
    await expect(passGate(counting, after as Table<any> as Table, company, gate)).rejects.toMatchObject({ status: 503, retryAfterSeconds });
  });

  test('checks the version in the page’s own statement, and only for new filters', () => {
    const collection = { company_id: company, time_zone: 'UTC', limit: 10, after: new Uint8Array() };
    const text = (filters: object) => listStatement(after as Table<any> as Table, { collection, ...filters }).text;
    expect(text({ postal_code: ['787'] })).toContain('projection');
    expect(text({ account_id: [company] })).not.toContain('projection');
    expect(text({})).not.toContain('projection');
  });

  test('names a record that the rules reject, projects all others, and keeps rejecting the filter', async () => {
    const bad = location({ estimated_square_footage: 13 });
    await store(older, before, bad, ...Array.from({ length: 120 }, () => location()));
    const { renewed, behind, refused } = await reproject();
    expect([renewed, behind]).toEqual([120, 1]);
    expect(refused).toEqual([{ company_id: company, id: bad.id, reason: 'RangeError: 13 is no area' }]);
    await expect(page()).rejects.toMatchObject({ status: 503 });
    await store(newer, after, { ...bad, estimated_square_footage: 14 });
    expect((await reproject()).behind).toBe(0);
    await expect(page()).resolves.toBeInstanceOf(Buffer);
  });

  test('keeps what was done when it is interrupted, and continues from there', async () => {
    await store(older, before, ...Array.from({ length: 250 }, () => location()));
    const stop = new AbortController();
    const interrupted = reprojector.run('locations', stop.signal, ({ renewed }) => void (renewed > 0 && stop.abort(new Error('enough'))));
    await expect(interrupted).rejects.toThrow();
    const done = (await rows()).filter(([version]) => version === 2).length;
    expect(done).toBe(100);
    expect(await reproject()).toMatchObject({ renewed: 150, behind: 0 });
  });

  test('prepares the search of old records, and does not publish a record that only its search changes', async () => {
    const asked = { search: 'mill' };
    const found = async (): Promise<string[]> => ListLocationsResponse.decode(await page(newer, asked)).data.map(({ name }) => name);
    await store(newer, after, location({ name: 'Old Mill', address: null }));
    expect(await found()).toEqual(['Old Mill']);
    const forget = { text: 'update locations set search = null, projection = 1 where company_id = $1', values: [company] };
    await newer.transaction((tx) => tx.query(forget));
    await store(older, before, location({ name: 'Mill Lane', address: null }));
    await older.query({ text: `delete from location_entries where company_id = $1`, values: [company] });
    await expect(page(newer, asked)).rejects.toMatchObject({ status: 503, message: expect.stringContaining('The filter search is new here') });
    await expect(page(newer, {})).resolves.toBeInstanceOf(Buffer);
    consequences.length = 0;
    expect((await reproject()).behind).toBe(0);
    expect((await found()).sort()).toEqual(['Mill Lane', 'Old Mill']);
    expect(consequences).toHaveLength(1);
  });

  test('is not attempted by the older release, which would undo it', async () => {
    await store(older, before, location());
    const theirs = new Reprojector({
      database: older,
      projections: [recordProjection(older, before as Table<any> as Table)],
      log: silentLog,
      metrics: createMetrics('older'),
    });
    await expect(theirs.run('', new AbortController().signal, () => undefined)).rejects.toMatchObject({
      status: 503,
      message: expect.stringMatching(/later release/),
    });
    expect((await rows())[0]![0]).toBe(0);
    expect((await reproject()).renewed).toBe(1);
  });

  test('ends a pass of the older release that is under way, whose rows would be found again without end', async () => {
    await store(older, before, location());
    const stop = new AbortController();
    let batches = 0;
    const work = {
      signal: stop.signal,
      renewed: () => void (++batches > 1 && stop.abort(new Error('the pass goes on'))),
      refused: () => undefined,
      rest: async () => undefined,
    };
    const pass = recordProjection(older, before as Table<any> as Table).renew(work);
    await expect(pass).rejects.toMatchObject({ status: 503, message: expect.stringMatching(/later release/) });
    expect(await rows()).toEqual([[0, '78701', null]]);
    expect((await reproject()).renewed).toBe(1);
  });

  test('runs by itself when a service starts, and reports its progress', async () => {
    await store(older, before, location());
    await reprojector.start();
    await until('the rows of the current version', rows, ([row]) => row![0] === 2);
    expect((await metrics.render()).body).toMatch(/projection_rows_renewed_total\{path="locations",component="test"\} \d+/);
  });
});
