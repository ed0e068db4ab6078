// Computations of the console's reports, without a browser.
import fc from 'fast-check';
import { newestOf } from '../../gateway/console/src/api/newest.ts';
import { dollars } from '../../gateway/console/src/parts/money.ts';
import { bar, scaleAround } from '../../gateway/console/src/parts/plot.ts';
import { BUCKETS, addDays, bucketsOf, previousOf, rangeOf } from '../../gateway/console/src/screens/reports/calendar.ts';
import { addUp, marginOf, reportNamed } from '../../gateway/console/src/screens/reports/definitions.ts';
import { periodsOf } from '../reports/oracle/dates.ts';

const day = fc.integer({ min: 0, max: 40_000 }).map((days) => addDays('1950-01-01', days));
const range = fc.tuple(day, fc.integer({ min: 1, max: 800 })).map(([start, days]) => ({ start, end: addDays(start, days) }));

test('divides a range into the periods that the reports have', () => {
  fc.assert(
    fc.property(range, fc.constantFrom(...BUCKETS), (of, bucket) => {
      expect(bucketsOf(of, bucket).map(({ start, end }) => [start, end])).toEqual(periodsOf(of.start, of.end, bucket));
    }),
  );
});

test.each([
  ['month', '2026-11-25', '2026-11-01', '2026-11-26', '2026-10-01', '2026-10-26'],
  ['month', '2026-03-31', '2026-03-01', '2026-04-01', '2026-02-01', '2026-03-01'],
  ['month', '2026-03-30', '2026-03-01', '2026-03-31', '2026-02-01', '2026-03-01'],
  ['last-month', '2026-01-15', '2025-12-01', '2026-01-01', '2025-11-01', '2025-12-01'],
  ['quarter', '2026-08-09', '2026-07-01', '2026-08-10', '2026-04-01', '2026-05-10'],
  ['year', '2024-02-29', '2024-01-01', '2024-03-01', '2023-01-01', '2023-03-01'],
] as const)('on %2$s, the period “%1$s” and the one before it have comparable days', (period, today, start, end, before, until) => {
  expect(rangeOf(period, today)).toEqual({ start, end });
  expect(previousOf({ start, end }, period)).toEqual({ start: before, end: until });
});

test('compares whole months with as many before them, and other days with as many before', () => {
  expect(previousOf({ start: '2026-01-01', end: '2026-04-01' }, 'custom')).toEqual({ start: '2025-10-01', end: '2026-01-01' });
  expect(previousOf({ start: '2026-03-03', end: '2026-03-10' }, 'custom')).toEqual({ start: '2026-02-24', end: '2026-03-03' });
});

test('writes every amount of cents in dollars exactly', () => {
  expect([0, 5, -5, 123_405, -100, 9_007_199_254_740_991].map(dollars)).toEqual(['$0.00', '$0.05', '−$0.05', '$1,234.05', '−$1.00', '$90,071,992,547,409.91']);
});

test('rounds averages and margins as the API does: halves upward, also below zero', () => {
  const activity = reportNamed('invoice-activity')!.measures;
  const row = (total: number, count: number) => ({
    invoice_count: count,
    subtotal_cents: 0,
    discount_cents: 0,
    discounted_subtotal_cents: 0,
    tax_cents: 0,
    total_cents: total,
  });
  expect([row(5, 2), row(-5, 2), row(-7, 3), row(0, 0)].map((of) => addUp([of], activity)['average_total_cents'])).toEqual([3, -2, -2, null]);
  expect([marginOf(1950, 6000), marginOf(-1, 20_000), marginOf(1, 20_000), marginOf(1, -20_000), marginOf(-4500, 0)]).toEqual([0.325, 0, 0.0001, null, null]);
});

test('draws bars around zero, and keeps small ones visible', () => {
  const scale = scaleAround([100, -50]);
  expect([scale.lines, scale.at(0)]).toEqual([[100, 50, 0, -50], 66.67]);
  expect([bar(0, 100, scale), bar(1, -50, scale), bar(2, 0.1, scale), bar(3, 0, scale)]).toEqual([
    'M1 66.67h8v-66.67h-8z',
    'M11 66.67h8v33.33h-8z',
    'M21 66.67h8v-1h-8z',
    '',
  ]);
  expect(scaleAround([0, 0]).lines).toEqual([1, 0]);
});

test('a scale has three or four lines on steps of 1, 2, 2.5 and 5, and half a record is none of them', () => {
  expect([7, 60, 101, 740].map((most) => scaleAround([most]).lines)).toEqual([
    [10, 5, 0],
    [60, 40, 20, 0],
    [150, 100, 50, 0],
    [750, 500, 250, 0],
  ]);
  expect(scaleAround([0.48], { shares: true }).lines).toEqual([0.6, 0.4, 0.2, 0]);
});

const MINUTE_MS = 60_000;
const DAYS = 24 * 60;

test.each([
  ['12,000 within one working day', 12_000, 0, 8 * 60, 55],
  ['12,000 within ten minutes', 12_000, 0, 10, 105],
  ['12,000 within ten minutes, a month ago', 12_000, 30 * DAYS, 10, 150],
  ['200 a day, but none for 30 days', 12_000, 30 * DAYS, 60 * DAYS, 45],
  ['12,000 within one day, and none for 21 days', 12_000, 21 * DAYS, DAYS, 85],
  ['5,000 at the same time', 5000, 7 * DAYS, 0, 160],
  ['1,200 within three years', 1200, 0, 1095 * DAYS, 15],
])('finds the newest 1,000 records of %s, without reading many more', async (_, count, until, minutes, pages) => {
  const now = Date.now();
  const times = Array.from({ length: count }, (__, n) => now - (until + 1 + minutes * (1 - n / count)) * MINUTE_MS);
  let read = 0;
  const found = await newestOf(
    async (start, end = Infinity, limit) => {
      const all = times.filter((at) => at >= start && at < end);
      const records = all.slice(0, Math.ceil(limit / 100) * 100);
      read += Math.max(1, records.length / 100);
      return { records, more: records.length < all.length };
    },
    times[0]!,
    1000,
  );
  expect(found).toEqual({ records: times.slice(-1000), more: true });
  expect(read).toBeLessThanOrEqual(pages);
});

test('gives up on more than 10,000 records of nearly the same time', async () => {
  const read = async (start: number) => ({ records: [], more: start < 0 });
  await expect(newestOf(read, -1, 1000)).rejects.toMatchObject({ code: 'TOO_MANY_ROWS' });
});
