import { join } from 'node:path';
import { unpackDebian, unpackedPrograms } from './debian-package.ts';
import { Problem } from './problem.ts';
import { works } from './processes/run.ts';
import type { Say } from './say.ts';

export type PrometheusProgram = 'prometheus' | 'promtool';

const HOW = process.platform === 'darwin' ? 'brew install prometheus' : 'sudo apt-get install prometheus';

export async function installedPrometheus(program: PrometheusProgram): Promise<string | undefined> {
  for (const command of [program, unpacked(program)]) if (await works(command, '--version')) return command;
  return undefined;
}

export const howToGetPrometheus = `install it (${HOW})`;

/** Like `installedPrometheus`, but unpacks Debian's package for this user when the program is missing. Throws Problem. */
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
