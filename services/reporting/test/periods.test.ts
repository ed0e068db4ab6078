import { formatDate, parseDate, type BucketName } from '@truckroll/contract';
import fc from 'fast-check';
import { daysIn, partsOf, periodsOf, type Period } from '../src/reports/periods.ts';

const BUCKETS: readonly BucketName[] = ['day', 'week', 'month', 'quarter', 'year'];
const day = (text: string): number => parseDate(text) as number;
const ranges = fc
  .tuple(fc.integer({ min: day('1950-01-01'), max: day('2100-01-01') }), fc.integer({ min: 1, max: 2000 }))
  .map(([start, length]): Period => ({ start, end: start + length }));
const shown = ({ start, end }: Period): [string, string] => [formatDate(start), formatDate(end)];

test('cuts a range of any bucket into periods without gaps, from its first day to its last', () => {
  fc.assert(
    fc.property(ranges, fc.constantFrom(...BUCKETS), (range, bucket) => {
      const periods = [...periodsOf(range, bucket)];
      expect([periods[0]?.start, periods.at(-1)?.end]).toEqual([range.start, range.end]);
      for (const [index, { start, end }] of periods.entries()) {
        expect(end).toBeGreaterThan(start);
        if (index > 0) expect(start).toBe(periods[index - 1]?.end);
      }
    }),
  );
});

test('begins weeks on Monday and quarters in January, April, July and October, and may cut the first and the last period', () => {
  const range = { start: day('2026-01-30'), end: day('2026-02-12') };
  expect([...periodsOf(range, 'week')].map(shown)).toEqual([
    ['2026-01-30', '2026-02-02'],
    ['2026-02-02', '2026-02-09'],
    ['2026-02-09', '2026-02-12'],
  ]);
  expect([...periodsOf({ start: day('2025-11-15'), end: day('2026-05-01') }, 'quarter')].map(shown)).toEqual([
    ['2025-11-15', '2026-01-01'],
    ['2026-01-01', '2026-04-01'],
    ['2026-04-01', '2026-05-01'],
  ]);
  expect([...periodsOf({ start: day('2024-02-28'), end: day('2024-03-01') }, 'day')].map(({ start }) => formatDate(start))).toEqual([
    '2024-02-28',
    '2024-02-29',
  ]);
});

test('reads a period from its whole months and the days around them, each day once', () => {
  fc.assert(
    fc.property(ranges, (range) => {
      const { months, days } = partsOf(range);
      const months31 = months.map((start): Period => ({ start, end: [...periodsOf({ start, end: start + 40 }, 'month')][0]?.end as number }));
      const covered = [...months31, ...days].toSorted((a, b) => a.start - b.start).flatMap(daysIn);
      expect(covered).toEqual(daysIn(range));
      for (const start of months) expect(formatDate(start)).toMatch(/-01$/);
    }),
  );
});
