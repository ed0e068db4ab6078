// Passes that publish stored records: progress, completeness, a backlogged outbox, and records that an earlier release has changed.
import { randomUUID } from 'node:crypto';
import { CatchUp, catchUpMigrations } from '@truckroll/catch-up';
import { resource, topics } from '@truckroll/contract';
import type { PublishResponse } from '@truckroll/contract/gen/records/v1/records';
import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import type { CallContext } from '@truckroll/grpc';
import { outboxTables } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { createLog, createMetrics, silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { Publication, defineTable, publishRecords, recordStoreMigrations, type Table } from '../src/index.ts';
import { locationTables, search } from './locations.ts';
import { watched } from './watched.ts';

const own = locationTables('create table offices (like locations including all)');
const COMPANY = randomUUID();

function published(table: string): Table {
  const definition = defineTable<Location>({
    resource: resource('locations'),
    table,
    search,
    columns: { address_postal_code: 'address.postal_code' },
    links: { account_id: { table: 'location_accounts', of: () => [] } },
    publishes: { topic: topics.jobs, type: 'location.changed' },
  });
  return { ...definition, path: table } as Table<any> as Table;
}
const tables = [published('locations'), published('offices')];

let database: Database;
let close: () => Promise<void>;
let catchUp: CatchUp | undefined;
beforeAll(
  async () =>
    void ({ database, close } = await openFreshDatabase({ schema: 'shop', migrations: [catchUpMigrations, outboxTables, recordStoreMigrations, own] })),
);
afterAll(() => close());
beforeEach(() => database.query({ text: 'truncate locations, offices, catch_up, unpublished, outbox' }));
afterEach(() => catchUp?.stop());

const store = (table: string, count: number) =>
  database.query({
    text: `insert into ${table} (company_id, id, created_at, updated_at, document)
      select $1, lpad(n::text, 32, '0')::uuid, now(), now(), '' from generate_series(1, $2::int) n`,
    values: [COMPANY, count],
  });
const idOf = (n: number): string => `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`;
const events = async (): Promise<number> => (await database.query({ text: 'select from outbox where company_id = $1', values: [COMPANY] })).rowCount;
const noted = (path: string, id: string) => database.query({ text: 'insert into unpublished values ($1, $2, $3)', values: [path, COMPANY, id] });
const allDone = () =>
  database.query({
    text: `insert into catch_up (task, subject, done, complete) select 'publish', unnest($1::text[]), true, true`,
    values: [['locations', 'offices']],
  });

function create(options: { through?: Database; poke?: () => void; log?: typeof silentLog } = {}): Publication & Pick<CatchUp, 'start'> {
  const { through = database, poke = () => undefined, log = silentLog } = options;
  const own = (catchUp = new CatchUp({ database: through, log, metrics: createMetrics('test') }));
  const publication = new Publication({ database: through, tables, catchUp: own });
  publication.wakes({ poke });
  return Object.assign(publication, { start: () => own.start() });
}

async function pass(of: Publication, signal = new AbortController().signal): Promise<PublishResponse[]> {
  const steps: PublishResponse[] = [];
  for await (const step of of.handlers().publish({}, { signal } as CallContext) as AsyncIterable<PublishResponse>) steps.push(step);
  return steps;
}

describe('a requested pass', () => {
  test('publishes every record again, reports what was published of how many, and ends when all paths are done', async () => {
    await store('locations', 2001);
    await store('offices', 3);
    await allDone();
    const own = create();
    await own.start();
    const steps = await pass(own);
    expect(await events()).toBe(2004);
    for (const [path, total] of [
      ['locations', 2001],
      ['offices', 3],
    ] as const) {
      const of = steps.filter((step) => step.path === path);
      expect(of.at(-1)).toEqual({ path, published: total, total, done: true });
      expect(of.slice(0, -1).filter(({ done }) => done)).toEqual([]);
      expect(of.map(({ total: whole }) => whole)).toEqual(of.map(() => total));
    }
  });

  test('publishes large records in batches of 8 MB, those of an earlier release too', async () => {
    await store('locations', 5);
    await database.query({ text: `update locations set document = convert_to(repeat('x', 3000000), 'UTF8')` });
    // The number of events that each statement appended.
    const appended = async () =>
      (await database.query<{ n: number }>({ text: 'select count(*)::int as n from outbox group by xmin, cmin order by min(id)' })).rows;
    const batches = [{ n: 2 }, { n: 2 }, { n: 1 }];
    const own = create();
    await own.start();
    await until('all to be published', () => own.complete(database));
    expect(await appended()).toEqual(batches);
    await database.query({ text: 'truncate outbox' });
    for (let n = 1; n <= 5; n += 1) await noted('locations', idOf(n));
    await until('all to be published', () => own.complete(database));
    expect(await appended()).toEqual(batches);
  });

  test('ends when its caller has gone', async () => {
    await allDone();
    const gone = new AbortController();
    gone.abort(new Error('the caller has gone'));
    await expect(pass(create(), gone.signal)).rejects.toThrow('the caller has gone');
  });
});

describe('completeness', () => {
  test('is lacking while a change of an earlier release is not published, which then is published at once', async () => {
    await store('locations', 1);
    await allDone();
    const own = create();
    await own.start();
    expect(await own.complete(database)).toBe(true);
    await noted('locations', idOf(1));
    expect(await own.complete(database)).toBe(false);
    await until('events', events);
    await until('all to be published', () => own.complete(database));
    // Without being woken, the publication looks again only after 5 s.
  }, 4000);

  test('is not lacking for changes of a frozen company, which are published when it is not frozen any more', async () => {
    await store('locations', 1);
    await allDone();
    await database.query({ text: 'insert into frozen_companies (company_id) values ($1)', values: [COMPANY] });
    await noted('locations', idOf(1));
    const own = create();
    expect(await own.complete(database)).toBe(true);
    await database.query({ text: 'truncate frozen_companies' });
    expect(await own.complete(database)).toBe(false);
    await own.start();
    await until('all to be published', () => own.complete(database));
    expect(await events()).toBe(1);
  });

  test('is lacking while one of the paths was never published, whatever other paths are complete', async () => {
    await database.query({
      text: `insert into catch_up (task, subject, done, complete) values ('publish', 'locations', true, true), ('publish', 'former', true, true)`,
    });
    expect(await create().complete(database)).toBe(false);
  });
});

describe('changes of an earlier release', () => {
  test('are published in the background although every path is complete', async () => {
    await store('locations', 1);
    await allDone();
    await noted('locations', idOf(1));
    await create().start();
    expect(await events()).toBe(1);
    expect((await database.query({ text: 'select from unpublished' })).rowCount).toBe(0);
  });

  test('are published with all records of a company that came from another database, and with none of another company', async () => {
    await store('locations', 10_001);
    await store('offices', 2);
    await database.query({
      text: `insert into offices (company_id, id, created_at, updated_at, document) select $1, gen_random_uuid(), created_at, updated_at, document from offices`,
      values: [randomUUID()],
    });
    await noted('offices', idOf(2));
    await allDone();
    await publishRecords(database, 'shop', tables, COMPANY);
    expect((await database.query({ text: 'select from unpublished' })).rowCount).toBe(10_003);
    await database.query({ text: `delete from unpublished where path = 'locations' and id < $1`, values: [idOf(10_001)] });
    await create().start();
    expect((await database.query({ text: 'select from outbox' })).rowCount).toBe(3);
  });

  test('to records of two kinds with the same id are both published', async () => {
    for (const path of ['locations', 'offices']) {
      await store(path, 1);
      await noted(path, idOf(1));
    }
    await allDone();
    await create().start();
    expect(await events()).toBe(2);
  });

  test('are published before the rest of a pass', async () => {
    await store('locations', 1001);
    await noted('locations', idOf(1001));
    await create().start();
    const { rows } = await database.query<{ key: string }>({ text: 'select key from outbox order by id limit 1' });
    expect(rows).toEqual([{ key: `${COMPANY}/${idOf(1001)}` }]);
  });
});

describe('in the background', () => {
  test('waits while the outbox has 5,000 rows for the relay, and continues once they are published', async () => {
    await store('locations', 3000);
    await database.query({
      text: `insert into outbox (event_id, topic, key, type, company_id, payload)
        select gen_random_uuid(), 'other', n::text, 'other', gen_random_uuid(), '' from generate_series(1, 3000) n`,
    });
    let looks = 0;
    let pokes = 0;
    const waiting = Promise.withResolvers<void>();
    const through = watched(database, { before: ({ name }) => name === 'outbox_waiting' && ++looks === 3 && waiting.resolve() });
    await create({ through, poke: () => void (pokes += 1) }).start();
    await waiting.promise;
    expect([await events(), pokes]).toEqual([2000, 1]);
    await database.query({ text: 'delete from outbox' });
    await until('the rest', events, (count) => count >= 1000);
  }, 20_000);

  test('starts although the database fails, says so, and tries again', async () => {
    await store('locations', 1);
    const logged: string[] = [];
    let fails = true;
    const through = watched(database, {
      before() {
        if (fails) throw new Error('no database');
      },
    });
    await create({ through, log: createLog('test', 'info', { write: (line) => void logged.push(line) }) }).start();
    fails = false;
    expect(logged.map((line) => JSON.parse(line) as object)).toMatchObject([{ level: 'warn', error: { message: 'no database' } }]);
    await until('events', events);
  });
});
