import { judge } from './bars.ts';

test('names what misses its bar, and what was not measured', () => {
  const { lines, missed } = judge({ pause_median_ms: 151, pause_worst_ms: 500, others_times_copying: 1.31, gone_410: 0 });
  expect(missed).toBe(2);
  expect(lines).toEqual(
    expect.arrayContaining([
      'pause_median_ms: 151 [at most 150, missed]',
      'pause_worst_ms: 500 [at most 500]',
      'gap_worst_ms_with_kills: not measured [at most 10000]',
      'others_times_copying: 1.31 [at most 1.3, missed]',
      'gone_410: 0 [at most 0]',
    ]),
  );
});
