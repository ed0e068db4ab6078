/** Exclusive upper bounds of the buckets, in ms; one more bucket follows the last. Never change them: stored counts depend on them. */
export const LATENCY_BOUNDS = [5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000, 14_000] as const;
const LONGEST_MS = 15_000;
const MINUTE = 60_000_000;

export interface Counts {
  delivered: number;
  failed: number;
  /** Exchanges by latency bucket. */
  latencies: number[];
  /** Microseconds since 1970; null if none succeeded. */
  lastSuccessAt: number | null;
}

export interface CountsRow extends Counts {
  companyId: string;
  endpointId: string;
  /** Start of the period, in microseconds since 1970. */
  at: number;
  minutes: 1 | 15 | 60;
}

export interface CountedAttempt {
  companyId: string;
  endpointId: string;
  /** Microseconds since 1970. */
  startedAt: number;
  endedAt: number;
  succeeded: boolean;
  /** Whether its duration says something about the endpoint: it answered or timed out. */
  timed: boolean;
}

export function noCounts(): Counts {
  return { delivered: 0, failed: 0, latencies: Array.from({ length: LATENCY_BOUNDS.length + 1 }, () => 0), lastSuccessAt: null };
}

export function add(sum: Counts, { delivered, failed, latencies, lastSuccessAt }: Counts): void {
  sum.delivered += delivered;
  sum.failed += failed;
  latencies.forEach((count, bucket) => (sum.latencies[bucket] = (sum.latencies[bucket] ?? 0) + count));
  if (lastSuccessAt !== null) sum.lastSuccessAt = Math.max(sum.lastSuccessAt ?? lastSuccessAt, lastSuccessAt);
}

/** Counts attempts by the minute of their end, which is at most `now` in case the dispatcher's clock is ahead. */
export function countAttempts(attempts: readonly CountedAttempt[], now: number): CountsRow[] {
  return gathered(
    attempts.map(({ companyId, endpointId, startedAt, endedAt, succeeded, timed }): CountsRow => {
      const counts = noCounts();
      const at = Math.min(endedAt, now);
      const bucket = LATENCY_BOUNDS.findIndex((bound) => (endedAt - startedAt) / 1000 < bound);
      if (timed) counts.latencies[bucket < 0 ? LATENCY_BOUNDS.length : bucket] = 1;
      const result = succeeded ? { delivered: 1, lastSuccessAt: at } : { failed: 1 };
      return { ...counts, ...result, companyId, endpointId, at: startOf(at, 1), minutes: 1 };
    }),
  );
}

/** Merges rows of the same endpoint and period, and sorts them so that all transactions lock rows in the same order. */
export function gathered(rows: readonly CountsRow[]): CountsRow[] {
  const groups = Map.groupBy(rows, ({ endpointId, at, minutes }) => `${endpointId} ${at} ${minutes}`);
  return [...groups.values()]
    .map((own) => {
      const sum = noCounts();
      for (const row of own) add(sum, row);
      return { ...(own[0] as CountsRow), ...sum };
    })
    .toSorted((a, b) => (a.endpointId === b.endpointId ? a.at - b.at : a.endpointId < b.endpointId ? -1 : 1));
}

export function startOf(at: number, minutes: number): number {
  return at - (at % (minutes * MINUTE));
}

/** Latency quantile in ms, interpolated within its bucket. Null without exchanges. */
export function quantile({ latencies }: Counts, share: number): number | null {
  const total = latencies.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let before = 0;
  const wanted = share * total;
  for (const [bucket, count] of latencies.entries()) {
    if (count > 0 && before + count >= wanted) {
      const from = LATENCY_BOUNDS[bucket - 1] ?? 0;
      const to = LATENCY_BOUNDS[bucket] ?? LONGEST_MS;
      return Math.round(from + ((to - from) * (wanted - before)) / count);
    }
    before += count;
  }
  throw new Error('a share is at most 1');
}

/** Share of attempts that succeeded, rounded to four decimals. Null without attempts. */
export function successRate({ delivered, failed }: Counts): number | null {
  return delivered + failed === 0 ? null : Math.round((delivered / (delivered + failed)) * 10_000) / 10_000;
}
