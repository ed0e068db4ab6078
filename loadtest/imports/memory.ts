import { memoryOf } from '../load/usage.ts';

const LOOK_MS = 100;

/** Runs `work` and returns the peak resident memory of each process during it, in MB, by name. */
export async function residentPeak(pids: Readonly<Record<string, number>>, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const peaks: Record<string, number> = {};
  const look = (): void => {
    for (const [name, pid] of Object.entries(pids)) peaks[name] = Math.max(peaks[name] ?? 0, memoryOf(pid));
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
