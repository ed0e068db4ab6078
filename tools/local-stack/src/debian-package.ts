import { Problem } from './problem.ts';
import { shown, works } from './processes/run.ts';
import type { Say } from './say.ts';

export interface DebianPackage {
  /** "Redis". */
  readonly title: string;
  readonly package: string;
  /** Names of the program that the package brings; the first that runs is taken. */
  readonly commands: readonly string[];
  /** What to do where apt-get may not: "install it (…), or name your own server in REDIS_URL". */
  readonly otherwise: string;
}

/** The command of a program of the system, installed with apt-get when it is missing and this process may. */
export async function fromDebian({ title, package: name, commands, otherwise }: DebianPackage, say: Say): Promise<string> {
  const present = await firstThatWorks(commands);
  if (present !== undefined) return present;
  if (process.getuid?.() === 0 && (await works('apt-get', '--version'))) {
    say(`${title} is missing: installing it with apt-get …`);
    // RUNLEVEL=1 keeps packages from starting servers of their own.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', name]]) await shown('apt-get', ['-q', ...args], env);
    const installed = await firstThatWorks(commands);
    if (installed !== undefined) return installed;
  }
  throw new Problem(`${title} is missing: ${otherwise}.`);
}

async function firstThatWorks(commands: readonly string[]): Promise<string | undefined> {
  for (const command of commands) if (await works(command, '--version')) return command;
  return undefined;
}
