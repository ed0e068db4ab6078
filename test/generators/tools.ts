// Where the generators are: installed once for their versions into the user's cache, as the fuzzer is.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
function installed(name: string, install: (folder: string) => void): string {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'truckroll', 'generators', name);
  const complete = join(folder, '.complete');
  if (existsSync(complete)) return folder;
  say(`installing ${name} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  install(folder);
  writeFileSync(complete, '');
  return folder;
}

/** Makes packages, each at one version, those of `folder`. */
export function npmPackages(folder: string, packages: Readonly<Record<string, string>>): void {
  const name = Object.entries(packages).map(([each, version]) => `${each.replace(/^@|\/.*$/g, '')}-${version}`).join('_');
  const from = installed(name, (place) => {
    writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, dependencies: packages }));
    run(place, 'npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts');
  });
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
  symlinkSync(join(from, 'node_modules'), join(folder, 'node_modules'));
}

/** The programs of Python packages, `name==version` each. */
export function pythonPrograms(...packages: string[]): string {
  const from = installed(packages.join('_').replaceAll('==', '-'), (place) => {
    run(place, 'python3', '-m', 'venv', 'environment');
    run(place, 'environment/bin/python', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages);
  });
  return join(from, 'environment/bin');
}

/** A jar that stands alone, of Maven's central repository. */
export function jar(group: string, artifact: string, version: string): string {
  const from = installed(`${artifact}-${version}`, (place) => run(place, 'mvn', '-q', '-B', 'dependency:copy', `-Dartifact=${group}:${artifact}:${version}`, '-DoutputDirectory=.'));
  return join(from, `${artifact}-${version}.jar`);
}

/** The program of a Go package, `path@version`. */
export function goProgram(path: string, version: string): string {
  const name = path.split('/').at(-1) as string;
  const from = installed(`${name}-${version}`, (place) => run(place, 'env', `GOBIN=${place}`, 'go', 'install', `${path}@${version}`));
  return join(from, name);
}
