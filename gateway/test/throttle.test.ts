// How a company that asks for most makes room for others.
import { Demand } from '../src/admission/demand.ts';
import { Slowness } from '../src/admission/slowness.ts';
import { Throttle } from '../src/admission/throttle.ts';

const clock = (import.meta as unknown as { jest: typeof jest }).jest;
beforeEach(() => void clock.useFakeTimers());
afterEach(() => void clock.useRealTimers());

describe('what companies ask for', () => {
  test('is large where nobody asks for more than twice as much', () => {
    const demand = new Demand();
    demand.note('most', 100, 0);
    demand.note('half', 50, 0);
    demand.note('little', 49, 0);
    expect(['most', 'half', 'little', 'unknown'].map((name) => demand.isLarge(name, 0))).toEqual([true, true, false, false]);
  });

  test('is forgotten by half in a second, so that who floods is known within seconds', () => {
    const demand = new Demand();
    demand.note('before', 100, 0);
    demand.note('now', 40, 3000);
    expect([demand.isLarge('before', 3000), demand.isLarge('now', 3000)]).toEqual([false, true]);
  });
});

test('answers to others are held against what the operation takes at best, whoever got that', () => {
  const slowness = new Slowness();
  expect(slowness.best).toBe(1);
  for (let answer = 0; answer < 10; answer++) slowness.answered(5);
  expect(slowness.answeredOthers(15)).toBeCloseTo(3, 1);
});

test('what an operation takes at best is remembered for minutes, however many answers a flood gets meanwhile', () => {
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
  /** One company that floods and another, whose answers take so many times as long as at best in so many judgements. */
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

  test('holds nobody back who is alone', () => {
    const { throttle, begun, enter } = scene();
    throttle.asked('flood', 1000);
    for (let call = 0; call < 100; call++) enter('flood');
    expect(begun).toHaveLength(100);
  });

  test('lets one call at a time begin of a company that asks for most while others are slowed down, and none of theirs wait', async () => {
    const { throttle, begun, enter, others } = scene();
    expect(await others(3)).toBe(1);
    for (const name of ['flood', 'flood', 'flood', 'other', 'other']) enter(name);
    expect(begun).toEqual(['flood', 'other', 'other']);
    for (const name of ['other', 'other', 'flood']) throttle.leave(name, 8);
    await clock.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['flood', 'other', 'other', 'flood']);
  });

  test('lets the next call of a flood begin when none of others is under way, and after 50 ms in any case', async () => {
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

  test('lets more begin again while others are as quick as they can be, and holds nobody back when they are gone', async () => {
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

  test('knows after a few answers to others that they are slow: ten of them can no longer be quick on the average', () => {
    const { throttle } = scene();
    for (const name of ['flood', 'other']) throttle.asked(name, name === 'flood' ? 1000 : 10);
    void throttle.heldUp(Promise.resolve());
    throttle.answeredOthers(6, 6);
    expect(throttle.limit).toBe(512);
    throttle.answeredOthers(6, 6);
    expect(throttle.limit).toBeLessThan(512);
  });

  test('is found by a flood that comes again within a minute, and forgotten after that', async () => {
    const { throttle, others } = scene();
    await others(3);
    expect(await others(1, 100, false)).toBe(1);
    await clock.advanceTimersByTimeAsync(60_000);
    expect(await others(1, 100, false)).toBeGreaterThan(100);
    expect(throttle.time).toBe(1);
  });

  /** Others are late while calls of the flood wait. */
  async function flooded() {
    const all = scene();
    await all.others(10);
    for (const name of ['flood', 'flood']) all.enter(name);
    await all.others(10, 1, false);
    return all;
  }

  test('leaves pauses after calls of a flood while answers to others are late even beside one at a time, nine tenths of the time at most', async () => {
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

  test('leaves no pauses after calls of a company beside which others ask for more than a tenth', async () => {
    const { throttle, begun } = await flooded();
    throttle.asked('third', 400);
    throttle.leave('flood', 20);
    await clock.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['flood', 'flood']);
  });

  test('leaves them for each answer to others that is late, though one call at a time is slowed down by none of its own', async () => {
    const { throttle, others } = await flooded();
    await others(1.2, 30, false);
    const { limit, time } = throttle;
    throttle.answeredMost(1);
    throttle.answeredOthers(8, 1);
    expect(limit).toBe(1);
    expect(throttle.time).toBeLessThan(time);
  });

  test('comes back from pauses while fewer than one in a hundred answers to others are late', async () => {
    const { throttle, others } = await flooded();
    for (let hundred = 0; hundred < 20; hundred++) await others(1.2, 10, false);
    expect(throttle.time).toBe(1);
    expect(throttle.limit).toBeGreaterThan(1);
  });

  test('lets fewer begin of a flood for each answer to others that is late, though the others are quick', async () => {
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

  test('keeps few calls under way of a company that is alone while others may come back, and all that it asks for afterwards', async () => {
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

  test('lets a call begin in the stead of one that waits for a service that stands still', async () => {
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

  test('falls only where calls wait: others are slow for another reason then', async () => {
    const { others } = scene();
    expect(await others(3, 20, false)).toBe(512);
  });

  test('falls only as long as its own calls slow each other down: those that do not leave processors to others', async () => {
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

  test('does not let a call that stands still hold up the others of its company', async () => {
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

  test('takes four times as many calls of a company that does not flood where nobody waited a second ago', async () => {
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

  test('is full for a company of which as many wait as a client sends at once', async () => {
    const { throttle, enter, others } = scene();
    await others(3);
    for (let call = 0; call < 64; call++) enter('flood');
    expect(throttle.full('flood')).toBe(false);
    enter('flood');
    expect([throttle.full('flood'), throttle.full('other')]).toEqual([true, false]);
  });
});
