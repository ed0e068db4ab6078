// Third-party programs that tests run, installed once per version into the user's cache.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Problem, say } from '@truckroll/local-stack';

/** Runs a command in the folder. Throws a Problem with its output when it fails. */
export function run(folder: string, command: string, ...args: string[]): void {
  const env = { ...process.env, GOFLAGS: '-mod=mod -buildvcs=false', NO_COLOR: '1' };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1e8, env });
  if (status !== 0) throw new Problem(`${command} ${args.join(' ')} failed: ${error?.message ?? ''}\n${`${stdout}${stderr}`.slice(-4000)}`);
}

/** The installation folder of a name, which includes the version. An interrupted installation is repeated. */
export function installed(name: string, install: (folder: string) => void): string {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'truckroll', 'programs', name);
  const complete = join(folder, '.complete');
  if (existsSync(complete)) return folder;
  say(`installing ${name} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  install(folder);
  writeFileSync(complete, '');
  return folder;
}

/** The folder with the commands of Python packages (`name==version` each) in a separate environment. Needs Python 3 with venv and pip. */
export function pythonPrograms(...packages: string[]): string {
  const from = installed(packages.join('_').replaceAll('==', '-'), (place) => {
    run(place, 'python3', '-m', 'venv', 'environment');
    run(place, 'environment/bin/python', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages);
  });
  return join(from, 'environment/bin');
}
