// Samples CPU, memory and open files of every process once a second during a run.
import { readFileSync, readdirSync } from 'node:fs';
import { cpuOf, statOf, type CpuMs, type Groups } from '../measure/cpu.ts';
import { machineMs } from './machine.ts';

export interface Sample {
  /** Seconds since the start. */
  readonly at: number;
  /** Share of one core during the second before the sample. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Resident memory in MB, summed over the group; memory that processes share counts for each. */
  readonly memory: Readonly<Record<string, number>>;
  readonly files: Readonly<Record<string, number>>;
  /** Cores used by other processes during the second before the sample. */
  readonly others: number;
}

export interface Usage {
  /** Mean share of one core. */
  readonly cpu: number;
  readonly memoryMost: number;
  readonly filesMost: number;
}

/** Starts at once; `stop` returns the samples. This process is a group without its children. */
export function watch(groups: Groups): { stop(): Sample[] } {
  const all: Groups = { ...groups, watcher: [process.pid] };
  const used = (): CpuMs => ({ ...cpuOf(groups), watcher: statOf(process.pid)?.ms ?? NaN });
  const samples: Sample[] = [];
  const beganAt = performance.now();
  let before = { at: beganAt, cpu: used(), machine: machineMs() };
  const timer = setInterval(() => {
    const now = { at: performance.now(), cpu: used(), machine: machineMs() };
    const wall = now.at - before.at;
    const cpu = Object.fromEntries(Object.keys(all).map((name) => [name, ((now.cpu[name] ?? 0) - (before.cpu[name] ?? 0)) / wall]));
    const known = Object.values(cpu).reduce((sum, share) => sum + share, 0);
    samples.push({
      at: (now.at - beganAt) / 1000,
      cpu,
      memory: each(all, memoryOf),
      files: each(all, filesOf),
      others: Math.max(0, (now.machine - before.machine) / wall - known),
    });
    before = now;
  }, 1000);
  return {
    stop() {
      clearInterval(timer);
      return samples;
    },
  };
}

/** Sums over the processes of each group; one that is gone counts as 0. */
function each(groups: Groups, of: (pid: number) => number): Record<string, number> {
  const present = (pid: number): number => {
    try {
      return of(pid);
    } catch {
      return 0;
    }
  };
  return Object.fromEntries(Object.entries(groups).map(([name, pids]) => [name, pids.reduce((sum, pid) => sum + present(pid), 0)]));
}

/** Resident memory in MB. */
export const memoryOf = (pid: number): number => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;
const filesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

export function usageOf(samples: readonly Sample[]): Record<string, Usage> {
  const names = Object.keys(samples[0]?.cpu ?? {});
  const usage = (name: string): Usage => ({
    cpu: mean(samples.map(({ cpu }) => cpu[name] ?? 0)),
    memoryMost: Math.max(0, ...samples.map(({ memory }) => memory[name] ?? 0)),
    filesMost: Math.max(0, ...samples.map(({ files }) => files[name] ?? 0)),
  });
  return Object.fromEntries(names.map((name) => [name, usage(name)]));
}

/** Change of a value per minute, by least squares over the samples after `from` seconds. */
export function slopePerMinute(samples: readonly Sample[], value: (sample: Sample) => number, from = 0): number {
  const seen = samples.filter(({ at }) => at >= from);
  const times = mean(seen.map(({ at }) => at));
  const values = mean(seen.map(value));
  const top = seen.reduce((sum, sample) => sum + (sample.at - times) * (value(sample) - values), 0);
  const bottom = seen.reduce((sum, { at }) => sum + (at - times) ** 2, 0);
  return bottom === 0 ? 0 : (60 * top) / bottom;
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
