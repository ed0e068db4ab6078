// The runs of release 1.3.0, which has a table for each of its two loops: they are adopted, and its replicas go on by views.
import { CatchUp, catchUpMigrations, type Task } from '@truckroll/catch-up';
import { changeMigrations } from '@truckroll/change-feed';
import { outboxTables } from '@truckroll/outbox';
import { Database, migrate, type MigrationSet } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { recordStoreMigrations } from '../src/index.ts';

const COMPANY = '00000000-0000-4000-8000-000000000001';
const ID = '00000000-0000-4000-8000-000000000002';
const until = ({ name, migrations }: MigrationSet, last: string): MigrationSet => ({
  name,
  migrations: migrations.filter((migration) => migration.name <= last),
});
const OLD = [until(recordStoreMigrations, '0003_publications'), outboxTables, until(changeMigrations, '0001_record_changes')];
const NEW = [catchUpMigrations, recordStoreMigrations, outboxTables, changeMigrations];

let fresh: TestDatabase;
let database: Database;
beforeEach(async () => {
  fresh = await freshDatabase({});
  database = new Database({ url: fresh.url, schema: 'shop', maxConnections: 4 });
});
afterEach(async () => {
  await database.close();
  await fresh.drop();
});

const sql = async (text: string, ...values: unknown[]) => (await database.query<Record<string, unknown>>({ text, values })).rows;
const upgrade = (sets = NEW) => migrate({ url: fresh.url, schema: 'shop', sets });
const runs = () => sql('select task, subject, company_id, after, processed, done, complete from catch_up order by task, subject');

test('the state of both loops is adopted, and release 1.3.0 sees it unchanged', async () => {
  await upgrade(OLD);
  await sql(`insert into publications (path, company_id, after, published, done, complete)
    values ('jobs', '${COMPANY}', '${ID}', 7, false, true), ('visits', null, null, 0, false, false)`);
  await sql(`insert into change_backfills (kind, company_id, id, done) values ('cats', '${COMPANY}', '${ID}', false), ('dogs', '${COMPANY}', '${ID}', true)`);
  const old = () =>
    Promise.all([
      sql('select path, company_id, after, published, done, complete from publications order by path'),
      sql('select kind, company_id, id, done from change_backfills order by kind'),
    ]);
  const before = await old();
  await upgrade();
  expect(await old()).toEqual(before);
  const at = { company_id: COMPANY, after: ID };
  expect(await runs()).toEqual([
    { task: 'feed', subject: 'cats', ...at, processed: 0, done: false, complete: false },
    { task: 'feed', subject: 'dogs', ...at, processed: 0, done: true, complete: true },
    { task: 'publish', subject: 'jobs', ...at, processed: 7, done: false, complete: true },
    { task: 'publish', subject: 'visits', company_id: null, after: null, processed: 0, done: false, complete: false },
  ]);
});

/** Does the next batch of a run, and returns the cursor that it began after; undefined if it did none. */
async function batchAfter(name: string, subject: string): Promise<unknown> {
  let began: unknown;
  const task: Task = { name, subjects: [subject], next: async (_tx, _subject, after) => ((began = after), { count: 1, reached: undefined }) };
  const catchUp = new CatchUp({ database, log: silentLog, metrics: createMetrics('test') });
  catchUp.add(task);
  await catchUp.start();
  await catchUp.stop();
  return began;
}
const gateOf = (name: string, subject: string) => {
  const catchUp = new CatchUp({ database, log: silentLog, metrics: createMetrics('test') });
  return catchUp.add({ name, subjects: [subject] }).check(COMPANY, [subject]);
};
const AT = [COMPANY, ID];
const BEGINNING = '00000000-0000-0000-0000-000000000000';

// The statements of 1.3.0, from publication.ts, backfill.ts, and restored.ts.
const NOTE = 'insert into publications (path) select unnest($1::text[]) on conflict do nothing';
const TAKE = 'select company_id, after from publications where path = $1 and not done for update skip locked';
const PROCEED = 'update publications set company_id = $2, after = $3, published = published + $4 where path = $1';
const END = 'update publications set done = true, complete = true where path = $1';
const AGAIN = 'update publications set company_id = null, after = null, published = 0, done = false where done and path = any($1::text[])';
const ANEW = 'update publications set company_id = null, after = null, published = 0, done = false, complete = false';
const TAKE_KIND = 'select kind, company_id, id from change_backfills where kind = $1 and not done for update skip locked';
const PROCEED_KIND = 'update change_backfills set company_id = $2, id = $3, done = $4 where kind = $1';
const BEHIND = 'select kind from change_backfills where kind = any($2::text[]) and not done and company_id <= $1';

describe('with a replica of 1.3.0', () => {
  beforeEach(() => upgrade());

  test('a run continues after the batches of the other release', async () => {
    await sql(NOTE, [['jobs', 'visits']].flat());
    await sql(NOTE, ['jobs']);
    await sql(PROCEED, 'jobs', ...AT, 5);
    expect(await batchAfter('publish', 'jobs')).toEqual({ companyId: COMPANY, id: ID });
    expect(await sql('select published, done, complete from publications where path = $1', 'jobs')).toEqual([{ published: 6, done: true, complete: true }]);
    await sql(`insert into change_backfills (kind) values ('cats')`);
    await sql(PROCEED_KIND, 'cats', ...AT, false);
    expect(await batchAfter('feed', 'cats')).toEqual({ companyId: COMPANY, id: ID });
    expect(await sql(BEHIND, COMPANY, ['cats'])).toEqual([]);
  });

  test('neither release waits for a batch of the other, or does it twice', async () => {
    await sql(NOTE, ['jobs']);
    await sql(`insert into change_backfills (kind) values ('cats')`);
    await database.transaction(async (tx) => {
      await tx.query({ text: TAKE, values: ['jobs'] });
      await tx.query({ text: TAKE_KIND, values: ['cats'] });
      expect([await batchAfter('publish', 'jobs'), await batchAfter('feed', 'cats')]).toEqual([undefined, undefined]);
    });
    await database.transaction(async (tx) => {
      await tx.query({ text: 'select from catch_up for update' });
      expect([await sql(TAKE, 'jobs'), await sql(TAKE_KIND, 'cats')]).toEqual([[], []]);
    });
  });

  test('a gate opens whichever release ends the run', async () => {
    await sql(`insert into change_backfills (kind) values ('cats')`);
    await expect(gateOf('feed', 'cats')).rejects.toMatchObject({ status: 503 });
    await sql(PROCEED_KIND, 'cats', ...AT, true);
    await gateOf('feed', 'cats');
    await sql(NOTE, ['jobs']);
    await sql(END, 'jobs');
    await gateOf('publish', 'jobs');
  });

  test.each([
    ['begins a run again', AGAIN, true],
    ['closes the gate after a restore', ANEW, false],
  ])('the command of 1.3.0 %s', async (_, text, open) => {
    await sql(NOTE, ['jobs']);
    await sql(END, 'jobs');
    await sql(text, ...(text === AGAIN ? [['jobs']] : []));
    expect((await runs())[0]).toMatchObject({ done: false, complete: open, processed: 0 });
    expect(await batchAfter('publish', 'jobs')).toEqual({ companyId: BEGINNING, id: BEGINNING });
  });
});
