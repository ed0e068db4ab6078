import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ownFolder } from './own-folder.ts';
import { Problem } from './problem.ts';
import { run, shown, works } from './processes/run.ts';
import type { Say } from './say.ts';

export interface DebianPackage {
  readonly title: string;
  readonly package: string;
  /** Possible names of the package's command; the first one that runs is used. */
  readonly commands: readonly string[];
  /** What to do when apt-get cannot be used: "install it (…), or name your own server in REDIS_URL". */
  readonly otherwise: string;
}

/** Time in seconds for which apt-get waits for another one that installs. */
const OTHERS_SECONDS = 300;

/** The command of a system program. Installs it with apt-get when it is missing and this process is root. */
export async function fromDebian({ title, package: name, commands, otherwise }: DebianPackage, say: Say): Promise<string> {
  const present = await firstThatWorks(commands);
  if (present !== undefined) return present;
  if (process.getuid?.() === 0 && (await works('apt-get', '--version'))) {
    say(`${title} is missing: installing it with apt-get …`);
    // RUNLEVEL=1 keeps packages from starting their own servers.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    // Several tests may need it at once: each waits for the others' apt-get.
    const waits = ['-o', `DPkg::Lock::Timeout=${OTHERS_SECONDS}`];
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', name]]) await shown('apt-get', ['-q', ...waits, ...args], env);
    const installed = await firstThatWorks(commands);
    if (installed !== undefined) return installed;
  }
  throw new Problem(`${title} is missing: ${otherwise}.`);
}

async function firstThatWorks(commands: readonly string[]): Promise<string | undefined> {
  for (const command of commands) if (await works(command, '--version')) return command;
  return undefined;
}

export function unpackedPrograms(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'truckroll');
}

/**
 * Unpacks packages into `unpackedPrograms()/<name>`, without root and without installing servers that start on their own. When two
 * processes download at once, the first copy is kept. `source` is a line of a sources list; default: this machine's own.
 */
export async function unpackDebian(name: string, packages: readonly string[], source?: string): Promise<void> {
  const programs = unpackedPrograms();
  ownFolder(programs);
  const place = mkdtempSync(join(programs, `${name}-`));
  const options = source === undefined ? [] : sourceOptions(place, source);
  const update = () => shown('apt-get', [...options, '-q', 'update'], process.env);
  const download = () => run('sh', ['-c', 'cd "$0" && exec apt-get "$@"', place, ...options, '-q', 'download', ...packages]);
  const isWhole = async () => (await download()).code === 0;
  try {
    if (source !== undefined) await update();
    if (!(await isWhole())) {
      // The package lists may be missing or stale; only root may refresh the machine's.
      if (source !== undefined || process.getuid?.() !== 0) return;
      await update();
      if (!(await isWhole())) return;
    }
    const target = join(place, 'root');
    mkdirSync(target);
    for (const file of readdirSync(place).filter((found) => found.endsWith('.deb'))) await run('dpkg-deb', ['-x', join(place, file), target]);
    if (!existsSync(join(programs, name))) renameSync(target, join(programs, name));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function sourceOptions(place: string, source: string): string[] {
  const folder = (path: string): string => {
    mkdirSync(join(place, path, 'partial'), { recursive: true });
    return join(place, path);
  };
  const list = join(place, 'sources.list');
  writeFileSync(list, `${source}\n`);
  return [
    `Dir::Etc::sourcelist=${list}`,
    'Dir::Etc::sourceparts=-',
    `Dir::State::lists=${folder('lists')}`,
    `Dir::Cache::archives=${folder('archives')}`,
    `Dir::Cache=${folder('cache')}`,
    'Acquire::Languages=none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
    // apt's sandbox user cannot enter this user's folder.
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
}
