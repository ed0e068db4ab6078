import { rowsOf, verdictOf } from '../../loadtest/against/compare.ts';
import { exitCodeOf, ratioOf } from '../../loadtest/measure/paired.ts';

test('the ratio is the middle of the pairs, whatever one odd pair says', () => {
  expect(ratioOf([0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 50]).ratio).toBeCloseTo(0.9, 10);
  expect(ratioOf([0.5, 2]).ratio).toBeCloseTo(1, 10);
});

// Tables of the signed rank test have the critical sums 0, 2, 5 and 10 for one side and 5 %; the bound is the mean after those.
test.each([
  [5, 1],
  [6, 3],
  [8, 6],
  [10, 11],
])('of %i pairs, the bounds are the %ith means from either end', (pairs, rank) => {
  const logs = Array.from({ length: pairs }, (_, i) => Math.log(1 + i ** 2 / 100));
  const means = logs.flatMap((one, i) => logs.slice(i).map((other) => (one + other) / 2)).toSorted((a, b) => a - b);
  const { low, high } = ratioOf(logs.map(Math.exp));
  expect(low).toBeCloseTo(Math.exp(means.at(rank - 1)!), 10);
  expect(high).toBeCloseTo(Math.exp(means.at(-rank)!), 10);
});

test('with four pairs there are no bounds, because four of four are worse by chance in one of 16 runs', () => {
  expect(ratioOf([0.5, 0.5, 0.5, 0.5])).toMatchObject({ low: 0, high: Infinity });
});

test.each([
  ['a loss for certain', [0.9, 0.92, 0.94, 0.95, 0.96, 0.969], 1],
  ['a loss that is smaller than 3 %', [0.971, 0.972, 0.973, 0.974, 0.975, 0.976], 0],
  ['what may be chance', [0.5, 0.6, 0.7, 0.8, 0.9, 1.5], 0],
  ['a gain', [1.1, 1.2, 1.3, 1.4, 1.5, 1.6], 0],
  ['a loss in too few pairs', [0.5, 0.5, 0.5, 0.5], 0],
])('the exit code after %s', (_, pairs, code) => {
  const gain = ratioOf([2, 2, 2, 2, 2, 2]);
  expect(exitCodeOf([gain, ratioOf(pairs)])).toBe(code);
});

test('every ratio is above 1 if the new side is better, and only throughput and all CPU time are judged', () => {
  const round = (factor: number) => ({ operations: 10, perSecond: 100 / factor, p50: 8 * factor, cpu: { gateway: 2 * factor, PostgreSQL: factor, Redis: 0 } });
  const rows = rowsOf({ before: [round(1), round(1), round(1)], after: [round(0.5), round(0.5), round(0.5)] });
  expect(rows.map(({ figure, before, after, judged }) => [figure, before, after, judged])).toEqual([
    ['a second', 100, 200, true],
    ['median ms', 8, 4, false],
    ['CPU ms each', 3, 1.5, true],
    ['CPU ms each: gateway', 2, 1, false],
    ['CPU ms each: PostgreSQL', 1, 0.5, false],
  ]);
  for (const { ratio } of rows) expect(ratio.ratio).toBeCloseTo(2, 10);
});

test('a load without a rate is judged by its CPU time alone', () => {
  const rounds = [{ operations: 10, cpu: { gateway: 2 } }];
  expect(rowsOf({ before: rounds, after: rounds }).flatMap(({ figure, judged }) => (judged ? [figure] : []))).toEqual(['CPU ms each']);
});

test.each([
  ['a certain loss', [0.9, 0.92, 0.94, 0.95, 0.96], 0, ['Worse for certain (at most below 0.97): a second.']],
  ['no certain loss', [0.9, 0.92, 0.94, 0.95, 1.1], 0.2, ['Nothing that is judged is worse for certain (no at most is below 0.97).']],
  ['too few pairs', [0.5, 0.5], 0, ['Fewer than 5 pairs have no bounds, so nothing is certain.']],
  [
    'a busy machine',
    [1, 1, 1, 1, 1],
    0.21,
    [
      'Nothing that is judged is worse for certain (no at most is below 0.97).',
      'Other processes used 0.21 of a core at the same time, more than 0.2: repeat this on a quiet machine.',
    ],
  ],
])('the verdict after %s', (_, pairs, others, lines) => {
  const rows = [
    { figure: 'a second', before: 1, after: 1, ratio: ratioOf(pairs), judged: true },
    { figure: 'median ms', before: 1, after: 1, ratio: ratioOf([0.5, 0.5, 0.5, 0.5, 0.5]), judged: false },
  ];
  expect(verdictOf({ rows, others }).trimEnd().split('\n')).toEqual(lines);
});
