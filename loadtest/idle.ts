// npm run bench:idle: CPU time of the running system while it has no requests.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { STATE, say } from '@truckroll/local-stack';
import { treeCpu } from './measure/tree.ts';
import { rounded } from './measure/report.ts';
import { whileStarted } from './start/whole.ts';
import { runCommand, type Figures } from './system/benchmark.ts';

const HELP = `npm run bench:idle -- [--seconds 60] [--settle 150]

Starts everything that npm start does, on a state folder of its own, waits for --settle seconds, and measures how much CPU time
each process takes in --seconds seconds without a request: milliseconds a second, of one core. A hundred seconds after its start
V8 collects the garbage of starting.
`;

await runCommand({
  help: HELP,
  numbers: { seconds: 60, settle: 150 },
  linuxOnly: true,
  async run({ settle, seconds }) {
    say('starting everything …');
    return await whileStarted(join(STATE, 'benchmarks-idle'), async (pid) => {
      await delay(settle * 1000);
      return await measure(pid, seconds);
    });
  },
});

async function measure(root: number, seconds: number): Promise<Figures> {
  const before = treeCpu(root);
  const beganAt = performance.now();
  await delay(seconds * 1000);
  const wall = (performance.now() - beganAt) / 1000;
  const after = treeCpu(root);
  // The time of PostgreSQL processes that have ended is counted in their parent.
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const each = names.map((name) => [name, ((after.get(name) ?? 0) - (before.get(name) ?? 0)) / wall] as const);
  for (const [name, ms] of each.toSorted(([, a], [, b]) => b - a)) say(`${name}: ${ms.toFixed(1)} ms a second`);
  const sumOf = (of: typeof each): number =>
    rounded(
      of.reduce((sum, [, ms]) => sum + ms, 0),
      1,
    );
  const groups = Map.groupBy(each, ([name]) => (name.startsWith('PostgreSQL') ? 'PostgreSQL' : name));
  return { idle_ms_per_second: sumOf(each), ...Object.fromEntries([...groups].map(([name, of]) => [name, sumOf(of)])) };
}
