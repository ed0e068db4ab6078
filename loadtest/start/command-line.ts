// Measures the start of the integrators' command line, as published, and of Node with nothing to do.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';
import { median } from '../measure/turns.ts';

/** One start is shorter than what the system's scheduler adds to it now and then. */
const STARTS = 15;

/** Builds the program in `folder`. Returns the arguments of Node that start it. */
export function builtCommandLine(folder: string): string[] {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/build-cli.mjs'), folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The command line could not be built:\n${stderr}`);
  return [join(folder, 'dist/truckroll.js'), 'list', 'invoices', '--help'];
}

/** The median of several starts, in seconds. */
export function nodeSeconds(args: readonly string[]): number {
  return median(
    Array.from({ length: STARTS }, () => {
      const startedAt = performance.now();
      spawnSync(process.execPath, args);
      return (performance.now() - startedAt) / 1000;
    }),
  );
}
