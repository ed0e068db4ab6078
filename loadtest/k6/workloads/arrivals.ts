// How much, and when: iterations begin by schedule, whatever became of those before.

/** Iterations a second that a stretch of time leads to, evenly from where the one before has ended. */
export interface Stage {
  readonly seconds: number;
  readonly to: number;
}

export interface Arrivals {
  /** Iterations a second at the beginning. */
  readonly from: number;
  readonly stages: readonly Stage[];
}

/** Multiples of a rate over shares of a time. */
export interface Profile {
  readonly from: number;
  readonly stages: readonly (readonly [share: number, to: number])[];
}

export const STEADY: Profile = { from: 1, stages: [[1, 1]] };

/** k6 takes whole numbers: of iterations in so many seconds. */
const UNIT = 100;

/** Of rates that k6 can be told: one that it rounds would begin later and later after what it is held against. */
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

/** Iterations that are to begin within so many seconds, or in all. */
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

/** Iterations a second that are asked for when so many seconds have passed. */
export function rateAt(arrivals: Arrivals, seconds: number): number {
  let rate = arrivals.from;
  let left = seconds;
  for (const stage of arrivals.stages) {
    if (left <= stage.seconds) return rate + ((stage.to - rate) * left) / stage.seconds;
    left -= stage.seconds;
    rate = stage.to;
  }
  return rate;
}

function highest({ from, stages }: Arrivals): number {
  return Math.max(from, ...stages.map(({ to }) => to));
}

/**
 * Milliseconds from the beginning at which iteration `number`, from 0, is to begin. k6 begins the first at once where the
 * rate is constant, else when one iteration's worth of time has passed. Undefined beyond the last.
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

/** Seconds after which a rate that changes by `slope` a second has brought so many. */
function timeFor(count: number, rate: number, slope: number): number {
  if (count === 0) return 0;
  return (2 * count) / (rate + Math.sqrt(Math.max(0, rate * rate + 2 * slope * count)));
}

/** Workers are there where answers take so long; more are made when they are needed, which takes a moment in which iterations are dropped, and the run is void. */
const SLOW_SECONDS = 0.4;
const SLOWEST_SECONDS = 4;
/** Of a scenario that seldom begins: a single slow answer is to hold up none of it. */
const LEAST_WORKERS = 10;

/** A scenario of k6's options, for answers of so many seconds. */
export function executorOf(arrivals: Arrivals, slowSeconds = SLOW_SECONDS): Record<string, unknown> {
  const rates = highest(arrivals);
  const workers = { preAllocatedVUs: Math.ceil(LEAST_WORKERS + rates * slowSeconds), maxVUs: Math.ceil(4 * LEAST_WORKERS + rates * SLOWEST_SECONDS) };
  const shared = { timeUnit: `${UNIT}s`, gracefulStop: '10s', ...workers };
  if (isConstant(arrivals)) return { executor: 'constant-arrival-rate', rate: whole(arrivals.from), duration: `${secondsOf(arrivals)}s`, ...shared };
  const stages = arrivals.stages.map(({ seconds, to }) => ({ duration: `${Math.round(seconds * 1000)}ms`, target: whole(to) }));
  return { executor: 'ramping-arrival-rate', startRate: whole(arrivals.from), stages, ...shared };
}
