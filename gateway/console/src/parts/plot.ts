// Outlines of charts: a bucket is 10 wide, the whole is 100 high, and y is 0 at the top, as in SVG.
import type { Bucket } from '../api/types.ts';

const WIDTH = 10;
const GAP = 1;
/** Minimum height of a bar that is not empty, so that it stays visible next to tall ones. */
const LEAST = 3;

const round = (value: number): number => Math.round(value * 100) / 100;

/** Bars of delivered attempts, with bars of failed ones on top. */
export function stackedBars(buckets: readonly Bucket[], most: number): { delivered: string; failed: string } {
  const outline = { delivered: '', failed: '' };
  const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(LEAST, (count / most) * 100));
  buckets.forEach((bucket, index) => {
    const failed = heightOf(bucket.failed);
    const delivered = Math.min(heightOf(bucket.delivered), 100 - failed);
    const bar = (base: number, height: number): string =>
      height === 0 ? '' : `M${index * WIDTH + GAP} ${round(base)}h${WIDTH - 2 * GAP}v${round(-height)}h${2 * GAP - WIDTH}z`;
    outline.delivered += bar(100, delivered);
    outline.failed += bar(100 - delivered, failed);
  });
  return outline;
}

/** A line through the values, with gaps for missing ones; a value between two gaps is a dot. */
export function line(values: readonly (number | null)[], most: number): string {
  let path = '';
  values.forEach((value, index) => {
    if (value === null) return;
    const [x, y] = [index * WIDTH + WIDTH / 2, round(100 - (value / most) * 100)];
    const alone = (values[index - 1] ?? null) === null;
    path += alone ? `M${x} ${y}h0.01` : `L${x} ${y}`;
  });
  return path;
}

/** The next round number: 1, 2 or 5 followed by zeros. */
export function scaleTo(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value)!;
}

/** A scale around zero: the values of its lines, highest first, and where a value is between 0 (top) and 100. */
export interface Scale {
  readonly lines: readonly number[];
  at(value: number): number;
}

const STEPS = [1, 2, 2.5, 5, 10];
const MOST_STEPS = 3;

/** Has three or four lines, or one more around zero. Values are integers, except shares. */
export function scaleAround(values: readonly number[], { shares = false } = {}): Scale {
  const [most, least] = [Math.max(0, ...values), Math.min(0, ...values)];
  const span = most - least || 1;
  const power = 10 ** Math.floor(Math.log10(span / MOST_STEPS));
  const step = STEPS.map((of) => of * power).find((of) => of >= span / MOST_STEPS && (shares || Number.isInteger(of)))!;
  const [first, last] = [Math.ceil(most / step) || Number(least === 0), Math.floor(least / step)];
  const lines = Array.from({ length: first - last + 1 }, (_, n) => Number(((first - n) * step).toPrecision(12)));
  const [top, bottom] = [first * step, last * step];
  return { lines, at: (value) => round(((top - value) / (top - bottom)) * 100) };
}

/** A bar from zero to the value. A small one stays visible. */
export function bar(index: number, value: number, scale: Scale): string {
  if (value === 0) return '';
  const zero = scale.at(0);
  const height = scale.at(value) - zero;
  return `M${index * WIDTH + GAP} ${zero}h${WIDTH - 2 * GAP}v${round(Math.sign(height) * Math.max(Math.abs(height), 1))}h${2 * GAP - WIDTH}z`;
}
