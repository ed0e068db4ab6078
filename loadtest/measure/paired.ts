// How one side compares with the other in pairs of rounds, with bounds that say how sure that is.
import { median } from './turns.ts';

/** How much faster or cheaper the new side is: above 1 is better. */
export interface Ratio {
  readonly ratio: number;
  readonly low: number;
  /** Infinity, and 0 for `low`, if there are too few pairs. */
  readonly high: number;
}

/** A change is a loss if even the upper bound is below this. */
export const LEAST = 0.97;
/** Probability that the true ratio is above `high`, and that it is below `low`. */
const RISK = 0.05;

/**
 * Wilcoxon's bounds for the middle of the logarithms of the pairs' ratios. They assume only that a pair is as likely to be above the middle
 * as the same distance below it, and one odd pair moves them little. The estimate is the median of the means of every two logarithms,
 * a pair with itself included. Each bound leaves out the most extreme means: as many as chance explains in RISK of all runs.
 */
export function ratioOf(pairs: readonly number[]): Ratio {
  const logs = pairs.map(Math.log);
  const means = logs.flatMap((one, i) => logs.slice(i).map((other) => (one + other) / 2)).toSorted((a, b) => a - b);
  const outside = leftOut(pairs.length);
  const bound = (at: number, otherwise: number): number => (outside === 0 ? otherwise : Math.exp(means[at] as number));
  return { ratio: Math.exp(median(means)), low: bound(outside - 1, 0), high: bound(means.length - outside, Infinity) };
}

/** The rank from the end of the mean that is the bound; 0 if chance alone gives any ranks so extreme in more than RISK of all runs. */
function leftOut(pairs: number): number {
  // Signs of `pairs` differences, all equally likely, by the sum of the ranks of the positive ones.
  let ways = [1];
  for (let rank = 1; rank <= pairs; rank++) {
    ways = Array.from({ length: ways.length + rank }, (_, sum) => (ways[sum] ?? 0) + (ways[sum - rank] ?? 0));
  }
  let [sum, share] = [0, 0];
  while ((share += (ways[sum] as number) / 2 ** pairs) <= RISK) sum += 1;
  return sum;
}

/** Whether the new side is worse for certain. */
export function isLoss({ high }: Ratio): boolean {
  return high < LEAST;
}

/** The exit code: 1 if one of the ratios is a loss. */
export function exitCodeOf(judged: readonly Ratio[]): number {
  return judged.some(isLoss) ? 1 : 0;
}
