// Latencies: percentiles, and requests on a schedule.
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

export function latencyOf(values: readonly number[]): Latency {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

export function latencyText({ p50, p99 }: Latency): string {
  return `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
}

/** Starts `work` at `rate` a second, however long earlier work takes. `due` is on the clock of `performance.now`. Resolves when all is done. */
export async function onSchedule<T>(rate: number, seconds: number, work: (number: number, due: number) => Promise<T>): Promise<T[]> {
  const running: Promise<T>[] = [];
  let failed = false;
  const startedAt = performance.now();
  for (let number = 0; number < rate * seconds && !failed; number++) {
    const due = startedAt + (number * 1000) / rate;
    const wait = due - performance.now();
    if (wait > 0) await delay(wait);
    const one = work(number, due);
    one.catch(() => (failed = true));
    running.push(one);
  }
  return Promise.all(running);
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
