// Transactions that change the same records at once neither overwrite each other nor deadlock.
import { randomUUID } from 'node:crypto';
import { CatchUp, catchUpMigrations } from '@truckroll/catch-up';
import { codec, resource, topics } from '@truckroll/contract';
import { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import { outboxTables } from '@truckroll/outbox';
import { Database, type Transaction } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { freshDatabase, mustWait, whileOpen, type TestDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import {
  DERIVED_TOGETHER,
  NameCache,
  Publication,
  Reprojector,
  defineTable,
  lockCompany,
  publishAnew,
  recordKinds,
  recordProjection,
  recordStoreMigrations,
  refreshRecords,
  upsertRecords,
  type Table,
} from '../src/index.ts';
import { mayProject } from '../src/projection.ts';
import type { TableDefinition } from '../src/table.ts';
import { locationTables, search } from './locations.ts';
import { watched } from './watched.ts';

const own = locationTables('create table sources (company_id uuid not null, id uuid not null, value text not null)');

const definition: TableDefinition<Location> = {
  resource: resource('locations'),
  table: 'locations',
  search,
  version: 2,
  columns: { address_postal_code: { type: 'text', of: ({ name, municipality }) => `${name}: ${municipality}` } },
  links: { account_id: { table: 'location_accounts', of: () => [] } },
  async derive(tx, companyId, batch) {
    const { rows } = await tx.query<{ id: string; municipality: string }>({
      text: `select u.id, coalesce(string_agg(value, ' ' order by value), '') as municipality
        from unnest($2::uuid[]) u(id) left join sources s on s.company_id = $1 and s.id = u.id group by u.id`,
      values: [companyId, batch.map(({ id }) => id)],
    });
    return new Map(rows.map(({ id, municipality }) => [id, { municipality }]));
  },
  publishes: { topic: topics.jobs, type: 'location.changed' },
};
const table = defineTable<Location>(definition);
const FIRST = { text: 'select pg_advisory_xact_lock(7)' };
const lockedFirst = defineTable<Location>({ ...definition, lockFirst: async (tx) => void (await tx.query(FIRST)) });
const untyped = (of: Table<Location>): Table => of as Table<any> as Table;

let fresh: TestDatabase;
let database: Database;
let company: string;
let low: Location;
let high: Location;
beforeAll(async () => {
  fresh = await freshDatabase({ shop: [catchUpMigrations, outboxTables, recordStoreMigrations, own] });
  database = new Database({ url: fresh.url, schema: 'shop' });
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});
beforeEach(async () => {
  await database.query({ text: 'truncate locations, catch_up, unpublished, projection_release' });
  company = randomUUID();
  const [lower, higher] = [randomUUID(), randomUUID()].sort() as [string, string];
  [low, high] = [location(lower), location(higher)];
  // Not in the order of their ids, which a scan would return.
  await store(high, low);
  await database.query({ text: 'delete from outbox' });
});

const location = (id: string): Location => ({ ...Location.decode(new Uint8Array()), id, name: 'stored' });
const upsert = (tx: Transaction, ...records: Location[]) => upsertRecords(tx, table, company, records);
const store = (...records: Location[]) => database.transaction((tx) => upsert(tx, ...records));
const refresh = (tx: Transaction, ...ids: string[]) => refreshRecords(tx, table, company, ids);

async function addSource(tx: Transaction, value: string): Promise<void> {
  await tx.query({ text: 'insert into sources values ($1, $2, $3)', values: [company, low.id, value] });
  await refresh(tx, low.id);
}

function publicationOf(of: Table<Location>): { catchUp: CatchUp; publication: Publication } {
  const catchUp = new CatchUp({ database, log: silentLog, metrics: createMetrics('test') });
  return { catchUp, publication: new Publication({ database, tables: [untyped(of)], catchUp }) };
}

async function publish(of = table): Promise<void> {
  const { catchUp } = publicationOf(of);
  await catchUp.start();
  await catchUp.stop();
}

const OUTDATED = { text: 'update locations set projection = 1' };
const outdated = () => database.query(OUTDATED);

async function reproject(of = table): Promise<void> {
  const work = { signal: new AbortController().signal, renewed: () => undefined, refused: () => undefined, rest: async () => undefined };
  await recordProjection(database, untyped(of)).renew(work);
}

const column = async (): Promise<string | undefined> =>
  (await database.query<{ shown: string }>({ text: 'select address_postal_code as shown from locations where id = $1', values: [low.id] })).rows[0]?.shown;

async function published(): Promise<string[]> {
  const { rows } = await database.query<{ payload: Buffer }>({
    text: 'select payload from outbox where key = $1 order by id',
    values: [`${company}/${low.id}`],
  });
  return rows.map(({ payload }) => (codec(table.resource.record.typeName).decode(payload) as Location).name);
}

const holding = (id: string) => ({ text: 'select from locations where id = $1 for no key update', values: [id] });

describe('what a record is derived from', () => {
  test('is complete when two transactions change it at the same moment', async () => {
    await whileOpen(
      database,
      (tx) => addSource(tx, 'a'),
      () => database.transaction((tx) => addSource(tx, 'b')),
    );
    expect(await column()).toBe('stored: a b');
  });

  test('is complete when one transaction changes it while another stores the record', async () => {
    await whileOpen(
      database,
      (tx) => addSource(tx, 'a'),
      () => store({ ...low, name: 'changed' }),
    );
    expect(await column()).toBe('changed: a');
  });

  test('is complete when a record is reprojected while another transaction stores it', async () => {
    await outdated();
    await whileOpen(
      database,
      async (tx) => {
        await upsert(tx, { ...low, name: 'changed' });
        // As the previous release leaves it.
        await tx.query(OUTDATED);
      },
      () => reproject(),
    );
    expect(await column()).toBe('changed: ');
  });
});

describe('locks', () => {
  const holdsNone = (id: string) => async (tx: Transaction) => expect(await mustWait(database, tx.query(holding(id)), 2)).toBe(false);

  test.each([
    ['refreshing', (ids: string[]) => database.transaction((tx) => refresh(tx, ...ids))],
    ['storing', (ids: string[]) => store(...ids.map((id) => ({ ...location(id), name: 'changed' })))],
  ] as const)('of records are taken by %s in the order of their ids, whatever order they are given in', async (_, work) => {
    await whileOpen(
      database,
      (tx) => tx.query(holding(low.id)),
      () => work([high.id, low.id]),
      holdsNone(high.id),
    );
  });

  test('of records are taken by reprojecting in the order of their ids', async () => {
    await outdated();
    await whileOpen(
      database,
      (tx) => tx.query(holding(low.id)),
      () => reproject(),
      holdsNone(high.id),
    );
  });

  test('of more records than one refresh handles are taken in the order of their ids', async () => {
    const ids = Array.from({ length: DERIVED_TOGETHER + 1 }, () => randomUUID()).sort();
    await store(...ids.map(location));
    await whileOpen(
      database,
      (tx) => tx.query(holding(ids[0]!)),
      () => database.transaction((tx) => refresh(tx, ...ids.toReversed())),
      holdsNone(ids.at(-1)!),
    );
  });

  test.each([
    ['publishing', () => publish()],
    ['reprojecting', () => outdated().then(() => reproject())],
  ] as const)('of a company are taken by %s before those of its records', async (_, work) => {
    await whileOpen(database, (tx) => lockCompany(tx, company), work, holdsNone(low.id));
  });

  test.each([
    ['storing', () => database.transaction((tx) => upsertRecords(tx, lockedFirst, company, [{ ...low, name: 'changed' }]))],
    ['publishing', () => publish(lockedFirst)],
    ['reprojecting', () => outdated().then(() => reproject(lockedFirst))],
  ] as const)('of lockFirst are taken by %s before those of records', async (_, work) => {
    await whileOpen(database, (tx) => tx.query(FIRST), work, holdsNone(low.id));
  });
});

describe('publishing stored records', () => {
  test.each([
    ['', table],
    [' after the locks of lockFirst', lockedFirst],
  ] as const)('appends a record%s only after the events of a change that is not committed', async (_, of) => {
    await whileOpen(
      database,
      (tx) => upsert(tx, { ...low, name: 'changed' }),
      () => publish(of),
    );
    expect(await published()).toEqual(['changed', 'changed']);
  });

  test('is incomplete after a restore until every record has been published again', async () => {
    const { catchUp, publication } = publicationOf(table);
    await catchUp.start();
    await until('all to be published', () => publication.complete(database));
    await catchUp.stop();
    await database.transaction((tx) => publishAnew(tx));
    expect(await publication.complete(database)).toBe(false);
  });

  test('leaves changes of an earlier release to the replica that is working on them, without waiting for it', async () => {
    await database.query({ text: `insert into catch_up (task, subject, done, complete) values ('publish', 'locations', true, true)` });
    await database.query({ text: `insert into unpublished values ('locations', $1, $2)`, values: [company, low.id] });
    await database.transaction(async (tx) => {
      await tx.query({ text: 'select from unpublished for update' });
      expect(await mustWait(database, publish())).toBe(false);
    });
    expect(await published()).toEqual([]);
    await publish();
    expect(await published()).toEqual(['stored']);
  });
});

describe('the reprojector', () => {
  test('of one replica works at a time', async () => {
    await database.query({ text: `insert into projection_release values (${table.version}, now())` });
    await outdated();
    const begun: string[] = [];
    const looked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const working = Promise.withResolvers<void>();
    const start = (name: string, through: Database): Reprojector => {
      const renew = async (): Promise<void> => {
        begun.push(name);
        if (begun.length > 1) looked.resolve();
        working.resolve();
        await released.promise;
      };
      const metrics = createMetrics(name);
      const projections = [{ path: 'locations', table: 'locations', version: table.version, renew }];
      const reprojector = new Reprojector({ database: through, projections, log: silentLog, metrics });
      void reprojector.start();
      return reprojector;
    };
    const first = start('first', database);
    await working.promise;
    const second = start('second', watched(database, { closed: () => looked.resolve() }));
    await looked.promise;
    expect(begun).toEqual(['first']);
    released.resolve();
    await Promise.all([first.stop(), second.stop()]);
  });

  test('waits for transactions from before its release was announced', async () => {
    const announce = () => database.query({ text: `insert into projection_release values (${table.version}, clock_timestamp())` });
    await database.transaction(async (tx) => {
      await tx.query(OUTDATED);
      await announce();
      expect(await mayProject(database, [table])).toBe('soon');
    });
    expect(await mayProject(database, [table])).toBe('yes');
  });
});

test('records of the change feed are read through the connections of their company, which refuse more than may wait', async () => {
  const narrow = new Database({ url: fresh.url, schema: 'shop', maxConnections: 1, maxWaiting: 0 });
  const [kind] = recordKinds([untyped(table)], { database: narrow, names: new NameCache(narrow, 'shop', silentLog) });
  const read = () => kind!.read({ companyId: company, timeZone: 'UTC' }, [low.id], 1_000_000);
  expect(await read()).toHaveLength(1);
  await narrow.of(company).transaction(() => expect(read()).rejects.toMatchObject({ status: 429 }));
  await narrow.close();
});
