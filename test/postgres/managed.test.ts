// PostgreSQL as managed services run it: no superuser, several hosts of which one is writable, and passwords that change at run time.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ports, Watchdog, runFolder, silent } from '@truckroll/local-stack';
import { Database, createSession, databaseSettings, databaseUrls, migrate } from '@truckroll/postgres';
import { readConfig } from '@truckroll/process';
import { startPostgres, type PostgresPrograms } from '../../tools/local-stack/src/servers/postgres.ts';
import type { RunningServer } from '../../tools/local-stack/src/servers/server.ts';
import { SCHEMAS } from '../support/components.ts';
import { olderPostgres, type OlderMajor } from '../support/older-postgres.ts';
import { documentedSql } from '../support/documented-sql.ts';

const folder = runFolder('managed-runs');
const watchdog = new Watchdog();
watchdog.deleteAtEnd(folder);
const password = 'of the administrator';
let primary: RunningServer;
let standby: RunningServer;

async function start(name: string, programs?: PostgresPrograms): Promise<RunningServer> {
  const own = join(folder, name);
  mkdirSync(own);
  const ports = new Ports(join(own, 'ports.json'));
  const context = { folder: own, ports, logs: join(own, 'logs'), watchdog, say: silent, careless: true, address: '127.0.0.1', password };
  const server = await startPostgres({ ...context, ...(programs && { programs }) });
  await run(server.url, `create role manager login createrole password 'of the manager'`, 'create database truckroll owner manager');
  return server;
}

async function run(url: string, ...statements: string[]): Promise<void> {
  const session = await createSession({ url, statementTimeoutMs: 0 });
  try {
    for (const text of statements) await session.query({ text });
  } finally {
    await session.close();
  }
}

const readOnly = (server: RunningServer, value: 'on' | 'off'): Promise<void> =>
  run(server.url, `alter system set default_transaction_read_only = ${value}`, 'select pg_reload_conf()');

function as(server: RunningServer, username: string, of: string, database = 'truckroll'): string {
  return Object.assign(new URL(server.url), { username, password: of, pathname: `/${database}` }).href;
}

beforeAll(async () => {
  [primary, standby] = await Promise.all([start('primary'), start('standby')]);
}, 120_000);
afterAll(() => watchdog.stopAll());

describe('role set-up of docs/how-to', () => {
  async function setUp(server: RunningServer, major: number): Promise<void> {
    const manager = as(server, 'manager', 'of the manager');
    await run(manager, documentedSql('install', '## Making the database roles'), documentedSql('managed-servers', '### Behind a pooler'));
    const migrating = as(server, 'truckroll_migrate', '…');
    for (const { schema, migrations } of SCHEMAS) {
      await migrate({ url: migrating, schema, sets: migrations });
      const database = new Database({ url: as(server, schema, '…'), schema, maxConnections: 1 });
      try {
        const { rows } = await database.query({
          text: `select tableowner, current_setting('server_version_num')::int / 10000 as major
            from pg_tables where tablename = 'migration' and schemaname = current_schema()`,
        });
        expect(rows).toEqual([{ tableowner: schema, major }]);
        await expect(database.transaction((tx) => tx.query({ text: 'create temporary table t () on commit drop' }))).resolves.toBeDefined();
      } finally {
        await database.close();
      }
    }
  }

  test('needs CREATEROLE but no superuser, and gives services and migrations the rights they need', () => setUp(primary, 18));

  test.each<OlderMajor>([15, 16, 17])(
    'works the same on PostgreSQL %i',
    async (major) => {
      const server = await start(`postgres-${major}`, olderPostgres(major));
      try {
        await setUp(server, major);
      } finally {
        await server.daemon.stop();
      }
    },
    120_000,
  );
});

describe('a URL with several hosts', () => {
  const hosts = (): string => {
    const { username } = new URL(primary.url);
    return `postgres://${username}:${encodeURIComponent(password)}@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/truckroll?target_session_attrs=read-write`;
  };
  const whereWritten = async (database: Database): Promise<number> => {
    const { rows } = await database.query<{ port: number }>({ text: 'select inet_server_port() as port' });
    return rows[0]!.port;
  };

  test('connects to the writable server, even after another one has taken over', async () => {
    await readOnly(standby, 'on');
    const database = new Database({ url: hosts(), maxConnections: 2 });
    try {
      expect(await whereWritten(database)).toBe(primary.port);

      await readOnly(standby, 'off');
      await primary.daemon.stop();
      // The open connection is lost, and the first statement may still get it.
      await whereWritten(database).catch(() => undefined);
      expect(await whereWritten(database)).toBe(standby.port);

      await readOnly(standby, 'on');
      await run(standby.url, `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'truckroll' and pid <> pg_backend_pid()`);
      await database.query({ text: 'select' }).catch(() => undefined);
      await expect(database.query({ text: 'select' })).rejects.toMatchObject({
        status: 503,
        cause: { message: expect.stringContaining('no host of DATABASE_URL accepts writes') as string },
      });
    } finally {
      await database.close();
    }
  });
});

describe('a URL from a file', () => {
  test('is read again for each new connection, and the last valid one is used while the file is unreadable', async () => {
    await readOnly(standby, 'off');
    const file = join(folder, 'database-url');
    const store = (of: string): void => writeFileSync(file, `${as(standby, 'changing', of)}\n`);
    const cut = (): Promise<void> => run(standby.url, `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'changing'`);
    await run(standby.url, `create role changing login password 'first'`);
    store('first');
    const database = new Database({ ...databaseUrls(readConfig(databaseSettings, { DATABASE_URL_FILE: file })), maxConnections: 1 });
    const answers = async (): Promise<boolean> =>
      database.query({ text: 'select 1' }).then(
        () => true,
        () => false,
      );
    try {
      expect(await answers()).toBe(true);
      await run(standby.url, `alter role changing password 'second'`);
      await cut();
      await answers();
      expect(await answers()).toBe(false);

      store('second');
      expect(await answers()).toBe(true);

      writeFileSync(file, 'half a URL');
      await cut();
      await answers();
      expect(await answers()).toBe(true);
    } finally {
      await database.close();
    }
  });
});
