// Resident memory of processes on Linux.
import { readFileSync, writeFileSync } from 'node:fs';

export interface Measured<T> {
  readonly result: T;
  /** By process, in MB. */
  readonly memory: Readonly<Record<string, { readonly start: number; readonly peak: number }>>;
}

/** Runs `work`, and returns the resident memory of each process when it begins, and its peak until it ends. */
export async function withPeakMemory<T>(pids: Readonly<Record<string, number>>, work: () => Promise<T>): Promise<Measured<T>> {
  // 5 sets the peak to what the process has now: proc_pid_clear_refs(5).
  for (const pid of Object.values(pids)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const start = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, peakOf(pid)]));
  const result = await work();
  const memory = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, { start: start[name] as number, peak: peakOf(pid) }]));
  return { result, memory };
}

function peakOf(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kilobytes) / 1024;
}
