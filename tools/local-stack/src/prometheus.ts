import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ownFolder } from './own-folder.ts';
import { Problem } from './problem.ts';
import { run, shown, works } from './processes/run.ts';
import type { Say } from './say.ts';

export type PrometheusProgram = 'prometheus' | 'promtool';

const HOW = process.platform === 'darwin' ? 'brew install prometheus' : 'sudo apt-get install prometheus';

/** The command of a program of Prometheus that this machine has, or undefined. */
export async function installedPrometheus(program: PrometheusProgram): Promise<string | undefined> {
  for (const command of [program, unpacked(program)]) if (await works(command, '--version')) return command;
  return undefined;
}

/** How somebody gets it, as the end of a sentence. */
export const howToGetPrometheus = `install it (${HOW})`;

/**
 * The same; where it is missing, Debian's package is fetched and unpacked into a folder of this user, without root and without
 * installing a server that starts by itself. Throws Problem.
 */
export async function prometheus(program: PrometheusProgram, say: Say): Promise<string> {
  const present = await installedPrometheus(program);
  if (present !== undefined) return present;
  if (await works('apt-get', '--version')) {
    say('Prometheus is missing: fetching it from Debian …');
    await fetch();
    const fetched = await installedPrometheus(program);
    if (fetched !== undefined) return fetched;
  }
  throw new Problem(`${program} is missing: ${howToGetPrometheus}.`);
}

function folder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'truckroll');
}

function unpacked(program: PrometheusProgram): string {
  return join(folder(), 'prometheus', 'usr/bin', program);
}

/** apt-get checks the package against Debian's signature. What it takes two for is fetched by each, and one's is kept. */
async function fetch(): Promise<void> {
  ownFolder(folder());
  const place = mkdtempSync(join(folder(), 'prometheus-'));
  const download = () => run('sh', ['-c', 'cd "$1" && exec apt-get -q download prometheus', 'sh', place]);
  try {
    // The lists of packages may be missing or old; only root may renew them.
    if ((await download()).code !== 0 && process.getuid?.() === 0) {
      await shown('apt-get', ['-q', 'update'], process.env);
      await download();
    }
    const file = readdirSync(place).find((name) => name.endsWith('.deb'));
    if (file === undefined) return;
    const target = join(place, 'root');
    mkdirSync(target);
    await run('dpkg-deb', ['-x', join(place, file), target]);
    const kept = join(folder(), 'prometheus');
    if (!existsSync(kept)) renameSync(target, kept);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
