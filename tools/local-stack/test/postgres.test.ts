import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../src/problem.ts';
import { createDatabase, provision } from '../src/roles.ts';
import { startPostgres } from '../src/servers/postgres.ts';
import { Scratch, kill, occupant, sql } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

const password = 'of the administrator';
const start = (folder: string) => startPostgres({ ...scratch.context(folder), password });

function prepared(): string {
  const folder = scratch.folder();
  execFileSync('cp', ['-a', join(template, 'postgres'), folder]);
  return folder;
}
const template = scratch.folder();
beforeAll(async () => (await start(template)).daemon.stop());

test('data survives a stop and a kill, at the same address', async () => {
  const folder = prepared();
  const first = await start(folder);
  await sql(first.url, 'create table kept as select 42 as answer');
  await first.daemon.stop();

  const second = await start(folder);
  expect(second.url).toBe(first.url);
  await sql(second.url, 'checkpoint');
  await kill(second);

  const third = await start(folder);
  expect(await sql(third.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

test('a lock file that names an unrelated process does not block the start', async () => {
  const folder = prepared();
  const first = await start(folder);
  const lock = join(folder, 'postgres/postmaster.pid');
  const lines = readFileSync(lock, 'utf8').split('\n');
  await kill(first);
  // As after a crash of the machine: the pid is in use again.
  writeFileSync(lock, [process.pid, ...lines.slice(1)].join('\n'));

  const second = await start(folder);
  expect(await sql(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a server that was left running on the folder is stopped and replaced', async () => {
  const folder = prepared();
  const first = await start(folder);
  const second = await start(folder);
  await first.daemon.exited;
  expect(await sql(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('another port is taken when the remembered one is in use', async () => {
  const folder = prepared();
  const first = await start(folder);
  await first.daemon.stop();
  const { server } = await occupant(first.port);
  const second = await start(folder);
  expect(second.port).not.toBe(first.port);
  server.close();
});

test.each([
  ['without PG_VERSION', (data: string) => rmSync(join(data, 'PG_VERSION'))],
  ['with an empty control file', (data: string) => truncateSync(join(data, 'global/pg_control'))],
  ['of another version', (data: string) => writeFileSync(join(data, 'PG_VERSION'), '15\n')],
])('a data folder %s is reported in one sentence that says what to do', async (_, damage) => {
  const folder = prepared();
  damage(join(folder, 'postgres'));
  const error = await start(folder).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Problem);
  expect((error as Problem).message).toMatch(/^[^\n]*\/postgres[^\n]*delete it to begin with an empty database[^\n]*\.$/);
});

test('an interrupted first start is begun again', async () => {
  const folder = scratch.folder();
  writeFileSync(join(folder, 'postgres.new'), 'half-made');
  const server = await start(folder);
  expect(await sql(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(existsSync(join(folder, 'postgres.new'))).toBe(false);
});

describe('roles', () => {
  let admin: string;
  beforeAll(async () => {
    admin = (await start(prepared())).url;
  });

  test('each has its own schema and cannot enter the others', async () => {
    const { databaseUrls: urls } = await provision({ adminUrl: admin, database: 'truckroll', secret: 'secret' });
    await sql(urls.billing, 'create table billing.invoice as select 1 as id');
    await expect(sql(urls.billing, 'select id from billing.invoice')).resolves.toEqual([{ id: 1 }]);
    for (const statement of ['select id from billing.invoice', 'create table billing.mine ()', 'create schema mine']) {
      await expect(sql(urls.scheduling, statement)).rejects.toMatchObject({ sqlState: '42501' });
    }
  });

  test('creating them again changes nothing', async () => {
    const options = { adminUrl: admin, database: 'truckroll', secret: 'secret' };
    expect(await provision(options)).toEqual(await provision(options));
  });

  test('a service on a separate server has its schema only there', async () => {
    const own = await createDatabase(admin, 'of_billing');
    const { databaseUrls, adminUrls } = await provision({ adminUrl: admin, database: 'shared', own: { billing: own }, secret: 'secret' });
    expect([new URL(databaseUrls.billing).pathname, new URL(databaseUrls.reporting).pathname]).toEqual(['/of_billing', '/shared']);
    const schemas = (url: string) => sql(url, `select nspname from pg_namespace where nspname in ('billing', 'reporting')`);
    expect([await schemas(adminUrls.billing), await schemas(adminUrls.reporting)]).toEqual([[{ nspname: 'billing' }], [{ nspname: 'reporting' }]]);
    await sql(databaseUrls.billing, 'create table billing.invoice as select 1 as id');
  });

  test('reports in one sentence a user that may not create them', async () => {
    await sql(admin, `create role guest login password 'guest'`);
    const url = new URL(admin);
    url.username = url.password = 'guest';
    const refused = provision({ adminUrl: url.href, secret: 'secret' });
    await expect(refused).rejects.toThrow(/^The user guest of DATABASE_URL may not create roles and schemas[^\n]*\.$/);
  });

  test('reports a wrong password in one sentence without the password', async () => {
    const url = new URL(admin);
    url.password = 'wrong';
    const refused = provision({ adminUrl: url.href, secret: 'secret' });
    await expect(refused).rejects.toThrow(/^PostgreSQL at [\d.:]+ refuses the connection[^\n]*correct DATABASE_URL\.$/);
  });
});
