// A PostgreSQL that is backed up as docs/how-to/back-up-and-restore.md says (base backup and log archive), can be restored to a named moment,
// and can be away.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Watchdog, runFolder, silent, startServers } from '@truckroll/local-stack';
import { createSession, type DatabaseSession } from '@truckroll/postgres';

export interface BackedUpServer {
  readonly url: string;
  name(moment: string): Promise<void>;
  /** Restores the whole server, losing everything committed after that moment. There must be no connections. Works only once. */
  restore(moment: string): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Keeps owners and modes, because PostgreSQL rejects any others. */
const copy = (...args: string[]): void => void execFileSync('cp', ['-a', ...args]);

function write(folder: string, name: string, text: string): void {
  const { uid, gid } = statSync(folder);
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  chownSync(join(folder, name), uid, gid);
}

/** Listens on `address` of this machine; default 127.0.0.1. */
export async function startBackedUpServer(address?: string): Promise<BackedUpServer> {
  const folder = runFolder('restore-runs');
  const watchdog = new Watchdog();
  watchdog.deleteAtEnd(folder);
  const [data, archive, backup] = ['postgres', 'archive', 'backup'].map((name) => join(folder, name)) as [string, string, string];
  mkdirSync(archive);
  chmodSync(archive, 0o777);
  const servers = await startServers({
    folder,
    watchdog,
    say: silent,
    password: 'restored',
    careless: true,
    ...(address === undefined ? {} : { address }),
    environment: { REDIS_URL: required('REDIS_URL'), KAFKA_BROKERS: required('KAFKA_BROKERS') },
  });
  const url = servers.databaseUrl;

  async function as(work: (session: DatabaseSession) => Promise<void>): Promise<void> {
    const session = await createSession({ url, statementTimeoutMs: 0 });
    try {
      await work(session);
    } finally {
      await session.close();
    }
  }

  const stop = async (): Promise<void> => void (await servers.running.get('postgres')!.daemon.stop());
  const start = (): Promise<void> => servers.restart('postgres');

  await as(async (session) => {
    for (const [name, value] of Object.entries({ archive_mode: 'on', archive_command: `cp %p ${archive}/%f` }))
      await session.query({ text: `alter system set ${name} = '${value}'` });
  });
  await stop();
  await start();
  await as(async (session) => {
    // Does what pg_basebackup does, which the packaged server lacks.
    await session.query({ text: `select pg_backup_start('base', fast => true)` });
    copy(data, backup);
    const { rows } = await session.query<{ labelfile: string }>({ text: 'select labelfile from pg_backup_stop(wait_for_archive => false)' });
    write(backup, 'backup_label', rows[0]!.labelfile);
    const left = ['postmaster.pid', ...readdirSync(join(backup, 'pg_wal')).map((name) => join('pg_wal', name))];
    for (const name of left) rmSync(join(backup, name), { recursive: true });
  });

  return {
    url,
    async name(moment) {
      await as(async (session) => void (await session.query({ text: 'select pg_create_restore_point($1)', values: [moment] })));
    },
    async restore(moment) {
      await stop();
      // Log that was not archived yet is still on the disk, which has survived.
      copy('--no-clobber', join(data, 'pg_wal/.'), archive);
      renameSync(data, `${data}.lost`);
      renameSync(backup, data);
      write(data, 'postgresql.auto.conf', `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_name = '${moment}'\nrecovery_target_action = 'promote'\n`);
      write(data, 'recovery.signal', '');
      await start();
    },
    stop,
    start,
    close: () => watchdog.stopAll(),
  };
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run tests with npm test, which starts the servers`);
  return value;
}
