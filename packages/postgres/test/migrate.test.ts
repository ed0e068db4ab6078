import { pathToFileURL } from 'node:url';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { asOwner, createSession, migrate, migrationsIn, type MigrationSet } from '../src/index.ts';

let server: TestDatabase;
let number = 0;
const migrations = (names: Readonly<Record<string, string>>): MigrationSet[] => [
  { name: 'trial', migrations: Object.entries(names).map(([name, sql]) => ({ name, sql })) },
];
const A = { '0001_a': 'create table a (id int); insert into a values (1)' };
const B = { '0002_b': 'create table b (id int)' };

beforeAll(async () => {
  server = await freshDatabase({});
});
afterAll(() => server.drop());

function inNewSchema() {
  const schema = `trial${(number += 1)}`;
  return (sets: readonly MigrationSet[]) => migrate({ url: server.url, schema, sets });
}

test('replicas that start at once apply each migration once', async () => {
  const run = inNewSchema();
  const applied = await Promise.all([1, 2, 3, 4].map(() => run(migrations({ ...A, ...B }))));
  expect(applied.flat()).toEqual(['0001_a', '0002_b']);
});

test('a later version applies only what is new', async () => {
  const run = inNewSchema();
  await run(migrations(A));
  expect(await run(migrations({ ...A, ...B }))).toEqual(['0002_b']);
});

test('older code runs on a newer database', async () => {
  const run = inNewSchema();
  await run(migrations({ ...A, ...B }));
  expect(await run(migrations(A))).toEqual([]);
});

test('an applied migration that was edited is refused', async () => {
  const run = inNewSchema();
  await run(migrations(A));
  await expect(run(migrations({ '0001_a': 'create table other (id int)' }))).rejects.toThrow(/0001_a of trial was edited after schema trial\d+ had applied it/);
});

test('different line endings do not count as an edit', async () => {
  const run = inNewSchema();
  await run(migrations({ '0001_a': 'create table a (\n id int)' }));
  expect(await run(migrations({ '0001_a': 'create table a (\r\n id int)' }))).toEqual([]);
});

test('a new migration with an old number is refused', async () => {
  const run = inNewSchema();
  await run(migrations(B));
  await expect(run(migrations({ ...A, ...B }))).rejects.toThrow('0001_a of trial is older than 0002_b');
});

test('an applied migration that is missing below newer ones is refused', async () => {
  const run = inNewSchema();
  await run(migrations(A));
  await expect(run(migrations(B))).rejects.toThrow('has applied migration 0001_a of trial, which this code lacks');
});

test('a migration that fails changes nothing and is tried again', async () => {
  const run = inNewSchema();
  await expect(run(migrations({ ...A, '0002_b': 'create table b (id int); select 1 / 0' }))).rejects.toThrow('22012');
  expect(await run(migrations({ ...A, ...B }))).toEqual(['0002_b']);
});

test('a migration yields to sessions that use its tables, and is applied when they have finished', async () => {
  const run = inNewSchema();
  await run(migrations({ '0001_a': 'create table a (id int); create table b (id int)' }));
  const schema = `trial${number}`;
  // Nothing but the migration's own lock timeout ends a deadlock.
  await setDatabase(`set deadlock_timeout = '1h'`);
  const [busy, other] = [await createSession({ url: server.url, schema }), await createSession({ url: server.url, schema })];
  await busy.query({ text: 'begin' });
  await busy.query({ text: 'select from b' });
  let applied = false;
  const running = run(
    migrations({ '0001_a': 'create table a (id int); create table b (id int)', '0002_c': 'alter table a add column c int; alter table b add column c int' }),
  ).finally(() => (applied = true));
  // The migration has locked a and waits for b; a session that locked b and read a would deadlock with it.
  await until(
    'the migration to wait for a lock',
    async () =>
      (await other.query({ text: `select from pg_stat_activity where application_name = 'truckroll-migrate-${schema}' and wait_event_type = 'Lock'` }))
        .rowCount > 0,
  );
  await busy.query({ text: 'select from a' });
  await other.query({ text: 'select from b' });
  expect(applied).toBe(false);
  await busy.query({ text: 'commit' });
  expect(await running).toEqual(['0002_c']);
  await other.query({ text: 'select c from b' });
  await Promise.all([busy.close(), other.close()]);
  await setDatabase('reset deadlock_timeout');
});

test('a role without privileges on the database migrates a schema that was created for it', async () => {
  const admin = await createSession({ url: server.url });
  const role = `limited_${Date.now()}`;
  await admin.query({ text: `create role ${role} login password 'x'; create schema own authorization ${role}` });
  const url = new URL(server.url);
  url.username = role;
  url.password = 'x';
  expect(await migrate({ url: url.href, schema: 'own', sets: migrations(A) })).toEqual(['0001_a']);
  await admin.query({ text: `drop schema own cascade; drop role ${role}` });
  await admin.close();
});

test('a role that is only a member of the owner of a schema works in it as the owner, whose objects stay its own', async () => {
  const admin = await createSession({ url: server.url });
  const [owner, member] = [`owner_${Date.now()}`, `member_${Date.now()}`];
  await admin.query({ text: `create role ${owner}; create role ${member} login password 'x' in role ${owner}; create schema owned authorization ${owner}` });
  const url = new URL(server.url);
  url.username = member;
  url.password = 'x';
  await migrate({ url: url.href, schema: 'owned', sets: migrations(A) });
  const { rows } = await asOwner({ url: url.href, schema: 'owned' }, async (session) => {
    await session.query({ text: 'create table later ()' });
    return await session.query({ text: 'select current_user as now, session_user as first' });
  });
  expect(rows).toEqual([{ now: owner, first: member }]);
  const owned = await admin.query({ text: `select tablename as name, tableowner as owner from pg_tables where schemaname = 'owned' order by 1` });
  expect(owned.rows).toEqual(['a', 'later', 'migration'].map((name) => ({ name, owner })));
  // Sessions end also when their work fails.
  await expect(asOwner({ url: url.href, schema: 'owned' }, async (session) => session.query({ text: 'select 1 / 0' }))).rejects.toThrow('22012');
  await until(
    'the end of the sessions',
    async () => (await admin.query({ text: `select from pg_stat_activity where usename = $1`, values: [member] })).rowCount === 0,
  );
  await admin.query({ text: `drop schema owned cascade; drop role ${member}; drop role ${owner}` });
  await admin.close();
});

test('a directory with a misnamed file or a number used twice is refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  const read = () => migrationsIn('trial', pathToFileURL(`${folder}/`));
  writeFileSync(join(folder, '0001_a.sql'), 'select 1');
  expect(read().migrations).toEqual([{ name: '0001_a', sql: 'select 1' }]);
  writeFileSync(join(folder, '0001_b.sql'), 'select 1');
  expect(read).toThrow('two migrations of trial have the number 0001');
  writeFileSync(join(folder, 'note.txt'), '');
  expect(read).toThrow('note.txt is not a migration');
  rmSync(folder, { recursive: true });
});

async function setDatabase(change: string): Promise<void> {
  const admin = await createSession({ url: server.url });
  await admin.query({ text: `do $$ begin execute format('alter database %I ', current_database()) || $change$${change}$change$; end $$` });
  await admin.close();
}
