import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installed, run } from '../support/installed.ts';

/** The node_modules with the packages, whose scripts are not run. */
export function npmModules(packages: Readonly<Record<string, string>>): string {
  const name = Object.entries(packages)
    .map(([each, version]) => `${each.replace(/^@|\/.*$/g, '')}-${version}`)
    .join('_');
  const from = installed(name, (place) => {
    writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, dependencies: packages }));
    run(place, 'npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts');
  });
  return join(from, 'node_modules');
}

export function npmPackages(folder: string, packages: Readonly<Record<string, string>>): void {
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
  symlinkSync(npmModules(packages), join(folder, 'node_modules'));
}

export function jar(group: string, artifact: string, version: string): string {
  const from = installed(`${artifact}-${version}`, (place) =>
    run(place, 'mvn', '-q', '-B', 'dependency:copy', `-Dartifact=${group}:${artifact}:${version}`, '-DoutputDirectory=.'),
  );
  return join(from, `${artifact}-${version}.jar`);
}

export function goProgram(path: string, version: string): string {
  const name = path.split('/').at(-1) as string;
  const from = installed(`${name}-${version}`, (place) => run(place, 'env', `GOBIN=${place}`, 'go', 'install', `${path}@${version}`));
  return join(from, name);
}
