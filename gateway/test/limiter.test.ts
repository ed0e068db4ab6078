// The concurrency limit and its states. Simulated processors share their time between the calls that the limiter lets run.
import { SHED } from '@truckroll/process';
import { Baseline, LEAST_SLOTS, Limiter, MOST_SLOTS, PERIOD_MS, QUEUE, SHARED_WEIGHT, type Call } from '../src/admission/limiter.ts';
import { Processors } from './support/processors.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Companies with a few short requests, and with twice what one processor serves. */
const LIGHT = { rate: 40, ms: 3 };
const FLOOD = { rate: 250, ms: 8, weight: 4 };

function scene(cores = 1) {
  const limiter = new Limiter();
  return { limiter, processors: new Processors(limiter, cores) };
}

/** One processor, a flood and another company, after the limit has adapted. */
async function flooded() {
  const made = scene();
  await made.processors.run(1, { light: LIGHT });
  await made.processors.run(6, { light: LIGHT, flood: FLOOD });
  return made;
}

function enter(limiter: Limiter, company: string, count = 1, weight = 1): (Call | Promise<Call>)[] {
  return Array.from({ length: count }, () => {
    const turn = limiter.enter(company, weight);
    if (turn instanceof Promise) turn.catch(() => undefined);
    return turn;
  });
}

/** Share of the light company's answers that took more than three times their unloaded latency. */
const lateOf = (latencies: readonly number[] = []): number => latencies.filter((ms) => ms > 3 * LIGHT.ms).length / latencies.length;

const begun = (turns: readonly unknown[]): number => turns.filter((turn) => !(turn instanceof Promise)).length;

describe('the open state', () => {
  test('lets as many calls of one company begin as there are slots', () => {
    const { limiter } = scene();
    expect(begun(enter(limiter, 'flood', MOST_SLOTS + 5))).toBe(MOST_SLOTS);
    expect([limiter.state, limiter.limit, limiter.waiting]).toEqual(['open', MOST_SLOTS, 5]);
  });

  test('serves a company as many requests as processors can, however slow that makes them', async () => {
    const { limiter, processors } = scene();
    const { flood } = await processors.run(4, { flood: FLOOD });
    expect(flood?.served).toBeGreaterThan(475);
    expect(limiter.state).toBe('open');
  });

  test('becomes limited as soon as a second company asks', () => {
    const { limiter } = scene();
    void enter(limiter, 'a');
    expect(limiter.state).toBe('open');
    void enter(limiter, 'b');
    expect(limiter.state).toBe('limited');
  });
});

describe('the limited state', () => {
  test('becomes open when the others have been silent for a second', async () => {
    const { limiter, processors } = scene();
    await processors.run(1, { light: LIGHT, other: LIGHT });
    expect(limiter.state).toBe('limited');
    await processors.run(2, { light: LIGHT });
    expect(limiter.state).toBe('open');
  });

  test('keeps the highest limit while no company slows another down', async () => {
    const { limiter, processors } = scene(4);
    await processors.run(2, { light: LIGHT, other: LIGHT });
    expect([limiter.state, limiter.limit]).toEqual(['limited', MOST_SLOTS]);
  });

  test('lowers the limit during a flood until few answers to others are late, and raises it when the load is gone', async () => {
    const { limiter, processors } = scene(4);
    await processors.run(1, { light: LIGHT });
    await processors.run(5, { light: LIGHT, flood: { rate: 2000, ms: 4 } });
    expect(limiter.limit).toBeGreaterThan(4);
    expect(limiter.limit).toBeLessThan(16);
    expect(processors.peak).toBeGreaterThan(MOST_SLOTS);
    const { light } = await processors.run(8, { light: LIGHT, flood: { rate: 2000, ms: 4 } });
    expect(lateOf(light?.latencies)).toBeLessThan(0.04);
    await processors.run(10, { light: LIGHT, flood: { rate: 50, ms: 4 } });
    expect(limiter.limit).toBe(MOST_SLOTS);
  });

  test('ignores the latency of the company that asks for most: it may slow itself down', async () => {
    const { limiter, processors } = scene();
    // The processor serves the light company first, so only calls of the other wait for each other.
    const light = { ...LIGHT, weight: 10_000 };
    await processors.run(1, { light, most: { rate: 20, ms: 4 } });
    const { most } = await processors.run(6, { light, most: { rate: 205, ms: 4 } });
    expect(most!.latencies.reduce((sum, ms) => sum + ms, 0) / most!.latencies.length).toBeGreaterThan(1.5 * 4);
    expect([limiter.state, limiter.limit]).toEqual(['limited', MOST_SLOTS]);
  });

  test('keeps a lowest limit while the other companies ask for more than a tenth, and the processor busy', async () => {
    const { limiter, processors } = scene();
    const companies = { a: { rate: 40, ms: 4 }, b: { rate: 40, ms: 4 }, most: { rate: 420, ms: 4 } };
    await processors.run(4, companies);
    const { a, b, most } = await processors.run(4, companies);
    expect([limiter.state, limiter.limit]).toEqual(['limited', LEAST_SLOTS]);
    expect((a?.served ?? 0) + (b?.served ?? 0) + (most?.served ?? 0)).toBeGreaterThan(980);
    expect([a?.rejected, b?.rejected]).toEqual([[], []]);
  });

  test('divides time, not requests, equally between companies that all ask for too much', async () => {
    const { processors } = scene();
    const companies = { cheap: { rate: 600, ms: 2 }, dear: { rate: 200, ms: 8 } };
    await processors.run(2, companies);
    const { cheap, dear } = await processors.run(4, companies);
    expect((cheap?.served ?? 0) / (dear?.served ?? 1)).toBeCloseTo(4, 0);
  });

  test('weighs errors by the time that they take, as it does right answers', async () => {
    const { processors } = scene();
    const companies = { right: { rate: 400, ms: 4 }, wrong: { rate: 200, ms: 16, isError: true } };
    await processors.run(2, companies);
    const { right, wrong } = await processors.run(4, companies);
    expect((right?.served ?? 0) / (wrong?.served ?? 1)).toBeCloseTo(4, 0);
  });

  test('does not follow errors, whose latency says nothing about that of an operation', async () => {
    const { limiter, processors } = scene();
    await processors.run(1, { wrong: LIGHT });
    await processors.run(4, { wrong: { ...LIGHT, isError: true }, most: { rate: 400, ms: 4 } });
    expect(limiter.limit).toBe(MOST_SLOTS);
  });

  test('lets a company that has no call under way begin one beyond the limit, up to twice the limit', () => {
    const { limiter } = scene();
    void enter(limiter, 'a');
    void enter(limiter, 'b', MOST_SLOTS);
    expect(begun(enter(limiter, 'c', 2))).toBe(1);
    for (let company = 1; company < MOST_SLOTS; company++) expect(begun(enter(limiter, `company ${company}`))).toBe(1);
    expect(begun(enter(limiter, 'one more'))).toBe(0);
  });
});

describe('the paced state', () => {
  test('begins when a flood slows others down even one call at a time', async () => {
    const { limiter } = await flooded();
    expect(limiter.state).toBe('paced');
    expect(limiter.limit).toBeGreaterThanOrEqual(0.1);
  });

  test('delays few of another company’s calls, and those by no more than one call of the flood', async () => {
    const { processors } = await flooded();
    const { light, flood } = await processors.run(4, { light: LIGHT, flood: FLOOD });
    const latencies = light?.latencies ?? [];
    expect(Math.max(...latencies)).toBeLessThanOrEqual(LIGHT.ms + FLOOD.ms + 1);
    // The flood keeps a tenth of the time.
    expect(lateOf(latencies)).toBeLessThan(0.11);
    expect(light?.rejected).toEqual([]);
    expect(flood?.served).toBeGreaterThan(0.1 * 500);
  });

  test('lets the flood begin nothing while a call of others is under way, and no second call at any time', async () => {
    const { limiter, processors } = await flooded();
    processors.stands = true;
    await processors.run(0.1, { light: LIGHT, flood: FLOOD });
    const [flood, light] = [processors.underWay('flood'), processors.underWay('light')];
    expect(flood + light).toBeLessThanOrEqual(2);
    expect(flood).toBeLessThanOrEqual(1);
    expect(limiter.waiting).toBe(QUEUE);
  });

  test('lets the flood rest after each call, so that its calls take no more of the time than the limit', async () => {
    const { limiter, processors } = await flooded();
    let [busy, limits] = [0, 0];
    for (let period = 0; period < 8; period++) {
      const { flood } = await processors.run(PERIOD_MS / 1000, { light: LIGHT, flood: FLOOD });
      busy += ((flood?.served ?? 0) * FLOOD.ms) / PERIOD_MS;
      limits += limiter.limit;
    }
    expect(busy).toBeGreaterThan(0.5 * limits);
    expect(busy).toBeLessThan(1.1 * limits);
  });

  test('becomes limited when there is no flood any more', async () => {
    const { limiter, processors } = await flooded();
    await processors.run(2, { light: LIGHT, other: LIGHT });
    expect(limiter.state).toBe('limited');
    expect(limiter.limit).toBeGreaterThanOrEqual(LEAST_SLOTS);
  });

  test('becomes open when the flood is alone', async () => {
    const { limiter, processors } = await flooded();
    const { flood } = await processors.run(4, { flood: FLOOD });
    expect(limiter.state).toBe('open');
    expect(flood?.served).toBeGreaterThan(250);
  });

  test('applies at once when the other company comes back', async () => {
    const { limiter, processors } = await flooded();
    await processors.run(2, { flood: FLOOD });
    void enter(limiter, 'light');
    expect(limiter.state).toBe('paced');
  });
});

describe('requests', () => {
  test('are all answered within seconds after a flood', async () => {
    const { processors, limiter } = await flooded();
    await processors.run(3, { light: LIGHT });
    expect([processors.underWay('flood'), limiter.waiting]).toEqual([0, 0]);
  });

  test('of the company with the most waiting are shed when the queue is full, and no others', () => {
    const { limiter } = scene();
    void enter(limiter, 'flood', MOST_SLOTS + QUEUE);
    expect([limiter.isFull, limiter.sheds('flood'), limiter.sheds('other')]).toEqual([true, true, false]);
    expect(() => limiter.enter('flood')).toThrow(SHED);
    expect(() => enter(limiter, 'other')).not.toThrow();
  });

  test('that were shed without entering count as demand', async () => {
    const { limiter, processors } = scene();
    await processors.run(1, { light: LIGHT, other: LIGHT });
    expect(limiter.state).toBe('limited');
    await jest.advanceTimersByTimeAsync(2000);
    limiter.chargeShed('a', 1);
    limiter.chargeShed('b', 1);
    expect(limiter.state).toBe('limited');
  });

  test('that share calls hold a quarter of a slot each, and give it back', async () => {
    const { limiter } = scene();
    const most = MOST_SLOTS / SHARED_WEIGHT;
    const calls = enter(limiter, 'a', most + 4, SHARED_WEIGHT);
    expect([begun(calls), limiter.waiting]).toEqual([128, 4]);
    for (const call of calls.slice(0, 3)) limiter.leave(call as Call, new Baseline(), true);
    expect(limiter.waiting).toBe(1);
    await jest.advanceTimersByTimeAsync(2 * PERIOD_MS);
    expect(limiter.waiting).toBe(0);
    for (const call of calls.slice(3)) limiter.leave(await call, new Baseline(), true);
    for (const call of calls.slice(most, most + 3)) expect((await call).weight).toBe(SHARED_WEIGHT);
    expect(begun(enter(limiter, 'a', MOST_SLOTS + 5))).toBe(MOST_SLOTS);
  });

  test('that stall give up their slots, so that others go on', async () => {
    const { limiter } = scene();
    const calls = enter(limiter, 'stalled', MOST_SLOTS) as Call[];
    const [next] = enter(limiter, 'stalled');
    let begins = false;
    void (next as Promise<Call>).then(() => (begins = true));
    await jest.advanceTimersByTimeAsync(PERIOD_MS - 1);
    expect(begins).toBe(false);
    await jest.advanceTimersByTimeAsync(PERIOD_MS + 1);
    expect(begins).toBe(true);
    for (const call of calls) limiter.leave(call, new Baseline(), true);
    limiter.leave(await (next as Promise<Call>), new Baseline(), true);
    expect(begun(enter(limiter, 'stalled', MOST_SLOTS + 1))).toBe(MOST_SLOTS);
  });
});

describe('the unloaded latency of an operation', () => {
  test('is the average of calls with nothing else under way', () => {
    const baseline = new Baseline();
    for (let call = 0; call < 50; call++) baseline.compare(4, true);
    expect(baseline.compare(12, false)).toBeCloseTo(3);
    for (let call = 0; call < 50; call++) baseline.compare(12, true);
    expect(baseline.compare(12, false)).toBeCloseTo(1);
  });

  test('is not raised by concurrent calls, however many, and is lowered by those that are faster', () => {
    const baseline = new Baseline();
    baseline.compare(4, true);
    for (let call = 0; call < 1000; call++) baseline.compare(12, false);
    expect(baseline.compare(4, false)).toBe(1);
    for (let call = 0; call < 50; call++) baseline.compare(2, false);
    expect(baseline.compare(4, false)).toBeCloseTo(2);
  });

  test('is learned anew where calls alone take longer than before, so that the limit recovers', async () => {
    const { limiter, processors } = scene();
    const slow = { light: { ...LIGHT, rate: 9, slowness: 4 }, other: { ...LIGHT, rate: 4, slowness: 4 } };
    await processors.run(1, { light: LIGHT });
    await processors.run(15, slow);
    expect(limiter.limit).toBe(MOST_SLOTS);
  });
});
