// npm run bench:idle: CPU time of the running system while it has no requests.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Problem, STATE, runMain, say } from '@truckroll/local-stack';
import { treeCpu } from './idle/tree.ts';
import { rounded } from './measure/report.ts';

const HELP = `npm run bench:idle -- [--seconds 60] [--settle 150]

Starts everything that npm start does, on a state folder of its own that is kept, waits for --settle seconds, and tells how much
processor time each process takes in --seconds seconds in which nobody asks anything: milliseconds a second, of one core. A hundred
seconds after its start V8 collects the garbage of starting.
`;
const FOLDER = join(STATE, 'benchmarks-idle');
const START_MS = 300_000;

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, settle: { type: 'string', default: '150' }, help: { type: 'boolean', default: false } },
});

await runMain(async () => {
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (process.platform !== 'linux') throw new Problem('bench:idle reads what Linux accounts of processes: run it there.');
  mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
  say('starting everything …');
  const log = openSync(join(FOLDER, 'start.log'), 'w');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'idle/start-main.ts'), FOLDER], { stdio: ['ignore', log, log, 'ipc'] });
  try {
    await started(child);
    await delay(Number(options.settle) * 1000);
    const figures = await measure(child.pid as number, Number(options.seconds));
    process.stdout.write(`figures: ${JSON.stringify(figures)}\n`);
    return 0;
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.kill('SIGTERM')) await ended;
  }
});

async function started(child: ChildProcess): Promise<void> {
  const ready = join(FOLDER, 'ready.json');
  for (const deadline = performance.now() + START_MS; performance.now() < deadline && child.exitCode === null; await delay(250)) {
    if (existsSync(ready) && (JSON.parse(readFileSync(ready, 'utf8')) as { pid: number }).pid === child.pid) return;
  }
  throw new Problem(`the system did not start: see ${join(FOLDER, 'start.log')} and ${join(FOLDER, 'logs')}.`);
}

async function measure(root: number, seconds: number): Promise<Record<string, number>> {
  const before = treeCpu(root);
  const beganAt = performance.now();
  await delay(seconds * 1000);
  const wall = (performance.now() - beganAt) / 1000;
  const after = treeCpu(root);
  // The time of PostgreSQL processes that have ended is counted in their parent.
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const each = names.map((name) => [name, ((after.get(name) ?? 0) - (before.get(name) ?? 0)) / wall] as const);
  const total = each.reduce((sum, [, ms]) => sum + ms, 0);
  for (const [name, ms] of each.toSorted(([, a], [, b]) => b - a)) say(`${name}: ${ms.toFixed(1)} ms a second`);
  const groups = Map.groupBy(each, ([name]) => (name.startsWith('PostgreSQL') ? 'PostgreSQL' : name));
  const sums = [...groups].map(
    ([name, list]) =>
      [
        name,
        rounded(
          list.reduce((sum, [, ms]) => sum + ms, 0),
          1,
        ),
      ] as const,
  );
  return { idle_ms_per_second: rounded(total, 1), ...Object.fromEntries(sums) };
}
