import { readFileSync } from 'node:fs';
import { OPERATIONS } from '../../loadtest/k6/scenarios/api.ts';
import { thresholdOf, type Slo } from '../../loadtest/k6/workloads/thresholds.ts';
import { disagreement, findKnee } from '../../loadtest/load/knee.ts';
import { enduranceOf } from '../../loadtest/load/endurance.ts';
import { slopePerMinute, type Sample } from '../../loadtest/load/usage.ts';
import { rowsOf, voidReasons, type Conditions, type Summary } from '../../loadtest/load/verdict.ts';

const slo = JSON.parse(readFileSync(new URL('../../loadtest/slo.json', import.meta.url), 'utf8')) as Slo;

test('every operation has an objective in slo.json, and slo.json has no others', () => {
  expect(Object.keys(slo.load.operations).toSorted()).toEqual(OPERATIONS.toSorted());
  expect(thresholdOf(slo, 'list')).toEqual({ p99: 250, errors: 0.001 });
  expect(thresholdOf(slo, 'add')).toEqual({ p99: 1000, errors: 0.001 });
});

function summary(p99: number, errors: number): Summary {
  const metric = (values: Record<string, number>) => ({ values });
  return {
    state: { testRunDurationMs: 10_000 },
    metrics: {
      'latency{op:list}': metric({ med: 5, 'p(99)': p99 }),
      'errors{op:list}': metric({ rate: errors }),
      'shed{op:list}': metric({ rate: errors / 2 }),
      'answered{op:list}': metric({ count: 950 }),
    },
  };
}

const judged = { slo, asked: { list: 1000 }, seconds: 10, times: true };

test('a row has the target rate, the achieved rate and the latencies, and passes at its threshold', () => {
  expect(rowsOf(summary(250, 0.001), judged)).toEqual([
    { operation: 'list', asked: 100, reached: 95, p50: 5, p99: 250, errors: 0.001, shed: 0.0005, threshold: { p99: 250, errors: 0.001 }, pass: true },
  ]);
});

test.each([
  ['a p99 above it', 250.1, 0],
  ['more errors', 10, 0.0011],
])('fails with %s', (_, p99, errors) => {
  expect(rowsOf(summary(p99, errors), judged)[0]?.pass).toBe(false);
});

test('an operation without an answer fails, and a slow one passes when latency is not judged', () => {
  expect(rowsOf({ ...summary(1, 0), metrics: {} }, judged)[0]).toMatchObject({ reached: 0, pass: false });
  expect(rowsOf(summary(9000, 0), { ...judged, times: false })[0]?.pass).toBe(true);
  expect(rowsOf(summary(1, 0.0001), { ...judged, times: false })[0]?.pass).toBe(false);
});

const GOOD: Conditions = { dropped: 0, generator: 0.8, spin: [0.95, 0.9], others: 0.2, stallP99: 495 };

test('a run under good conditions is not void', () => {
  expect(voidReasons(GOOD)).toEqual([]);
});

test.each<[string, Partial<Conditions>, RegExp]>([
  ['iterations that were dropped', { dropped: 1 }, /1 iterations did not begin/],
  ['a generator at its limit', { generator: 0.81 }, /k6 used 81 % of its core/],
  ['a generator that was not watched', { generator: NaN }, /k6 used/],
  ['a machine that was busy before', { spin: [0.7, 1] }, /the machine is busy: .* got 70 %/],
  ['a machine that was busy afterwards', { spin: [1, 0.89] }, /the machine is busy/],
  ['others beside it', { others: 0.5 }, /others used 50 % of a core/],
  ['a stall that does not show', { stallP99: 12 }, /stood still for 500 ms was measured with a p99 of 12 ms/],
])('%s make it void', (_, changed, reason) => {
  expect(voidReasons({ ...GOOD, ...changed })).toEqual([expect.stringMatching(reason)]);
});

async function search(knee: number, options: { start?: number; most?: number } = {}) {
  const rates: number[] = [];
  const found = await findKnee({
    start: 100,
    most: 10_000,
    within: 0.05,
    ...options,
    trial: async (rate) => (rates.push(rate), { pass: rate <= knee, void: [] }),
  });
  return { found, rates };
}

test.each([7, 99, 100, 101, 640, 2345])('finds the knee of a system that handles %d requests a second to within five percent, in few trials', async (knee) => {
  const { found, rates } = await search(knee);
  expect(found).toBeLessThanOrEqual(knee);
  expect(found).toBeGreaterThanOrEqual(knee * 0.95);
  expect(rates.length).toBeLessThan(22);
  expect(new Set(rates).size).toBeLessThan(14);
});

test('a rate that failed once and passed when repeated does not end the search below it', async () => {
  const asked = new Map<number, number>();
  const found = await findKnee({
    start: 100,
    most: 10_000,
    within: 0.05,
    trial: async (rate) => {
      asked.set(rate, (asked.get(rate) ?? 0) + 1);
      return { pass: rate <= 640 && asked.get(rate) === 2, void: [] };
    },
  });
  expect(found).toBeGreaterThanOrEqual(640 * 0.95);
});

test('the search never exceeds the maximum rate', async () => {
  expect((await search(Infinity, { most: 300 })).found).toBe(300);
});

test('a void trial is repeated, and three void trials end the search without a result', async () => {
  let trials = 0;
  const found = await findKnee({ start: 50, most: 50, within: 0.1, trial: async () => ({ pass: true, void: ++trials < 3 ? ['busy'] : [] }) });
  expect([found, trials]).toEqual([50, 3]);
  await expect(findKnee({ start: 50, most: 50, within: 0.1, trial: async () => ({ pass: true, void: ['busy'] }) })).rejects.toThrow(
    /at 50 requests a second every trial was void: busy/,
  );
});

test('reports a system that cannot handle any rate', async () => {
  await expect(search(0)).rejects.toThrow(/not even one request a second/);
});

test('the difference of two results is relative to the larger', () => {
  expect(disagreement(90, 100)).toBeCloseTo(0.1);
  expect(disagreement(100, 90)).toBeCloseTo(0.1);
});

test('the slope of memory ignores the warm-up', () => {
  const samples = Array.from(
    { length: 120 },
    (_, at): Sample => ({ at, cpu: {}, files: {}, others: 0, memory: { gateway: at < 60 ? 100 + at : 160 + (at - 60) / 60 } }),
  );
  expect(slopePerMinute(samples, ({ memory }) => memory['gateway']!, 60)).toBeCloseTo(1);
  expect(slopePerMinute(samples.slice(0, 60), ({ memory }) => memory['gateway']!)).toBeCloseTo(60);
});

describe('a soak', () => {
  const soaked = (memory: (at: number) => number, files: (at: number) => number, [early, late]: [number, number]) =>
    enduranceOf(
      Array.from(
        { length: 1200 },
        (_, at): Sample => ({ at, cpu: {}, others: 0, memory: { gateway: memory(at), k6: 10 * at }, files: { gateway: files(at), k6: at } }),
      ),
      { metrics: { latency_early: { values: { 'p(99)': early } }, latency_late: { values: { 'p(99)': late } } } },
    );

  test('passes when memory and files are stable after a quarter of it, whatever the load generator does', () => {
    const { memory, files, slower, faults } = soaked(
      (at) => Math.min(at, 250),
      () => 60,
      [20, 23],
    );
    expect(memory['gateway']).toBeCloseTo(0);
    expect([files['gateway'], slower, faults]).toEqual([0, 1.15, []]);
  });

  test.each<[string, Parameters<typeof soaked>, RegExp]>([
    ['memory that grows', [(at) => at / 50, () => 60, [20, 20]], /gateway grew by 1.20 MB a minute/],
    ['files that stay open', [() => 100, (at) => at / 20, [20, 20]], /gateway had 44.95 files more open/],
    ['answers that become slower', [() => 100, () => 60, [20, 25]], /1.25 times that of the first/],
    ['answers without times', [() => 100, () => 60, [NaN, 25]], /NaN times/],
  ])('fails for %s', (_, given, fault) => {
    expect(soaked(...given).faults).toEqual([expect.stringMatching(fault)]);
  });
});
