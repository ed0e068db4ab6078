// Times `npm start` from its first instruction to ready.json, on a state folder of the benchmark.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Problem, ROOT } from '@truckroll/local-stack';
import { COMPILED, bundleOf } from '../../scripts/bundles.mjs';

const POLL_MS = 20;
const LONGEST_MS = 600_000;
const PROGRAM = 'loadtest/idle/start-main.ts';
const COMMAND = 'npm run -s generate && exec "$0" "$1" "$2"';

/** Seconds until the installation is ready. Stops it afterwards. */
export async function started(state: string): Promise<number> {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const log = openSync(`${state}.log`, 'a');
  const startedAt = performance.now();
  const program = [process.execPath, bundleOf(PROGRAM) ?? join(ROOT, PROGRAM), state];
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED };
  const child = spawn('sh', ['-c', COMMAND, ...program], { cwd: ROOT, env, stdio: ['ignore', log, log] });
  return await untilReady(child, join(state, 'ready.json'), startedAt, `${state}.log`);
}

/** Seconds from `startedAt` until the file exists, which is written when the system can be used. Stops the child. */
export async function untilReady(child: ChildProcess, file: string, startedAt: number, log: string): Promise<number> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  try {
    while (child.exitCode === null && performance.now() - startedAt < LONGEST_MS) {
      if (isThere(file)) return (performance.now() - startedAt) / 1000;
      await delay(POLL_MS);
    }
    throw new Problem(`the system did not start: see ${log}.`);
  } finally {
    if (child.exitCode === null && child.kill('SIGTERM')) await exited;
  }
}

function isThere(file: string): boolean {
  try {
    return readFileSync(file, 'utf8') !== '';
  } catch {
    return false;
  }
}
