// Resident memory of processes while something goes on.
import { readFileSync } from 'node:fs';

const LOOK_MS = 100;
const PAGE = 4096;

/** Runs, and tells the most bytes that each process held in memory meanwhile, by name. */
export async function residentPeak(pids: Readonly<Record<string, number>>, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const peaks: Record<string, number> = {};
  const look = (): void => {
    for (const [name, pid] of Object.entries(pids)) peaks[name] = Math.max(peaks[name] ?? 0, residentOf(pid));
  };
  const timer = setInterval(look, LOOK_MS);
  try {
    await work();
    look();
    return peaks;
  } finally {
    clearInterval(timer);
  }
}

function residentOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * PAGE;
}
