import { networkInterfaces } from 'node:os';
import { migrate, openDatabase, type Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { freshDatabase, openProxy, testCallers, testConfig, type TestDatabase } from '@truckroll/testing';
import { createService, openChannel, type ServiceKit } from '../src/index.ts';
import { EchoService, deferred, echoCallers } from './echo.ts';

const migrations = [{ name: 'trial', migrations: [{ name: '0001_a', sql: 'create table a (id int)' }] }];
const log = silentLog;
let server: TestDatabase;

beforeAll(async () => {
  server = await freshDatabase({});
});
afterAll(() => server.drop());

type Kit = ServiceKit<typeof testConfig>;

function service(create: (kit: Kit) => void, settings: Partial<typeof testConfig> = {}, to = log) {
  return createService({ name: 'trial', config: { ...testConfig, ...settings }, log: to, mayCall: echoCallers, create });
}

function implementEcho(kit: Kit, say: (text: string) => Promise<string>): void {
  const refuse = () => {
    throw new Error('not used');
  };
  kit.server.implement(EchoService, { say: async ({ text }) => ({ text: await say(text) }), split: refuse, each: refuse });
}

async function readiness(metricsPort: number) {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/readyz`);
  return { status: response.status, ...((await response.json()) as { checks: Record<string, string> }) };
}

test('a service starts on free ports, migrates, serves, and reports its state to operators', async () => {
  let database: Database | undefined;
  const trial = service((kit) => {
    database = openDatabase(kit, { url: server.url, schema: 'starts', migrations });
    implementEcho(kit, async (text) => `${text} ${(await database!.query({ text: 'select from a' })).rowCount}`);
  });
  const { port, metricsPort } = await trial.start();
  const channel = openChannel(`127.0.0.1:${port}`, { credentials: testCallers.slice(0, 1) });
  expect(await channel.client(EchoService).say({ text: 'rows:' })).toEqual({ text: 'rows: 0' });
  expect(await readiness(metricsPort)).toMatchObject({ status: 200, checks: { serving: 'ok', 'database starts': 'ok' } });
  expect(await (await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).text()).toBe('ok\n');
  expect(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).toContain('database_connections{component="trial"} 1');
  expect((await fetch(`http://127.0.0.1:${metricsPort}/`)).status).toBe(404);
  channel.close();
  await trial.destroy();
});

test('telemetry listens on the address of the service, and on no other', async () => {
  const trial = service(() => undefined);
  const { metricsPort } = await trial.start();
  const [elsewhere] = Object.values(networkInterfaces())
    .flat()
    .filter((each) => each?.family === 'IPv4' && !each.internal);
  // On a machine without a network, another loopback address is used.
  const address = elsewhere?.address ?? '127.0.0.2';
  await expect(fetch(`http://${address}:${metricsPort}/healthz`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  expect((await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).status).toBe(200);
  await trial.destroy();
});

test('parts start in order before calls are served, and stop in reverse after the last call, before pools close', async () => {
  const order: string[] = [];
  const begun = deferred();
  const release = deferred();
  const trial = service((kit) => {
    const database = openDatabase(kit, { url: server.url, schema: 'order_of_parts', migrations });
    const part = (name: string) => ({
      name,
      start: async () => {
        order.push(`start ${name}`);
      },
      stop: async () => {
        await database.query({ text: 'select 1' });
        order.push(`stop ${name}`);
      },
    });
    kit.background(part('one'));
    kit.background(part('two'));
    implementEcho(kit, async (text) => {
      begun.resolve();
      await release.promise;
      order.push('answered');
      return text;
    });
  });
  const { port } = await trial.start();
  const channel = openChannel(`127.0.0.1:${port}`, { credentials: testCallers.slice(0, 1) });
  const call = channel.client(EchoService).say({ text: 'x' });
  await begun.promise;
  const destroyed = trial.destroy();
  release.resolve();
  expect(await call).toEqual({ text: 'x' });
  await destroyed;
  channel.close();
  expect(order).toEqual(['start one', 'start two', 'answered', 'stop two', 'stop one']);
});

test('a service that does not migrate is not ready until its schema has the migrations it needs or more', async () => {
  const warned = deferred<string>();
  const trial = service(
    (kit) => {
      openDatabase(kit, { url: server.url, schema: 'behind', migrations });
    },
    { migrateAtStart: false },
    { ...silentLog, warn: (fields, message) => warned.resolve(`${message}: ${(fields as { reason: string }).reason}`) },
  );
  const serving = trial.start();
  expect(await warned.promise).toContain('waiting for migrations: SchemaBehind: schema behind lacks trial/0001_a: run truckroll migrate');
  await migrate({
    url: server.url,
    schema: 'behind',
    sets: [{ name: 'trial', migrations: [...migrations[0]!.migrations, { name: '0002_b', sql: 'create table b (id int)' }] }],
  });
  const { metricsPort } = await serving;
  expect(await readiness(metricsPort)).toMatchObject({ status: 200 });
  expect((await trial.metrics.render()).body).toContain('schema_migrations_missing{schema="behind",component="trial"} 0');
  await trial.destroy();
});

test('a service waits for PostgreSQL, is not ready until then, and serves when PostgreSQL comes up', async () => {
  const { proxy, url } = await databaseBehindProxy();
  await proxy.cut();
  const waiting = deferred();
  const trial = createService({
    name: 'trial',
    config: testConfig,
    log: {
      ...silentLog,
      warn: (_fields, message) => {
        if (message === 'waiting for PostgreSQL') waiting.resolve();
      },
    },
    create: (kit) => {
      openDatabase(kit, { url, schema: 'waits', migrations });
    },
  });
  const started = trial.start();
  await waiting.promise;
  await proxy.restore();
  const { metricsPort } = await started;
  expect((await readiness(metricsPort)).status).toBe(200);
  await proxy.cut();
  expect(await readiness(metricsPort)).toMatchObject({ status: 503, checks: { serving: 'ok', 'database waits': 'failed' } });
  await proxy.restore();
  expect((await readiness(metricsPort)).status).toBe(200);
  await trial.destroy();
  await proxy.close();
});

test('a service can be stopped while it waits for PostgreSQL', async () => {
  const { proxy, url } = await databaseBehindProxy();
  await proxy.cut();
  const trial = service((kit) => {
    openDatabase(kit, { url, schema: 'stops', migrations });
  });
  const started = trial.start().catch((error: unknown) => error);
  await trial.destroy();
  expect(String(await started)).toMatch(/stopping|aborted/);
});

test('a part that fails to start fails the start, and the parts already started are stopped', async () => {
  const stopped: string[] = [];
  const trial = service((kit) => {
    kit.background({
      name: 'good',
      start: async () => undefined,
      stop: async () => {
        stopped.push('good');
      },
    });
    kit.background({
      name: 'bad',
      start: () => Promise.reject(new Error('cannot')),
      stop: async () => {
        stopped.push('bad');
      },
    });
  });
  await expect(trial.start()).rejects.toThrow('cannot');
  await trial.destroy();
  expect(stopped).toEqual(['bad', 'good']);
});

async function databaseBehindProxy() {
  const { hostname, port } = new URL(server.url);
  const proxy = await openProxy({ host: hostname, port: Number(port) });
  const url = new URL(server.url);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return { proxy, url: url.href };
}
