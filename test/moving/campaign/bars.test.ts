import { judge } from './bars.ts';

const MET = {
  pause_median_ms: 150,
  pause_worst_ms: 500,
  gap_worst_ms_with_kills: 10_000,
  others_times_copying: 1.3,
  others_lag_ms_copying: 2000,
  writes_lost: 0,
  webhooks_lost: 0,
  gone_410: 0,
  reads_shed_percent: 5,
};

test.each([
  ['a figure at its bar', {}, 1, []],
  ['a figure above it', { pause_median_ms: 151 }, 1, ['pause_median_ms: 151 [at most 150, missed]']],
  ['no number', { reads_shed_percent: Number.NaN }, 1, ['reads_shed_percent: NaN [at most 5, missed]']],
  ['what was not measured', { gone_410: undefined }, 0, ['gone_410: not measured [at most 0, missed]']],
  ['kills without a figure', { gap_worst_ms_with_kills: undefined }, 1, ['gap_worst_ms_with_kills: not measured [at most 10000, missed]']],
  ['no kills', { gap_worst_ms_with_kills: undefined }, 0, []],
])('judges %s', (_, change, kills, expected) => {
  const { lines, missed } = judge({ ...MET, ...change } as Partial<typeof MET>, kills);
  expect([lines.length, lines.filter((line) => line.endsWith('missed]')), missed]).toEqual([9, expected, expected.length]);
});
