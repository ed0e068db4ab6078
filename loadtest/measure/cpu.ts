// CPU time of processes on Linux. On other systems every figure is NaN and the benchmarks run without it.
import { readFileSync, readdirSync } from 'node:fs';
import { median } from './turns.ts';

/** Clock ticks of /proc are hundredths of a second on every architecture that Node runs on. */
const MS_PER_TICK = 10;

export type Groups = Readonly<Record<string, readonly number[]>>;
export type CpuMs = Record<string, number>;

interface Stat {
  parent: number;
  ms: number;
  /** CPU time of children that have ended and were waited for, in ms. */
  endedMs: number;
}

export function statOf(pid: number): Stat | undefined {
  try {
    // Field 2 is the program's name in parentheses and may contain spaces; the parent is field 4, the times are fields 14 to 17.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number);
    const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map((i) => fields[i]);
    return { parent, ms: (user + system) * MS_PER_TICK, endedMs: (endedUser + endedSystem) * MS_PER_TICK };
  } catch {
    return undefined;
  }
}

/** CPU time of each group so far in ms, with direct children (PostgreSQL has one for each connection). */
export function cpuOf(groups: Groups): CpuMs {
  if (process.platform !== 'linux') return Object.fromEntries(Object.keys(groups).map((name) => [name, NaN]));
  const children = childrenByParent();
  const msOf = (pid: number): number => statOf(pid)?.ms ?? 0;
  const used = (pid: number): number => msOf(pid) + (statOf(pid)?.endedMs ?? 0) + (children.get(pid) ?? []).reduce((sum, child) => sum + msOf(child), 0);
  return Object.fromEntries(Object.entries(groups).map(([name, pids]) => [name, pids.reduce((sum, pid) => sum + used(pid), 0)]));
}

export function childrenByParent(): ReadonlyMap<number | undefined, readonly number[]> {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
  return Map.groupBy(pids, parentOf);
}

export async function withCpu<T>(groups: Groups, work: () => Promise<T>): Promise<{ result: T; cpu: CpuMs }> {
  const before = cpuOf(groups);
  const result = await work();
  const after = cpuOf(groups);
  return { result, cpu: Object.fromEntries(Object.keys(groups).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)])) };
}

export function perEach(cpu: CpuMs, count: number): CpuMs {
  return Object.fromEntries(Object.entries(cpu).map(([name, ms]) => [name, ms / count]));
}

/** Median over rounds, by group. */
export function medianCpu(rounds: readonly { readonly cpu: CpuMs }[]): CpuMs {
  return Object.fromEntries(Object.keys(rounds[0]?.cpu ?? {}).map((name) => [name, median(rounds.map(({ cpu }) => cpu[name] ?? NaN))]));
}

export function totalOf(cpu: CpuMs): number {
  return Object.values(cpu).reduce((sum, ms) => sum + ms, 0);
}

export function cpuText(cpu: CpuMs): string {
  return Object.entries(cpu)
    .map(([name, ms]) => `${name} ${ms.toFixed(2)}`)
    .join(', ');
}

export function parentOf(pid: number): number | undefined {
  return statOf(pid)?.parent;
}
