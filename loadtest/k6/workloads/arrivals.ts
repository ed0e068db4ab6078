// The schedule of iterations: they start on time, whatever happened to earlier ones.

/** The rate changes linearly from that of the previous stage to `to` iterations a second. */
export interface Stage {
  readonly seconds: number;
  readonly to: number;
}

export interface Arrivals {
  /** Initial rate, in iterations a second. */
  readonly from: number;
  readonly stages: readonly Stage[];
}

/** Rates as multiples of a base rate, over shares of the duration. */
export interface Profile {
  readonly from: number;
  readonly stages: readonly (readonly [share: number, to: number])[];
}

export const during = (share: number, to: number) => [share, to] as const;

/** k6 takes whole numbers only: rates are given as iterations in this many seconds. */
const UNIT = 100;

/** Rounds rates to those that k6 can express. Otherwise k6's own rounding makes iterations drift from the schedule. */
export function arrivalsOf({ from, stages }: Profile, rate: number, seconds: number): Arrivals {
  const rateOf = (multiple: number): number => whole(multiple * rate) / UNIT;
  return { from: rateOf(from), stages: stages.map(([share, to]) => ({ seconds: share * seconds, to: rateOf(to) })) };
}

function whole(rate: number): number {
  return Math.max(1, Math.round(rate * UNIT));
}

function isConstant({ from, stages }: Arrivals): boolean {
  return stages.every(({ to }) => to === from);
}

export function secondsOf({ stages }: Arrivals): number {
  return stages.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Iterations due within `within` seconds, or in total. */
export function countOf(arrivals: Arrivals, within = Infinity): number {
  let rate = arrivals.from;
  let left = within;
  let sum = 0;
  for (const { seconds, to } of arrivals.stages) {
    const lasts = Math.min(seconds, left);
    const reached = rate + ((to - rate) * lasts) / seconds;
    sum += ((rate + reached) / 2) * lasts;
    left -= lasts;
    rate = to;
  }
  return sum;
}

/**
 * Milliseconds from the start at which iteration `number`, counted from 0, is due; undefined after the last. k6 starts the first one
 * immediately at a constant rate, and otherwise one iteration's interval later.
 */
export function dueMs(arrivals: Arrivals, number: number): number | undefined {
  let left = isConstant(arrivals) ? number : number + 1;
  let before = 0;
  let rate = arrivals.from;
  for (const { seconds, to } of arrivals.stages) {
    const count = ((rate + to) / 2) * seconds;
    if (left <= count) return 1000 * (before + timeFor(left, rate, (to - rate) / seconds));
    left -= count;
    before += seconds;
    rate = to;
  }
  return undefined;
}

/** Seconds in which `count` iterations are due at a rate that changes by `slope` a second. */
function timeFor(count: number, rate: number, slope: number): number {
  if (count === 0) return 0;
  return (2 * count) / (rate + Math.sqrt(Math.max(0, rate * rate + 2 * slope * count)));
}

/** Answers up to this many seconds find a free worker. Creating one takes a moment in which k6 drops iterations, which voids the run. */
const SLOW_SECONDS = 0.4;
const SLOWEST_SECONDS = 4;
/** Minimum for a scenario with a low rate, so that a single slow answer does not delay it. */
const LEAST_WORKERS = 10;

/** A k6 executor with enough workers for answers that take `slowSeconds`. */
export function executorOf(arrivals: Arrivals, slowSeconds = SLOW_SECONDS): Record<string, unknown> {
  const highest = Math.max(arrivals.from, ...arrivals.stages.map(({ to }) => to));
  const workers = { preAllocatedVUs: Math.ceil(LEAST_WORKERS + highest * slowSeconds), maxVUs: Math.ceil(4 * LEAST_WORKERS + highest * SLOWEST_SECONDS) };
  const shared = { timeUnit: `${UNIT}s`, gracefulStop: '10s', ...workers };
  if (isConstant(arrivals)) return { executor: 'constant-arrival-rate', rate: whole(arrivals.from), duration: `${secondsOf(arrivals)}s`, ...shared };
  const stages = arrivals.stages.map(({ seconds, to }) => ({ duration: `${Math.round(seconds * 1000)}ms`, target: whole(to) }));
  return { executor: 'ramping-arrival-rate', startRate: whole(arrivals.from), stages, ...shared };
}
