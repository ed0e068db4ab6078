// A real PgBouncer between a service's pool and PostgreSQL: lost settings are detected, and required ones take effect anyway.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createService } from '@truckroll/grpc';
import { Ports, Watchdog, choosePort, runFolder, silent, startPgBouncer } from '@truckroll/local-stack';
import { Database, createSession, openDatabase, type DatabaseSession } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { freshDatabase, testConfig, type TestDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';

const role = `pooled_${randomBytes(4).toString('hex')}`;
const watchdog = new Watchdog();
const open: Database[] = [];
let fresh: TestDatabase;
let admin: DatabaseSession;
let pooled: Record<'session' | 'transaction', string>;

beforeAll(async () => {
  fresh = await freshDatabase({});
  admin = await createSession({ url: fresh.url });
  await admin.query({ text: `create role ${role} login password 'of the role'; create schema pooled authorization ${role}` });
  const direct = new URL(fresh.url);
  direct.username = role;
  direct.password = 'of the role';
  const folder = runFolder('pooler-runs');
  watchdog.deleteAtEnd(folder);
  const start = async (mode: 'session' | 'transaction', poolSize: number): Promise<string> => {
    const own = join(folder, mode);
    const context = { folder: own, ports: new Ports(join(own, 'ports.json')), logs: join(own, 'logs'), watchdog, say: silent, careless: true };
    return (await startPgBouncer({ ...context, address: '127.0.0.1' }, { urls: [direct.href], mode, poolSize })).url;
  };
  pooled = { session: await start('session', 4), transaction: await start('transaction', 2) };
}, 120_000);

afterAll(async () => {
  await Promise.all(open.map((database) => database.close()));
  await watchdog.stopAll();
  await fresh.drop();
  // Roles belong to the whole server; the objects that this one owns were dropped with the database.
  const last = await createSession({ url: process.env['DATABASE_URL']! });
  try {
    await last.query({ text: `drop role if exists ${role}` });
  } finally {
    await last.close();
  }
  await admin.close();
});

function database(mode: 'session' | 'transaction', release?: number): Database {
  const settings = release === undefined ? {} : { settings: { 'truckroll.projection': String(release) } };
  const made = new Database({ url: pooled[mode], schema: 'pooled', maxConnections: 4, ...settings });
  open.push(made);
  return made;
}

const reason = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: Error) => (error.cause as Error | undefined)?.message ?? error.message,
  );

describe('in transaction mode, for a role without the settings', () => {
  test('a pool refuses to work, and names the statements that give the role the missing settings', async () => {
    const refusal = await reason(database('transaction').query({ text: 'select 1' }));
    expect(refusal).toContain('DATABASE_URL leads to a pooler that does not keep sessions');
    const remedies = refusal.match(/alter role [^;]*;/g) ?? [];
    expect(remedies).toEqual(
      expect.arrayContaining([`alter role "${role}" set search_path = "pooled";`, `alter role "${role}" set statement_timeout = '15000';`]),
    );

    for (const text of remedies) await admin.query({ text });
    await admin.query({ text: `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'` });
    const { rows } = await database('transaction').query({ text: 'select current_schema() as schema' });
    expect(rows).toEqual([{ schema: 'pooled' }]);
  });
});

describe('in transaction mode, for a role with the settings', () => {
  test('a transaction has the settings of the release that runs it, although releases share server connections', async () => {
    const releases = [1, 2].map((release) => ({ release, database: database('transaction', release) }));
    const text = `select current_setting('truckroll.projection', true) as release, pg_backend_pid() as pid`;
    const found = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const { release, database: of } = releases[i % 2]!;
        const { rows } = await of.transaction(async (tx) => await tx.query<{ release: string; pid: number }>({ name: 'release', text }));
        return { own: String(release), ...rows[0]! };
      }),
    );
    expect(found.filter(({ own, release }) => own !== release)).toEqual([]);
    const shared = Map.groupBy(found, ({ pid }) => pid);
    expect([...shared.values()].some((uses) => new Set(uses.map(({ own }) => own)).size === 2)).toBe(true);
    expect((await releases[0]!.database.query({ text })).rows).toMatchObject([{ release: '' }]);
  });

  test('named statements work on whichever server connection they run', async () => {
    const of = database('transaction');
    const run = async (i: number): Promise<unknown> => (await of.query<{ n: number }>({ name: `n${i % 7}`, text: `select ${i % 7} as n` })).rows[0]?.n;
    const numbers = Array.from({ length: 60 }, (_, i) => i);
    expect(await Promise.all(numbers.map(run))).toEqual(numbers.map((i) => i % 7));
  });

  test('a session is refused with the variable’s name, and readiness names it too', async () => {
    expect(await reason(database('transaction').session())).toMatch(/^DATABASE_SESSION_URL, .*does not keep sessions/);

    const metricsPort = await choosePort();
    const service = createService({
      name: 'pooled',
      config: { ...testConfig, metricsPort },
      log: silentLog,
      create: (kit) => void openDatabase(kit, { url: pooled.transaction, schema: 'pooled', migrations: [] }),
    });
    const started = service.start().catch(() => undefined);
    const checks = async (): Promise<Record<string, string>> => {
      const response = await fetch(`http://127.0.0.1:${metricsPort}/readyz`).catch(() => undefined);
      return ((await response?.json()) as { checks: Record<string, string> } | undefined)?.checks ?? {};
    };
    try {
      await until('a failed check', checks, (all) => all['DATABASE_SESSION_URL'] === 'failed');
      expect(await checks()).toMatchObject({ 'database pooled': 'ok', DATABASE_SESSION_URL: 'failed' });
    } finally {
      await service.destroy();
      await started;
    }
  });
});

describe('in session mode', () => {
  test('a session and a pool apply their settings themselves', async () => {
    for (const name of ['statement_timeout', 'search_path']) await admin.query({ text: `alter role ${role} reset ${name}` });
    const of = database('session');
    const session = await of.session();
    const text = `select current_setting('statement_timeout') as timeout, current_schema() as schema`;
    expect((await session.query({ text })).rows).toEqual([{ timeout: '15s', schema: 'pooled' }]);
    await session.close();
    expect((await of.query({ text })).rows).toEqual([{ timeout: '15s', schema: 'pooled' }]);
  });
});
