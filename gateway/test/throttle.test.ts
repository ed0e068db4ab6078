// How a company with large demand is held back while it slows others down.
import { Demand } from '../src/admission/demand.ts';
import { Slowness } from '../src/admission/slowness.ts';
import { Throttle } from '../src/admission/throttle.ts';

const clock = (import.meta as unknown as { jest: typeof jest }).jest;
beforeEach(() => void clock.useFakeTimers());
afterEach(() => void clock.useRealTimers());

describe('demand', () => {
  test('is large if no company demands more than twice as much', () => {
    const demand = new Demand();
    demand.note('most', 100, 0);
    demand.note('half', 50, 0);
    demand.note('little', 49, 0);
    expect(['most', 'half', 'little', 'unknown'].map((name) => demand.isLarge(name, 0))).toEqual([true, true, false, false]);
  });

  test('halves every second, so that a flood is recognised within seconds', () => {
    const demand = new Demand();
    demand.note('before', 100, 0);
    demand.note('now', 40, 3000);
    expect([demand.isLarge('before', 3000), demand.isLarge('now', 3000)]).toEqual([false, true]);
  });
});

test('slowness of other companies’ answers is relative to the unloaded latency of the operation, whichever company saw it', () => {
  const slowness = new Slowness();
  expect(slowness.best).toBe(1);
  for (let answer = 0; answer < 10; answer++) slowness.answered(5);
  expect(slowness.answeredOthers(15)).toBeCloseTo(3, 1);
});

test('slowness remembers the unloaded latency for minutes, however many answers a flood gets since', () => {
  const slowness = new Slowness();
  slowness.answered(5);
  for (let answer = 0; answer < 10_000; answer++) slowness.answered(15);
  expect(slowness.best).toBe(5);
  clock.advanceTimersByTime(60_000);
  slowness.answered(15);
  expect(slowness.best).toBeCloseTo(5.3);
  clock.advanceTimersByTime(3_600_000);
  slowness.answered(15);
  expect(slowness.best).toBeCloseTo(15);
});

describe('a throttle', () => {
  /** A flood and another company, whose answers have the given slowness for a number of windows of ten. */
  function scene() {
    const throttle = new Throttle();
    const begun: string[] = [];
    const enter = (name: string): void => {
      const turn = throttle.enter(name);
      if (turn === undefined) begun.push(name);
      else void turn.then(() => begun.push(name));
    };
    const others = async (slowness: number, judgements = 20, waited = true): Promise<number> => {
      throttle.asked('flood', 1000);
      throttle.asked('other', 10);
      for (let answer = 0; answer < 10 * judgements; answer++) {
        if (waited) void throttle.heldUp(Promise.resolve());
        throttle.answeredOthers(slowness, slowness);
      }
      await clock.advanceTimersByTimeAsync(0);
      return throttle.limit;
    };
    return { throttle, begun, enter, others };
  }

  test('does not hold back a company that is alone', () => {
    const { throttle, begun, enter } = scene();
    throttle.asked('flood', 1000);
    for (let call = 0; call < 100; call++) enter('flood');
    expect(begun).toHaveLength(100);
  });

  test('lets one call of a flood run at a time while others are slow, and makes no call of theirs wait', async () => {
    const { throttle, begun, enter, others } = scene();
    expect(await others(3)).toBe(1);
    for (const name of ['flood', 'flood', 'flood', 'other', 'other']) enter(name);
    expect(begun).toEqual(['flood', 'other', 'other']);
    for (const name of ['other', 'other', 'flood']) throttle.leave(name, 8);
    await clock.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['flood', 'other', 'other', 'flood']);
  });

  test('starts the next call of a flood when no call of others runs, or after 50 ms', async () => {
    const { throttle, begun, enter, others } = scene();
    await others(3);
    for (const name of ['flood', 'flood', 'flood', 'other']) enter(name);
    throttle.leave('flood', 8);
    await clock.advanceTimersByTimeAsync(40);
    expect(begun).toEqual(['flood', 'other']);
    throttle.leave('other', 48);
    await clock.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['flood', 'other', 'flood']);
    enter('other');
    throttle.leave('flood', 8);
    await clock.advanceTimersByTimeAsync(51);
    expect(begun).toEqual(['flood', 'other', 'flood', 'other', 'flood']);
  });

  test('allows more calls while others are fast, and all of them when others are gone', async () => {
    const { throttle, begun, enter, others } = scene();
    await others(3);
    expect(await others(1, 60)).toBeGreaterThan(4);
    await others(3);
    for (let call = 0; call < 10; call++) enter('flood');
    expect(begun).toHaveLength(1);
    await clock.advanceTimersByTimeAsync(2000);
    expect(begun).toHaveLength(10);
    expect(throttle.waiting).toBe(0);
  });

  test('adjusts before the window is full once its mean must be slow', () => {
    const { throttle } = scene();
    for (const name of ['flood', 'other']) throttle.asked(name, name === 'flood' ? 1000 : 10);
    void throttle.heldUp(Promise.resolve());
    throttle.answeredOthers(6, 6);
    expect(throttle.limit).toBe(512);
    throttle.answeredOthers(6, 6);
    expect(throttle.limit).toBeLessThan(512);
  });

  test('keeps its limit for a flood that returns within a minute, and forgets it after that', async () => {
    const { throttle, others } = scene();
    await others(3);
    expect(await others(1, 100, false)).toBe(1);
    await clock.advanceTimersByTimeAsync(60_000);
    expect(await others(1, 100, false)).toBeGreaterThan(100);
    expect(throttle.time).toBe(1);
  });

  /** Late answers to others while calls of the flood wait. */
  async function flooded() {
    const all = scene();
    await all.others(10);
    for (const name of ['flood', 'flood']) all.enter(name);
    await all.others(10, 1, false);
    return all;
  }

  test('pauses after calls of a flood for up to nine tenths of the time while answers to others are late even next to single calls', async () => {
    const { throttle, begun, enter } = await flooded();
    expect(throttle.time).toBe(1 / 10);
    throttle.leave('flood', 20);
    await clock.advanceTimersByTimeAsync(179);
    enter('other');
    expect(begun).toEqual(['flood', 'other']);
    throttle.leave('other', 1);
    await clock.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['flood', 'other']);
    await clock.advanceTimersByTimeAsync(1);
    expect(begun).toEqual(['flood', 'other', 'flood']);
  });

  test('does not pause if others have more than a tenth of the demand', async () => {
    const { throttle, begun } = await flooded();
    throttle.asked('third', 400);
    throttle.leave('flood', 20);
    await clock.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['flood', 'flood']);
  });

  test('pauses longer for each late answer to others, even if the flood’s own calls do not slow each other down', async () => {
    const { throttle, others } = await flooded();
    await others(1.2, 30, false);
    const { limit, time } = throttle;
    throttle.answeredMost(1);
    throttle.answeredOthers(8, 1);
    expect(limit).toBe(1);
    expect(throttle.time).toBeLessThan(time);
  });

  test('ends the pauses while fewer than one in a hundred answers to others are late', async () => {
    const { throttle, others } = await flooded();
    for (let hundred = 0; hundred < 20; hundred++) await others(1.2, 10, false);
    expect(throttle.time).toBe(1);
    expect(throttle.limit).toBeGreaterThan(1);
  });

  test('lowers the limit of a flood for each late answer to others, even if the average is fast', async () => {
    const { throttle, enter, others } = scene();
    await others(3);
    await others(1, 60);
    const before = throttle.limit;
    for (let call = 0; call <= before; call++) enter('flood');
    throttle.answeredOthers(2, 1);
    expect(throttle.limit).toBe(before);
    throttle.answeredOthers(4, 1);
    expect(throttle.limit).toBeLessThan(before);
  });

  test('allows a company that is alone few calls while others may return, and all of them afterwards', async () => {
    const { throttle, begun, enter, others } = scene();
    await others(1, 1);
    for (let call = 0; call < 60; call++) enter('flood');
    await clock.advanceTimersByTimeAsync(2000);
    for (let answer = 0; answer < 100; answer++) {
      throttle.asked('flood', 1000);
      throttle.answeredMost(10);
    }
    for (let call = 0; call < 60; call++) throttle.leave('flood', 40);
    begun.length = 0;
    for (let call = 0; call < 20; call++) enter('flood');
    expect(begun).toHaveLength(8);
    for (let call = 0; call < 20; call++) throttle.leave('flood', 40);
    await clock.advanceTimersByTimeAsync(60_000);
    begun.length = 0;
    for (let call = 0; call < 20; call++) enter('flood');
    expect(begun).toHaveLength(20);
  });

  test('lets a call run in place of one that waits for a stalled service', async () => {
    const { throttle, begun, enter, others } = scene();
    await others(3);
    for (const name of ['flood', 'flood']) enter(name);
    expect(begun).toHaveLength(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    void throttle.heldUp(promise);
    await clock.advanceTimersByTimeAsync(0);
    expect(begun).toHaveLength(2);
    resolve();
  });

  test('lowers the limit only if calls wait, because otherwise others are slow for another reason', async () => {
    const { others } = scene();
    expect(await others(3, 20, false)).toBe(512);
  });

  test('lowers the limit only while the company’s own calls slow each other down', async () => {
    const { throttle } = scene();
    const judged = async (own: number): Promise<number> => {
      throttle.asked('flood', 1000);
      for (let answer = 0; answer < 10; answer++) {
        throttle.answeredMost(own);
        await throttle.heldUp(Promise.resolve());
        throttle.answeredOthers(3, 3);
      }
      return throttle.limit;
    };
    for (let judgement = 0; judgement < 20; judgement++) await judged(1.2);
    expect(throttle.limit).toBe(512);
    expect(await judged(2)).toBeLessThan(512);
  });

  test('does not let a stalled call hold up others of its company', async () => {
    const { throttle, begun, enter, others } = scene();
    await others(3);
    for (let call = 0; call < 3; call++) enter('flood');
    for (let until = 0; until < 300; until += 100) {
      await others(3, 1, false);
      await clock.advanceTimersByTimeAsync(100);
    }
    expect(begun).toHaveLength(2);
    throttle.leave('flood', 4);
    await clock.advanceTimersByTimeAsync(0);
    expect(begun).toHaveLength(3);
  });

  test('queues four times as many calls of a company that is no flood, in the first second of a queue', async () => {
    const { throttle, enter, others } = scene();
    await others(3);
    throttle.asked('third', 400);
    for (let call = 0; call <= 256; call++) {
      expect(throttle.full('flood')).toBe(false);
      enter('flood');
    }
    expect(throttle.full('flood')).toBe(true);
    for (let answered = 0; answered < 150; answered++) throttle.leave('flood', 4);
    await clock.advanceTimersByTimeAsync(0);
    expect(throttle.full('flood')).toBe(false);
    await clock.advanceTimersByTimeAsync(500);
    await others(3, 1, false);
    await clock.advanceTimersByTimeAsync(500);
    expect(throttle.full('flood')).toBe(true);
  });

  test('is full for a company that queues as many calls as a client sends at once', async () => {
    const { throttle, enter, others } = scene();
    await others(3);
    for (let call = 0; call < 64; call++) enter('flood');
    expect(throttle.full('flood')).toBe(false);
    enter('flood');
    expect([throttle.full('flood'), throttle.full('other')]).toEqual([true, false]);
  });
});
