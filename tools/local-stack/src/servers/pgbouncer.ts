import { chmodSync, chownSync, existsSync, globSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatAddress, parseHost } from '@truckroll/process/addresses';
import { unpackDebian, unpackedPrograms } from '../debian-package.ts';
import { Problem } from '../problem.ts';
import { run } from '../processes/run.ts';
import type { Say } from '../say.ts';
import { launch } from './launch.ts';
import { postgresUser } from './postgres-user.ts';
import type { RunningServer, ServerContext } from './server.ts';

export interface PgBouncerOptions {
  /** URLs of one PostgreSQL, one for each role that may use the pooler. */
  readonly urls: readonly string[];
  readonly mode: 'session' | 'transaction';
  readonly poolSize: number;
}

/** The first version that supports prepared statements in transaction mode. */
const OLDEST = [1, 21] as const;
/** Debian 13's package, with the libraries it was built for; this machine's may be older. */
const SUITE = 'trixie';
const PACKAGES = [
  'pgbouncer',
  ...['c6', 'cares2', 'event-2.1-7t64', 'ssl3t64', 'pam0g', 'systemd0', 'cap2', 'audit1', 'cap-ng0', 'zstd1'].map((library) => `lib${library}`),
];
const HOW = process.platform === 'darwin' ? 'brew install pgbouncer' : 'sudo apt-get install pgbouncer';

/** Starts PgBouncer in front of a PostgreSQL. `url` is its address, with the role of the first given URL. */
export async function startPgBouncer(context: ServerContext, { urls, mode, poolSize }: PgBouncerOptions): Promise<RunningServer> {
  const command = await program(context.say);
  const folder = join(context.folder, 'pgbouncer');
  mkdirSync(folder, { recursive: true });
  const user = await postgresUser(command, folder, 'PgBouncer');
  const port = await context.ports.take('pgbouncer');
  const [server] = urls.map((url) => new URL(url)) as [URL];
  const write = (name: string, lines: readonly string[]): string => {
    const file = join(folder, name);
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
    chmodSync(file, 0o600);
    if (user) chownSync(file, user.uid, user.gid);
    return file;
  };
  const quoted = (text: string): string => `"${decodeURIComponent(text).replaceAll('"', '""')}"`;
  const users = write(
    'users.txt',
    urls.map((url) => new URL(url)).map(({ username, password }) => `${quoted(username)} ${quoted(password)}`),
  );
  const config = write('pgbouncer.ini', [
    '[databases]',
    `* = host=${parseHost(server.hostname) ?? server.hostname} port=${server.port}`,
    '[pgbouncer]',
    `listen_addr = ${context.address}`,
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
    `default_pool_size = ${poolSize}`,
    'max_client_conn = 500',
    'max_prepared_statements = 200',
    // The default is 15 s; PostgreSQL is back sooner than that.
    'server_login_retry = 1',
  ]);
  const [first, ...rest] = [...(user?.prefix ?? []), command, config];
  const daemon = await launch({
    command: first ?? command,
    args: rest,
    user: user && user.prefix.length === 0 ? { uid: user.uid, gid: user.gid } : undefined,
    name: 'pgbouncer',
    title: 'PgBouncer',
    dataFolder: folder,
    afterDeletion: 'at no cost',
    log: join(context.logs, 'pgbouncer.log'),
    stopSignal: 'SIGINT',
    graceMs: 5000,
    ready: /process up: PgBouncer/,
    watchdog: context.watchdog,
  });
  server.host = formatAddress(context.address, port);
  return { daemon, port, url: server.href };
}

/** The command of a recent enough PgBouncer. When there is none, unpacks Debian's for this user. Throws Problem. */
async function program(say: Say): Promise<string> {
  for (const command of ['pgbouncer', '/usr/sbin/pgbouncer', '/opt/homebrew/bin/pgbouncer']) if (await isNewEnough(command)) return command;
  const folder = join(unpackedPrograms(), 'pgbouncer');
  if (!existsSync(folder)) {
    const { stdout } = await run('apt-get', ['indextargets', '--format', '$(REPO_URI) $(COMPONENT)', 'Created-By: Packages']);
    const mirror = stdout.split('\n').find((line) => line.endsWith(' main'));
    if (mirror !== undefined) {
      say('PgBouncer is missing: fetching it from Debian …');
      await unpackDebian('pgbouncer', PACKAGES, `deb ${mirror.replace(/ main$/, '')} ${SUITE} main`);
    }
  }
  const [loader] = globSync(join(folder, 'usr/lib/*/ld-linux-*'));
  if (loader !== undefined) {
    const command = join(folder, 'pgbouncer');
    const own = `exec '${loader}' --library-path '${join(loader, '..')}' '${join(folder, 'usr/sbin/pgbouncer')}' "$@"`;
    if (!existsSync(command)) {
      // Renamed into place when complete, because another process may run it at any time.
      writeFileSync(`${command}.${process.pid}`, `#!/bin/sh\n${own}\n`, { mode: 0o755 });
      renameSync(`${command}.${process.pid}`, command);
    }
    if (await isNewEnough(command)) return command;
  }
  throw new Problem(`PgBouncer ${OLDEST.join('.')} or newer is missing: install it (${HOW}).`);
}

async function isNewEnough(command: string): Promise<boolean> {
  const [, major = 0, minor = 0] = (/^PgBouncer (\d+)\.(\d+)/.exec((await run(command, ['--version'])).stdout) ?? []).map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
