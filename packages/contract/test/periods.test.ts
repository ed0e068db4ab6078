import { BUCKETS, countPeriods, periodNumber, type BucketName } from '../src/periods.ts';
import { parseDate } from '../src/time.ts';

const day = (date: string): number => parseDate(date)!;

describe('the period of a day', () => {
  test.each<[BucketName, string]>([
    ['day', '2026-03-05'],
    ['week', '2026-03-09'],
    ['week', '1969-12-29'],
    ['month', '2026-03-01'],
    ['month', '1969-12-01'],
    ['quarter', '2026-04-01'],
    ['quarter', '2026-01-01'],
    ['year', '2026-01-01'],
    ['year', '1900-01-01'],
  ])('a new %s begins on %s', (bucket, date) => {
    expect(periodNumber(day(date), bucket)).toBe(periodNumber(day(date) - 1, bucket) + 1);
  });

  test.each<[BucketName, string, string]>([
    ['week', '2026-03-09', '2026-03-15'],
    ['week', '1969-12-29', '1970-01-04'],
    ['month', '2024-02-01', '2024-02-29'],
    ['quarter', '2026-01-01', '2026-03-31'],
    ['quarter', '2026-10-01', '2026-12-31'],
    ['year', '2026-01-01', '2026-12-31'],
  ])('a %s lasts from %s to %s', (bucket, first, last) => {
    expect(periodNumber(day(last), bucket)).toBe(periodNumber(day(first), bucket));
  });
});

describe('the number of periods of a range', () => {
  test.each<[string, string, BucketName, number]>([
    ['2026-03-05', '2026-03-06', 'day', 1],
    ['2026-03-05', '2026-03-12', 'day', 7],
    ['2026-03-08', '2026-03-10', 'week', 2],
    ['2026-03-09', '2026-03-16', 'week', 1],
    ['2026-01-31', '2026-02-02', 'month', 2],
    ['2026-01-01', '2026-02-01', 'month', 1],
    ['2026-03-31', '2026-04-02', 'quarter', 2],
    ['2025-01-01', '2027-01-01', 'year', 2],
    ['2025-12-31', '2026-01-02', 'year', 2],
  ])('from %s to before %s, by %s, is %i', (start, end, bucket, count) => {
    expect(countPeriods(day(start), day(end), bucket)).toBe(count);
  });

  test.each(BUCKETS)('is 0 for an empty range, by %s', (bucket) => {
    expect(countPeriods(day('2026-03-31'), day('2026-03-31'), bucket)).toBe(0);
    expect(countPeriods(day('2026-04-01'), day('2026-03-31'), bucket)).toBe(0);
  });
});

test('lists the buckets from the finest to the coarsest', () => {
  const [start, end] = [day('2020-01-01'), day('2030-01-01')];
  const counts = BUCKETS.map((bucket) => countPeriods(start, end, bucket));
  expect(counts).toEqual([3653, 523, 120, 40, 10]);
});
