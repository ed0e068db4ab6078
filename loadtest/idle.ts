// npm run bench:idle: CPU time of the running system while it has no requests.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { STATE, say } from '@truckroll/local-stack';
import { childrenByParent, statOf, totalOf, type CpuMs } from './measure/cpu.ts';
import { rounded } from './measure/report.ts';
import { whileStarted } from './start/whole.ts';
import { runCommand, type Figures } from './system/benchmark.ts';

const HELP = `npm run bench:idle -- [--seconds 60] [--settle 150]

Starts everything that npm start does, on a state folder of its own, waits for --settle seconds, and measures how much CPU time
each process takes in --seconds seconds without a request: milliseconds a second, of one core. A hundred seconds after its start
V8 collects the garbage of starting.
`;

/** Names of servers by a part of their command line. */
const SERVERS = { 'kafka.Kafka': 'Kafka', 'redis-server': 'Redis', postgres: 'PostgreSQL', 'watchdog-main': 'watchdog' };

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
  const each = Object.entries(treeCpu(root)).map(([name, ms]) => [name, rounded((ms - (before[name] ?? 0)) / wall, 1)] as const);
  const sorted = Object.fromEntries(each.toSorted(([, a], [, b]) => b - a));
  return { idle_ms_per_second: rounded(totalOf(sorted), 1), ...sorted };
}

/** CPU time of a process and all its descendants so far in ms, by kind of process. */
function treeCpu(root: number): CpuMs {
  const children = childrenByParent();
  const used: CpuMs = {};
  const visit = (pid: number): void => {
    const stat = statOf(pid);
    if (stat !== undefined) {
      const name = pid === root ? 'npm start itself' : nameOf(pid);
      // Time of ended processes, such as PostgreSQL's workers, is counted in the process that waited for them.
      used[name] = (used[name] ?? 0) + stat.ms + (pid === root ? 0 : stat.endedMs);
    }
    for (const child of children.get(pid) ?? []) visit(child);
  };
  visit(root);
  return used;
}

function nameOf(pid: number): string {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return 'ended';
  }
  const service = /(?:services\/)?([\w-]+)\/src\/main\.(?:ts|mjs)/.exec(line)?.[1];
  return service ?? Object.entries(SERVERS).find(([part]) => line.includes(part))?.[1] ?? (line.split(' ')[0] as string);
}
