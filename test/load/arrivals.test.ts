// When iterations should begin; waiting is counted from these times.
import { arrivalsOf, countOf, dueMs, executorOf, secondsOf, type Arrivals } from '../../loadtest/k6/workloads/arrivals.ts';
import { TESTS, askedOf, durationOf, planOf, requestsAt } from '../../loadtest/k6/workloads/plan.ts';

const STEADY: Arrivals = { from: 50, stages: [{ seconds: 10, to: 50 }] };
const RAMP: Arrivals = {
  from: 0,
  stages: [
    { seconds: 10, to: 100 },
    { seconds: 10, to: 100 },
    { seconds: 5, to: 0 },
  ],
};

test('at a constant rate iterations are due at even intervals, the first at once', () => {
  expect([0, 1, 250].map((number) => dueMs(STEADY, number))).toEqual([0, 20, 5000]);
  expect(dueMs(STEADY, 501)).toBeUndefined();
});

test('on a ramp the number of due iterations is the area under it', () => {
  // 500 in the first ten seconds, 1,000 in the next, 250 in the last.
  expect(countOf(RAMP)).toBe(1750);
  expect(dueMs(RAMP, 499)).toBeCloseTo(10_000);
  expect(dueMs(RAMP, 124)).toBeCloseTo(5000);
  expect(dueMs(RAMP, 999)).toBeCloseTo(15_000);
  expect(dueMs(RAMP, 1749)).toBeCloseTo(25_000);
  expect(dueMs(RAMP, 1750)).toBeUndefined();
});

test('a run that ends early has the number due by then', () => {
  expect(countOf(RAMP, 5)).toBe(125);
  expect(countOf(RAMP, 22.5)).toBe(500 + 1000 + 187.5);
});

test('no iteration is due before the first one', () => {
  for (const { profile, rate, seconds } of Object.values(TESTS)) {
    const arrivals = arrivalsOf(profile, rate, seconds);
    const due = Array.from({ length: Math.floor(countOf(arrivals)) }, (_, number) => dueMs(arrivals, number) ?? Infinity);
    expect(due.every((at, index) => index === 0 || at >= (due[index - 1] as number))).toBe(true);
    expect(due.at(-1)).toBeLessThanOrEqual(1000 * secondsOf(arrivals) + 1e-6);
  }
});

test('an iteration of a rare scenario is due when k6 begins it, however long a run lasts', () => {
  const arrivals = arrivalsOf(TESTS.soak.profile, 0.384, 1200);
  const { rate, timeUnit } = executorOf(arrivals) as { rate: number; timeUnit: string };
  const last = Math.floor(countOf(arrivals)) - 1;
  expect(dueMs(arrivals, last)).toBeCloseTo((1000 * last * parseInt(timeUnit, 10)) / rate);
});

test('k6 runs an open model: rates, never workers in a loop', () => {
  expect(executorOf(STEADY)).toMatchObject({ executor: 'constant-arrival-rate', rate: 5000, timeUnit: '100s', duration: '10s' });
  expect(executorOf(RAMP)).toMatchObject({
    executor: 'ramping-arrival-rate',
    stages: [{ target: 10_000, duration: '10000ms' }, { target: 10_000 }, { target: 1 }],
  });
});

const ALL = { huge: true, empty: true, userToken: true };

test('a plan sends the given number of requests a second, however many each iteration sends', () => {
  const plan = planOf({ test: 'average', rate: 200, seconds: 30, has: ALL });
  const asked = Object.values(askedOf(plan)).reduce((sum, count) => sum + count, 0);
  expect(asked / durationOf(plan)).toBeCloseTo(200);
});

test('a threshold that is crossed ends the search at the rate of the last second', () => {
  const plan = planOf({ test: 'breakpoint', rate: 400, seconds: 100, has: ALL });
  expect(requestsAt(plan, 50)).toBeCloseTo(400 * (0.05 + 0.95 * 0.495), 0);
});

test('scenarios without credentials are left out, and the others take over their requests', () => {
  const plan = planOf({ test: 'average', rate: 100, seconds: 10, has: { huge: false, empty: false, userToken: false } });
  expect(Object.keys(plan)).toEqual(['list', 'detail', 'filter', 'report', 'write']);
  expect(Object.values(askedOf(plan)).reduce((sum, count) => sum + count, 0)).toBeCloseTo(1000, 0);
  expect(() => planOf({ test: 'average', only: ['list_huge'], has: { huge: false, empty: true, userToken: true } })).toThrow(/None of the scenarios can run/);
});
