// Reports a profile: a table by purpose and a flame graph, for each process.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { perEach, withCpu, type CpuMs, type Groups } from '../measure/cpu.ts';
import { busyText, withBusy } from '../measure/waiting.ts';
import type { Outcome } from '../measure/wrk.ts';
import { microsNow, readStacks, type Window } from './cpu-profile.ts';
import { flameGraph } from './flame-graph.ts';
import { byGroup } from './groups.ts';

export interface Seen {
  readonly name: string;
  readonly window: Window;
  /** Milliseconds per request, by process. */
  readonly cpu: CpuMs;
  readonly perSecond: number;
  readonly busy: string;
}

/** Makes Node write a process's profile into the folder when it ends. */
export const profilingInto = (folder: string): Record<string, string> => ({ NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` });

export async function see(
  name: string,
  groups: Groups,
  pids: Readonly<Record<string, number>>,
  load: () => Promise<Pick<Outcome, 'requests' | 'perSecond'>>,
): Promise<Seen> {
  const from = microsNow();
  const { result, busy } = await withBusy(pids, () => withCpu(groups, load));
  const { requests, perSecond } = result.result;
  return { name, window: { from, to: microsNow() }, cpu: perEach(result.cpu, requests), perSecond, busy: busyText(busy, perSecond) };
}

/** Prints the results after the processes have ended. Returns the µs per request of each process. */
export function tell(folder: string, pids: Readonly<Record<string, number>>, { name, window, cpu, perSecond, busy }: Seen): Record<string, number> {
  const others = Object.entries(cpu).filter(([process]) => pids[process] === undefined);
  process.stdout.write(
    `\n${name}: ${perSecond.toFixed(0)} a second; ${busy}; ${others.map(([other, ms]) => `${other} ${(ms * 1000).toFixed(0)} µs`).join(', ')}\n`,
  );
  const figures: Record<string, number> = {};
  for (const [of, pid] of Object.entries(pids)) {
    const stacks = readStacks(folder, pid, window);
    // A sample may hit a process that waits for a core, so samples give shares; the total is the measured CPU time.
    const all = (cpu[of] ?? NaN) * 1000;
    writeFileSync(join(folder, `${name}-${of}.svg`), flameGraph(`${of}, ${name}`, stacks, all));
    const sum = stacks.reduce((total, { micros }) => total + micros, 0);
    const rows = [...byGroup(stacks)].map(([group, micros]) => `  ${((all * micros) / sum).toFixed(1).padStart(8)}  ${group}\n`);
    process.stdout.write(`\n${name}, ${of}: ${all.toFixed(0)} µs of processor per request\n${rows.join('')}`);
    figures[`${name}_${of}_us`] = Math.round(all);
  }
  return figures;
}
