// Third-party programs that tests run, installed once per version into the user's cache.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Problem, say } from '@truckroll/local-stack';

/** Interval in ms at which a process looks whether another has installed what it waits for. */
const WAIT_MS = 200;

/** Runs a command in the folder. Throws a Problem with its output when it fails. */
export function run(folder: string, command: string, ...args: string[]): void {
  const env = { ...process.env, GOFLAGS: '-mod=mod -buildvcs=false', NO_COLOR: '1' };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1e8, env });
  if (status !== 0) throw new Problem(`${command} ${args.join(' ')} failed: ${error?.message ?? ''}\n${`${stdout}${stderr}`.slice(-4000)}`);
}

/** The installation folder of a name, which includes the version. An interrupted installation is repeated; others wait for one that runs. */
export function installed(name: string, install: (folder: string) => void): string {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'truckroll', 'programs', name);
  const complete = join(folder, '.complete');
  const lock = `${folder}.lock`;
  mkdirSync(dirname(folder), { recursive: true });
  while (!existsSync(complete)) {
    if (!take(lock)) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
      continue;
    }
    try {
      if (existsSync(complete)) break;
      say(`installing ${name} …`);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      install(folder);
      writeFileSync(complete, '');
    } finally {
      rmSync(lock, { force: true });
    }
  }
  return folder;
}

/** Whether this process has the lock now. The lock of a process that has ended is removed, for the next try. */
function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (hasEnded(lock)) rmSync(lock, { force: true });
    return false;
  }
}

function hasEnded(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** The folder with the commands of Python packages (`name==version` each) in a separate environment. Needs Python 3 with venv and pip. */
export function pythonPrograms(...packages: string[]): string {
  const from = installed(packages.join('_').replaceAll('==', '-'), (place) => {
    run(place, 'python3', '-m', 'venv', 'environment');
    run(place, 'environment/bin/python', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages);
  });
  return join(from, 'environment/bin');
}
