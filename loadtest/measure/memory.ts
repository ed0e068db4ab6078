// Resident memory of processes on Linux.
import { readFileSync, writeFileSync } from 'node:fs';

export interface Measured<T> {
  readonly result: T;
  /** By process, in MB. */
  readonly peak: Readonly<Record<string, number>>;
}

/** Runs `work`, and returns the peak of each process's resident memory meanwhile, in MB. */
export async function withPeakMemory<T>(pids: Readonly<Record<string, number>>, work: () => Promise<T>): Promise<Measured<T>> {
  // 5 sets the peak to what the process has now: proc_pid_clear_refs(5).
  for (const pid of Object.values(pids)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const result = await work();
  return { result, peak: Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, peakOf(pid)])) };
}

function peakOf(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kilobytes) / 1024;
}
