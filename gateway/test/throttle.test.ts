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
    const others = (slowness: number, judgements = 20, waited = true): number => {
      throttle.asked('flood', 1000);
      throttle.asked('other', 10);
      for (let answer = 0; answer < 10 * judgements; answer++) {
        if (waited) throttle.waited();
        throttle.answeredOthers(slowness);
      }
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
    expect(others(3)).toBe(1);
    for (const name of ['flood', 'flood', 'flood', 'other', 'other']) enter(name);
    expect(begun).toEqual(['flood', 'other', 'other']);
    throttle.leave('flood', 8);
    await clock.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['flood', 'other', 'other', 'flood']);
  });

  test('lets more begin again while others are as quick as they can be, and holds nobody back when they are gone', async () => {
    const { throttle, begun, enter, others } = scene();
    others(3);
    expect(others(1, 60)).toBeGreaterThan(4);
    others(3);
    for (let call = 0; call < 10; call++) enter('flood');
    expect(begun).toHaveLength(1);
    await clock.advanceTimersByTimeAsync(2000);
    expect(begun).toHaveLength(10);
    expect(throttle.waiting).toBe(0);
  });

  test('falls only where calls wait: others are slow for another reason then', () => {
    const { others } = scene();
    expect(others(3, 20, false)).toBe(512);
  });

  test('falls only as long as its own calls slow each other down: those that do not leave processors to others', () => {
    const { throttle, others } = scene();
    for (let judgement = 0; judgement < 20; judgement++) {
      throttle.answeredMost(1.2);
      others(3, 1);
    }
    expect(throttle.limit).toBe(512);
    throttle.answeredMost(2);
    expect(others(3, 1)).toBeLessThan(512);
  });

  test('does not let a call that stands still hold up the others of its company', async () => {
    const { throttle, begun, enter, others } = scene();
    others(3);
    for (let call = 0; call < 3; call++) enter('flood');
    for (let until = 0; until < 300; until += 100) {
      others(3, 1);
      await clock.advanceTimersByTimeAsync(100);
    }
    expect(begun).toHaveLength(2);
    throttle.leave('flood', 4);
    await clock.advanceTimersByTimeAsync(0);
    expect(begun).toHaveLength(3);
  });

  test('is full for a company of which as many wait as a client sends at once', () => {
    const { throttle, enter, others } = scene();
    others(3);
    for (let call = 0; call < 64; call++) enter('flood');
    expect(throttle.full('flood')).toBe(false);
    enter('flood');
    expect([throttle.full('flood'), throttle.full('other')]).toEqual([true, false]);
  });
});
