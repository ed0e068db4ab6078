import { formatDate, parseDate, type BucketName } from '@truckroll/contract';
import fc from 'fast-check';
import { dateOf, daysIn, partsOf, periodsOf, type Period } from '../src/reports/periods.ts';

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

test.each<[BucketName, string, string[]]>([
  ['day', '2026-12-31', ['2026-12-31', '2027-01-01', '2027-01-02']],
  // A Sunday, a Monday and a Tuesday.
  ['week', '2026-03-01', ['2026-03-01', '2026-03-02', '2026-03-09']],
  ['week', '2026-03-02', ['2026-03-02', '2026-03-09', '2026-03-16']],
  ['week', '2026-03-03', ['2026-03-03', '2026-03-09', '2026-03-16']],
  ['month', '2023-12-31', ['2023-12-31', '2024-01-01', '2024-02-01', '2024-03-01', '2024-04-01']],
  ['quarter', '2026-03-31', ['2026-03-31', '2026-04-01', '2026-07-01', '2026-10-01', '2027-01-01']],
  ['quarter', '2026-04-01', ['2026-04-01', '2026-07-01']],
  ['year', '2023-12-31', ['2023-12-31', '2024-01-01', '2025-01-01']],
  ['year', '0099-05-01', ['0099-05-01', '0100-01-01', '0101-01-01']],
])('begins the first periods of each %s from %s on %j', (bucket, from, starts) => {
  const found: string[] = [];
  for (const { start } of periodsOf({ start: day(from), end: Infinity }, bucket)) if (found.push(formatDate(start)) === starts.length) break;
  expect(found).toEqual(starts);
});

test('resumes at a given period, and ends at the end of the range', () => {
  const range = { start: day('2026-01-15'), end: day('2026-04-01') };
  const from = (text: string) => [...periodsOf(range, 'month', day(text))].map(shown);
  expect(from('2026-02-01')).toEqual([
    ['2026-02-01', '2026-03-01'],
    ['2026-03-01', '2026-04-01'],
  ]);
  expect(from('2026-04-01')).toEqual([]);
});

test('ends the last period of the year 9999 with the range, although no month follows', () => {
  const range = { start: day('9999-11-30'), end: day('9999-12-31') };
  expect([...periodsOf(range, 'month')].map(shown)).toEqual([
    ['9999-11-30', '9999-12-01'],
    ['9999-12-01', '9999-12-31'],
  ]);
  expect([...periodsOf(range, 'year')].map(shown)).toEqual([['9999-11-30', '9999-12-31']]);
});

test.each<[string, string, string[], [string, string][]]>([
  ['2026-02-01', '2026-04-01', ['2026-02-01', '2026-03-01'], []],
  ['2026-02-01', '2026-02-28', [], [['2026-02-01', '2026-02-28']]],
  ['2026-02-02', '2026-03-01', [], [['2026-02-02', '2026-03-01']]],
  [
    '2026-01-31',
    '2026-04-02',
    ['2026-02-01', '2026-03-01'],
    [
      ['2026-01-31', '2026-02-01'],
      ['2026-04-01', '2026-04-02'],
    ],
  ],
  ['2026-01-10', '2026-01-20', [], [['2026-01-10', '2026-01-20']]],
  ['2026-01-10', '2026-01-10', [], []],
])('reads the days from %s to before %s from the months %j and the days %j', (start, end, months, days) => {
  const parts = partsOf({ start: day(start), end: day(end) });
  expect([parts.months.map(formatDate), parts.days.map(shown)]).toEqual([months, days]);
});

test('lists the days of a period without the day at its end', () => {
  expect(daysIn({ start: day('2024-02-28'), end: day('2024-03-01') }).map(dateOf)).toEqual(['2024-02-28', '2024-02-29']);
  expect(daysIn({ start: 3, end: 3 })).toEqual([]);
});
