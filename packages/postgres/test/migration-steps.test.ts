import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { createSession, migrate, type MigrationSet, type DatabaseSession } from '../src/index.ts';
import { stepsOf } from '../src/migration-steps.ts';

let server: TestDatabase;
let writer: DatabaseSession;
let other: DatabaseSession;
const SCHEMA = 'trial';
const TABLE = { name: '0001_a', sql: 'create table a (id int generated always as identity, b int, c int)' };
const INDEXED = { name: '0002_b_indexed', sql: '-- in steps\n-- For b.\ncreate index concurrently a_b on a (b);\n' };
const sets = (...migrations: MigrationSet['migrations']): MigrationSet[] => [{ name: 'trial', migrations }];
const run = (...migrations: MigrationSet['migrations']) => migrate({ url: server.url, schema: SCHEMA, sets: sets(...migrations) });

beforeEach(async () => {
  server = await freshDatabase({ [SCHEMA]: sets(TABLE) });
  writer = await createSession({ url: server.url, schema: SCHEMA });
  other = await createSession({ url: server.url, schema: SCHEMA });
});
afterEach(async () => {
  await Promise.all([writer.close(), other.close()]);
  await server.drop();
});

const valid = async (): Promise<boolean | undefined> =>
  (await other.query<{ indisvalid: boolean }>({ text: `select indisvalid from pg_index where indexrelid = to_regclass('a_b')` })).rows[0]?.indisvalid;

/** Resolves to the process of the index build once it waits for the transaction of `writer`. */
async function building(): Promise<number> {
  const waiting = `select p.pid from pg_stat_progress_create_index p join pg_stat_activity a using (pid) where phase like 'waiting%' and wait_event_type = 'Lock'`;
  const pid = await until('the build to wait', async () => {
    const { rows } = await other.query<{ pid: number }>({ text: waiting });
    return (await valid()) === false ? rows[0]?.pid : undefined;
  });
  return pid as number;
}

async function holdOpen(): Promise<void> {
  await writer.query({ text: 'begin' });
  await writer.query({ text: 'insert into a (b) values (1)' });
}

test('builds an index while others write, and while other replicas wait for the migration', async () => {
  await holdOpen();
  const replicas = [run(TABLE, INDEXED), run(TABLE, INDEXED)];
  await building();
  await other.query({ text: 'insert into a (b) values (2)' });
  await writer.query({ text: 'commit' });
  expect((await Promise.all(replicas)).flat()).toEqual(['0002_b_indexed']);
  expect(await valid()).toBe(true);
});

test('builds an index again if its build was interrupted', async () => {
  await holdOpen();
  const interrupted = run(TABLE, INDEXED).catch((error: unknown) => error);
  await other.query({ text: 'select pg_terminate_backend($1)', values: [await building()] });
  expect(await interrupted).toBeInstanceOf(Error);
  await writer.query({ text: 'commit' });
  expect(await valid()).toBe(false);
  expect(await run(TABLE, INDEXED)).toEqual(['0002_b_indexed']);
  expect(await valid()).toBe(true);
});

test('builds an index again that takes writes but is not valid', async () => {
  await other.query({ text: 'create index a_b on a (b)' });
  await other.query({ text: `update pg_index set indisvalid = false where indexrelid = 'a_b'::regclass` });
  expect(await run(TABLE, INDEXED)).toEqual(['0002_b_indexed']);
  expect(await valid()).toBe(true);
});

test('changes rows in batches, each committed separately, and resumes after an interruption', async () => {
  await other.query({ text: 'insert into a (b) select i from generate_series(1, 25) i' });
  // The last batch fails until the row with a divisor of 0 is corrected.
  await other.query({ text: 'update a set b = 0 where b = 25' });
  const sql = '-- in steps\nupdate a set c = 100 / b where id in (select id from a where c is null order by id limit 10);\n';
  const filled = { name: '0002_c', sql };
  const done = async () => (await other.query<{ done: number }>({ text: 'select count(c) as done from a' })).rows[0]?.done;
  await expect(run(TABLE, filled)).rejects.toThrow('22012');
  expect(await done()).toBe(20);
  await other.query({ text: 'update a set b = 25 where b = 0' });
  expect(await run(TABLE, filled)).toEqual(['0002_c']);
  expect(await done()).toBe(25);
});

test('resumes with the interrupted step, and keeps the indexes of earlier steps', async () => {
  await other.query({ text: 'insert into a (b) values (0)' });
  const migration = { name: '0002_b_and_c', sql: `${INDEXED.sql}update a set c = 100 / b where id in (select id from a where c is null limit 10);\n` };
  const built = async () => (await other.query({ text: `select to_regclass('a_b')::oid as index` })).rows;
  await expect(run(TABLE, migration)).rejects.toThrow('22012');
  const before = await built();
  expect(await valid()).toBe(true);
  await other.query({ text: 'update a set b = 25' });
  expect(await run(TABLE, migration)).toEqual(['0002_b_and_c']);
  expect(await built()).toEqual(before);
});

test('splits a migration in steps at semicolons that end a line', () => {
  expect(stepsOf("-- in steps\n-- One; two.\nselect ';' as x;\r\n\nselect\n  2;")).toEqual([`select ';' as x`, 'select\n  2']);
});
