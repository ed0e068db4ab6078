// Turns k6's metrics into a row for each operation, and decides whether the run is void.
import type { Operation } from '../k6/scenarios/api.ts';
import { thresholdOf, type Slo, type Threshold } from '../k6/workloads/thresholds.ts';
import type { Latency } from '../measure/latency.ts';

/** The used part of the data that k6 passes to handleSummary. */
export interface Summary {
  readonly metrics: Readonly<Record<string, { readonly values: Readonly<Record<string, number>> }>>;
  readonly state: { readonly testRunDurationMs: number };
}

/** The latency is that of successful answers, from the scheduled time. */
export interface Row extends Latency {
  readonly operation: string;
  /** Requests a second. */
  readonly asked: number;
  readonly reached: number;
  /** Shares of all requests: `shed` is a part of `errors`. */
  readonly errors: number;
  readonly shed: number;
  readonly threshold: Threshold;
  readonly pass: boolean;
}

interface Judged {
  readonly slo: Slo;
  readonly asked: Readonly<Partial<Record<Operation, number>>>;
  readonly seconds: number;
  readonly times: boolean;
}

export function rowsOf(summary: Summary, { slo, asked, seconds, times }: Judged): Row[] {
  return (Object.entries(asked) as [Operation, number][]).map(([operation, count]) => {
    const of = (metric: string, value: string): number => summary.metrics[`${metric}{op:${operation}}`]?.values[value] ?? 0;
    const threshold = thresholdOf(slo, operation);
    const [right, errors, shed] = [of('answered', 'count'), of('errors', 'rate'), of('shed', 'rate')];
    const { p50, p99 } = latencyIn(summary, operation);
    // An operation without a successful answer fails.
    const pass = right > 0 && (times ? p99 <= threshold.p99 && errors <= threshold.errors : errors === 0);
    return { operation, asked: count / seconds, reached: right / seconds, p50, p99, errors, shed, threshold, pass };
  });
}

/** NaN if the operation had no successful answer, for which k6 says 0. */
export function latencyIn({ metrics }: Summary, operation: Operation): Latency {
  const { med, 'p(99)': p99 } = metrics[`latency{op:${operation}}`]?.values ?? {};
  return { p50: med || NaN, p99: p99 || NaN };
}

export interface Conditions {
  readonly dropped: number;
  /** Share of its core that k6 used. */
  readonly generator: number;
  /** Smallest share of a core that a busy loop got before the system started. */
  readonly spin: readonly number[];
  /** Cores used by other processes, on average; undefined if the system runs elsewhere. */
  readonly others: number | undefined;
  /** p99 of requests to a server that stalls for half a second, in ms; undefined if it was not checked. */
  readonly stallP99: number | undefined;
}

const MOST_GENERATOR = 0.8;
const LEAST_SPIN = 0.9;
/** Cores that other processes may use: more makes a result doubtful. */
export const MOST_OTHERS = 0.2;
export const STALL_MS = 500;

export function goodput(rows: readonly Row[]): number {
  return rows.reduce((sum, { reached }) => sum + reached, 0);
}

/** Why the run is void; empty if it is not. */
export function voidReasons({ dropped, generator, spin, others, stallP99 }: Conditions): string[] {
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const reasons: string[] = [];
  if (dropped > 0) reasons.push(`${dropped} iterations did not begin when they should: k6 had no worker free`);
  if (!(generator <= MOST_GENERATOR))
    reasons.push(`k6 used ${percent(generator)} of its core, and what it measures is itself beyond ${percent(MOST_GENERATOR)}`);
  const least = Math.min(...spin);
  if (!(least >= LEAST_SPIN))
    reasons.push(`the machine is busy: a process that only computes got ${percent(least)} of a core, less than ${percent(LEAST_SPIN)}`);
  if (others !== undefined && !(others <= MOST_OTHERS)) reasons.push(`others used ${percent(others)} of a core meanwhile, more than ${percent(MOST_OTHERS)}`);
  if (stallP99 !== undefined && !(stallP99 >= STALL_MS * 0.9))
    reasons.push(`a server that stood still for ${STALL_MS} ms was measured with a p99 of ${Math.round(stallP99)} ms`);
  return reasons;
}
