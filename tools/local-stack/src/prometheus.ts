import { join } from 'node:path';
import { unpackDebian, unpackedPrograms } from './debian-package.ts';
import { Problem } from './problem.ts';
import { works } from './processes/run.ts';
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
    await unpackDebian('prometheus', ['prometheus']);
    const fetched = await installedPrometheus(program);
    if (fetched !== undefined) return fetched;
  }
  throw new Problem(`${program} is missing: ${howToGetPrometheus}.`);
}

function unpacked(program: PrometheusProgram): string {
  return join(unpackedPrograms(), 'prometheus', 'usr/bin', program);
}
