import { countAttempts, gathered, noCounts, quantile, startOf, successRate, type CountedAttempt, type Counts } from '../src/webhooks/health/counts.ts';

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const attempt = (fields: Partial<CountedAttempt> = {}): CountedAttempt => ({
  companyId: 'c',
  endpointId: 'e',
  startedAt: 0,
  endedAt: 0,
  succeeded: true,
  timed: true,
  ...fields,
});
const withLatencies = (of: Record<number, number>): Counts => ({ ...noCounts(), latencies: noCounts().latencies.map((_, index) => of[index] ?? 0) });
const bucketsOf = ({ latencies }: Counts): number[][] => latencies.flatMap((count, index) => (count === 0 ? [] : [[index, count]]));

test.each([
  [0, 0],
  [4999, 0],
  [5000, 1],
  [13_999_999, 19],
  [14_000_000, 20],
  [99_000_000, 20],
])('counts an exchange that took %i µs in the latency bucket %i', (endedAt, bucket) => {
  expect(bucketsOf(countAttempts([attempt({ endedAt })], endedAt)[0]!)).toEqual([[bucket, 1]]);
});

test('counts successes and failures by endpoint and minute of their end, in the order of endpoints and minutes', () => {
  const rows = countAttempts(
    [
      attempt({ endpointId: 'f', endedAt: 1 }),
      attempt({ startedAt: MINUTE, endedAt: MINUTE }),
      attempt({ endedAt: MINUTE - 1, succeeded: false }),
      attempt({ endedAt: 7 }),
      attempt({ endedAt: 3, succeeded: false, timed: false }),
    ],
    MINUTE,
  );
  expect(rows.map(({ endpointId, at, minutes, delivered, failed, lastSuccessAt }) => [endpointId, at, minutes, delivered, failed, lastSuccessAt])).toEqual([
    ['e', 0, 1, 1, 2, 7],
    ['e', MINUTE, 1, 1, 0, MINUTE],
    ['f', 0, 1, 1, 0, 1],
  ]);
  expect(rows.map(bucketsOf)).toEqual([
    [
      [0, 1],
      [20, 1],
    ],
    [[0, 1]],
    [[0, 1]],
  ]);
});

test.each([['abc'], ['acb'], ['bac'], ['bca'], ['cab'], ['cba']])('orders rows of the endpoints %s by endpoint', (endpoints) => {
  const rows = countAttempts(
    [...endpoints].map((endpointId) => attempt({ endpointId })),
    0,
  );
  expect(rows.map(({ endpointId }) => endpointId).join('')).toBe('abc');
});

test('counts an attempt that ends after now as one that ends now', () => {
  expect(countAttempts([attempt({ endedAt: 5 * MINUTE })], MINUTE + 1)[0]).toMatchObject({ at: MINUTE, lastSuccessAt: MINUTE + 1 });
});

test('keeps periods of different lengths separate, and the latest success of those it adds up', () => {
  const row = (minutes: 1 | 15, lastSuccessAt: number | null) => ({ ...noCounts(), companyId: 'c', endpointId: 'e', at: 0, minutes, lastSuccessAt });
  const rows = gathered([row(1, 9), row(15, null), row(1, 4), row(1, null), row(15, null)]);
  expect(rows.map(({ minutes, lastSuccessAt }) => [minutes, lastSuccessAt])).toEqual([
    [1, 9],
    [15, null],
  ]);
});

test.each([
  [15, 15 * MINUTE - 1, 0],
  [15, 15 * MINUTE, 15 * MINUTE],
  [60, 90 * MINUTE, 60 * MINUTE],
])('begins the period of %i min that contains %i µs at %i µs', (minutes, at, start) => {
  expect(startOf(at, minutes)).toBe(start);
});

test.each([
  [{}, 0.5, null],
  [{ 0: 4 }, 0.5, 3],
  [{ 0: 4 }, 1, 5],
  [{ 1: 1 }, 0.5, 8],
  // Half of the exchanges took less than 5 ms.
  [{ 0: 1, 4: 1 }, 0.5, 5],
  [{ 0: 1, 4: 3 }, 0.5, 37],
  [{ 0: 95, 20: 5 }, 0.95, 5],
  [{ 0: 90, 20: 10 }, 0.95, 14_500],
  [{ 20: 2 }, 1, 15_000],
  [{ 4: 1 }, 0, 30],
])('interpolates within the bucket: of the exchanges %j, the share %p took at most %p ms', (of, share, ms) => {
  expect(quantile(withLatencies(of), share)).toBe(ms);
});

test('refuses a share above 1', () => {
  expect(() => quantile(withLatencies({ 0: 1 }), 1.01)).toThrow('at most 1');
});

test.each([
  [0, 0, null],
  [0, 3, 0],
  [3, 0, 1],
  [2, 1, 0.6667],
  [2, 2, 0.5],
])('after %i deliveries and %i failures, shows the success rate %p', (delivered, failed, rate) => {
  expect(successRate({ ...noCounts(), delivered, failed })).toBe(rate);
});
