// Runs `npm start` on a state folder of the benchmark.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Problem, ROOT } from '@truckroll/local-stack';
import { COMPILED, bundleOf } from '../../scripts/bundles.mjs';

const POLL_MS = 20;
const LONGEST_MS = 600_000;
const PROGRAM = 'loadtest/start/start-main.ts';
const COMMAND = 'npm run -s generate && exec "$0" "$1" "$2"';

/** Starts the installation, runs `work` once it can be used, and stops it. `seconds` count from the first instruction to ready.json. */
export async function whileStarted<T>(state: string, work: (pid: number, seconds: number) => Promise<T>): Promise<T> {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const ready = join(state, 'ready.json');
  rmSync(ready, { force: true });
  const log = openSync(`${state}.log`, 'a');
  const startedAt = performance.now();
  const program = [process.execPath, bundleOf(PROGRAM) ?? join(ROOT, PROGRAM), state];
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED };
  const child = spawn('sh', ['-c', COMMAND, ...program], { cwd: ROOT, env, stdio: ['ignore', log, log] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  try {
    while (child.exitCode === null && performance.now() - startedAt < LONGEST_MS) {
      if (existsSync(ready)) return await work(child.pid as number, (performance.now() - startedAt) / 1000);
      await delay(POLL_MS);
    }
    throw new Problem(`the system did not start: see ${state}.log.`);
  } finally {
    if (child.exitCode === null && child.kill('SIGTERM')) await exited;
  }
}
