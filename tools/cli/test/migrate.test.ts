import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { owners } from '@truckroll/contract';
import { createSession, type DatabaseSession } from '@truckroll/postgres';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { truckroll } from './system.ts';

const SCHEMAS = owners.toSorted();
const suffix = randomBytes(4).toString('hex');
const migrator = `migrator_${suffix}`;
const owner = (schema: string): string => `${schema}_${suffix}`;
let database: TestDatabase;
let admin: DatabaseSession;
let env: Record<string, string>;

const migrate = (...args: string[]) => truckroll(['--json', 'migrate', ...args], env, tmpdir());

beforeAll(async () => {
  database = await freshDatabase({});
  admin = await createSession({ url: database.url });
  await admin.query({ text: `create role ${migrator} login password 'x'` });
  for (const schema of SCHEMAS) {
    const text = `create role ${owner(schema)} nologin; grant ${owner(schema)} to ${migrator}; create schema ${schema} authorization ${owner(schema)}`;
    await admin.query({ text });
  }
  env = { DATABASE_URL: Object.assign(new URL(database.url), { username: migrator, password: 'x' }).href };
});
afterAll(async () => {
  await admin.query({ text: SCHEMAS.map((schema) => `drop schema ${schema} cascade; drop role ${owner(schema)};`).join(' ') + `drop role ${migrator}` });
  await admin.close();
  await database.drop();
});

test('migrates all schemas as a role that is only a member of their owners, who then own the result', async () => {
  const lacking = await migrate('--check');
  expect(lacking.code).toBe(1);
  const { missing } = JSON.parse(lacking.stdout) as { missing: Record<string, string[]> };
  expect(Object.keys(missing).toSorted()).toEqual(SCHEMAS);
  expect(missing['billing']).toContain('billing/0001_billing');

  expect((await migrate()).code).toBe(0);

  const { rows } = await admin.query<{ schema: string; owners: string[] }>({
    text: 'select schemaname as schema, array_agg(distinct tableowner::text) as owners from pg_tables where schemaname = any($1) group by 1 order by 1',
    values: [SCHEMAS],
  });
  expect(rows).toEqual(SCHEMAS.map((schema) => ({ schema, owners: [owner(schema)] })));
  expect(await migrate('--check')).toMatchObject({ code: 0, stdout: expect.stringContaining('"billing":[]') as string });
  expect(await migrate()).toMatchObject({ code: 0, stdout: expect.stringContaining('"scheduling":[]') as string });
});

test('records in the audit trail which database role migrated each schema, and what was applied', async () => {
  const { rows } = await admin.query<{ actor_id: string; object_id: string; applied: number }>({
    text: `select actor_id, object_id, json_array_length(after::json->'applied') as applied from integrations.audit_events
      where action = 'schema.migrated' order by at, id`,
  });
  expect(rows.map(({ actor_id, object_id }) => [actor_id, object_id])).toEqual([...owners, ...owners].map((schema) => [`role:${migrator}`, schema]));
  expect(rows.map(({ applied }) => applied > 0)).toEqual([...owners.map(() => true), ...owners.map(() => false)]);
});

test('migrates a service on the server that its variable names, and names that variable in errors', async () => {
  const other = await freshDatabase({});
  const its = await createSession({ url: other.url });
  try {
    await its.query({ text: 'create schema billing' });
    env = { ...env, BILLING_DATABASE_URL: other.url };
    const lacking = JSON.parse((await migrate('--check')).stdout) as { missing: Record<string, string[]> };
    expect(lacking.missing).toMatchObject({ billing: expect.arrayContaining(['billing/0001_billing']) as string[], scheduling: [] });
    expect((await migrate()).code).toBe(0);
    const { rows } = await its.query<{ schemas: string[] }>({
      text: `select array_agg(distinct schemaname::text) as schemas from pg_tables where schemaname = any($1)`,
      values: [SCHEMAS],
    });
    expect(rows).toEqual([{ schemas: ['billing'] }]);
    const wrong = await truckroll(['migrate', '--check'], { ...env, BILLING_DATABASE_URL: 'billing' }, tmpdir());
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('BILLING_DATABASE_URL is no address of a database') as string });
  } finally {
    delete env['BILLING_DATABASE_URL'];
    await its.close();
    await other.drop();
  }
});

test('says which grant a role without rights lacks', async () => {
  const stranger = `stranger_${suffix}`;
  await admin.query({ text: `create role ${stranger} login password 'x'` });
  env = { DATABASE_URL: Object.assign(new URL(database.url), { username: stranger, password: 'x' }).href };
  const { code, stderr } = await migrate();
  await admin.query({ text: `drop role ${stranger}` });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('grant <owner of integrations> to <role>') as string });
});

test('says what to set if there is no address', async () => {
  env = {};
  expect(await migrate()).toMatchObject({ code: 2, stderr: expect.stringContaining('set DATABASE_URL') as string });
});

test.each([
  ['nothing listens', () => 'postgres://127.0.0.1:1/none', 'connect ECONNREFUSED 127.0.0.1:1'],
  ['the server has no TLS', () => `${database.url}?sslmode=verify-full`, 'The server does not support SSL connections'],
])('says why it waits, and why it gives up, when %s', async (_, url, reason) => {
  env = { DATABASE_URL: url() };
  const { code, stderr } = await migrate('--wait', '1s');
  expect(code).toBe(3);
  expect(stderr).toContain(`waiting for PostgreSQL: ${reason}`);
  expect(stderr).toContain(`PostgreSQL cannot be used (${reason}): correct DATABASE_URL`);
});
