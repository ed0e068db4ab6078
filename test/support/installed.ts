// Other people's programs that tests run: installed once for their versions into the user's cache.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Problem, say } from '@truckroll/local-stack';

/** Runs it in the folder; what it prints is told only where it fails. Throws Problem. */
export function run(folder: string, command: string, ...args: string[]): void {
  const env = { ...process.env, GOFLAGS: '-mod=mod -buildvcs=false', NO_COLOR: '1' };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1e8, env });
  if (status !== 0) throw new Problem(`${command} ${args.join(' ')} failed: ${error?.message ?? ''}\n${`${stdout}${stderr}`.slice(-4000)}`);
}

/** The folder of what is installed under this name, which holds its version: an installation that was interrupted is made anew. */
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

/** The folder of the programs of Python packages, `name==version` each, in an environment of their own. Needs Python 3 with its venv module and pip. */
export function pythonPrograms(...packages: string[]): string {
  const from = installed(packages.join('_').replaceAll('==', '-'), (place) => {
    run(place, 'python3', '-m', 'venv', 'environment');
    run(place, 'environment/bin/python', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages);
  });
  return join(from, 'environment/bin');
}
