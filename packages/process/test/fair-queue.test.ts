import { FairQueue, SHED, type Flow } from '../src/fair-queue.ts';

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(() => void jest.useRealTimers());

function scene({ slots = 1, queue = 100, most = Infinity, isExempt = (_: string): boolean => false } = {}) {
  const limits = { slots, most };
  const inside: string[] = [];
  const order: string[] = [];
  const rejected: [string, unknown][] = [];
  const fairQueue: FairQueue = new FairQueue({
    admits: ({ held }: Flow) => fairQueue.held < limits.slots && held < limits.most,
    queue,
    maxWaitMs: 5000,
    isExempt,
  });
  const begin = (name: string): void => void (inside.push(name), order.push(name));
  const enter = (...names: string[]): void => {
    for (const name of names) {
      try {
        const turn = fairQueue.enter(name);
        if (turn === undefined) begin(name);
        else turn.then(() => begin(name)).catch((error: unknown) => rejected.push([name, error]));
      } catch (error) {
        rejected.push([name, error]);
      }
    }
  };
  const leave = async (name: string): Promise<void> => {
    inside.splice(inside.indexOf(name), 1);
    fairQueue.leave(name);
    await jest.advanceTimersByTimeAsync(0);
  };
  /** Serves whatever has a slot, one after the other, each call for the milliseconds of its company. */
  const serve = async (calls: number, cost: Readonly<Record<string, number>>): Promise<string> => {
    const before = order.length;
    for (let call = 0; call < calls; call++) {
      const name = inside[0] as string;
      await jest.advanceTimersByTimeAsync(cost[name] as number);
      await leave(name);
    }
    return order.slice(before).join(' ');
  };
  return { fairQueue, limits, inside, order, rejected, enter, leave, serve };
}

const times = (count: number, name: string): string[] => Array.from({ length: count }, () => name);

test('gives the next slot to the company that has had least, and within one company to the request that came first', async () => {
  const { enter, serve } = scene();
  enter('flood', 'flood', 'flood', 'flood', 'a', 'b', 'a');
  expect(await serve(6, { flood: 1, a: 1, b: 1 })).toBe('a b flood a flood flood');
});

test('weighs a company by the time that its calls take', async () => {
  const { enter, serve } = scene();
  enter(...times(10, 'dear'), ...times(40, 'cheap'));
  const order = await serve(20, { dear: 4, cheap: 1 });
  expect(order.split(' ').filter((name) => name === 'cheap')).toHaveLength(16);
});

test('charges a company only its share of the time in which calls of others run too', async () => {
  const { fairQueue, enter, leave, order } = scene({ slots: 2 });
  enter('a', 'b');
  await jest.advanceTimersByTimeAsync(10);
  await leave('b');
  await jest.advanceTimersByTimeAsync(3);
  enter('c', 'a', 'b');
  await leave('a');
  await leave('c');
  expect(order).toEqual(['a', 'b', 'c', 'b', 'a']);
  expect(fairQueue.waiting).toBe(0);
});

test('charges a request that holds a part of a slot for its part of the time', async () => {
  const { fairQueue, enter, inside, leave } = scene({ slots: 2 });
  expect(fairQueue.enter('light', 0.25)).toBeUndefined();
  enter('heavy');
  expect(fairQueue.held).toBe(1.25);
  await jest.advanceTimersByTimeAsync(10);
  fairQueue.leave('light', 0.25);
  expect(fairQueue.held).toBe(1);
  enter('heavy', 'heavy', 'light');
  // Both have one request waiting, and the light one has had less.
  await leave('heavy');
  expect(inside).toEqual(['heavy', 'light']);
});

test('charges a company for work without a slot', async () => {
  const { fairQueue, enter, serve } = scene();
  enter('a', 'b', 'c', 'c');
  fairQueue.charge('b', 100);
  expect(await serve(3, { a: 1, b: 1, c: 1 })).toBe('c c b');
});

test('charges work without a slot at most as much as one more running call', async () => {
  const { fairQueue, limits, enter, order, leave } = scene({ slots: 2 });
  enter('a', 'b');
  await jest.advanceTimersByTimeAsync(40);
  fairQueue.charge('c', 30);
  limits.slots = 1;
  await leave('a');
  enter('a', 'c');
  await leave('b');
  // a had half of 40 ms, and c half of 30 ms.
  expect(order.slice(2)).toEqual(['c']);
});

test('remembers what a company has had while others go on, so that leaving for a moment gives no credit', async () => {
  const { limits, enter, order, leave } = scene({ slots: 2 });
  enter('a', 'b');
  await jest.advanceTimersByTimeAsync(10);
  await leave('a');
  limits.slots = 1;
  enter('a', 'c');
  await leave('b');
  expect(order.slice(2)).toEqual(['c']);
});

test('gives a company no credit for idle time', async () => {
  const { enter, serve } = scene();
  enter('quiet', ...times(30, 'busy'));
  await serve(20, { quiet: 1, busy: 1 });
  enter(...times(5, 'quiet'));
  expect(await serve(4, { quiet: 1, busy: 1 })).toBe('quiet busy quiet busy');
});

test('passes over a company that may not have another slot', async () => {
  const { enter, inside, leave } = scene({ slots: 3, most: 2 });
  enter('flood', 'flood', 'flood', 'other', 'third');
  expect(inside).toEqual(['flood', 'flood', 'other']);
  await leave('other');
  expect(inside).toEqual(['flood', 'flood', 'third']);
});

test('gives several slots at once to different companies', async () => {
  const { fairQueue, limits, enter, inside } = scene();
  enter('a', ...times(3, 'b'), ...times(3, 'c'));
  limits.slots = 3;
  fairQueue.fill();
  await jest.advanceTimersByTimeAsync(0);
  expect(inside).toEqual(['a', 'b', 'c']);
});

test('gives the next slot to the company with fewer running calls if two have had equally much', async () => {
  const { enter, leave, order } = scene({ slots: 3 });
  // All of them have had nothing: no time has passed.
  enter('busy', 'busy', 'other', 'busy', 'idle');
  await leave('other');
  expect(order).toEqual(['busy', 'busy', 'other', 'idle']);
});

describe('a full queue', () => {
  test('sheds a new request of the company with the most waiting', () => {
    const { fairQueue, enter, rejected } = scene({ queue: 3 });
    enter(...times(5, 'flood'));
    expect(rejected).toEqual([['flood', SHED]]);
    expect(SHED).toMatchObject({ status: 429, code: 'RATE_LIMITED', retryAfterSeconds: 1 });
    expect([fairQueue.sheds('flood'), fairQueue.sheds('other')]).toEqual([true, false]);
  });

  test('makes room for another company by shedding the newest request of the one with the most waiting', async () => {
    const { fairQueue, enter, rejected, serve } = scene({ queue: 4 });
    enter('flood', ...times(3, 'flood'), 'small', 'other');
    await jest.advanceTimersByTimeAsync(0);
    expect(rejected).toEqual([['flood', SHED]]);
    expect(fairQueue.waiting).toBe(4);
    expect(await serve(5, { flood: 1, small: 1, other: 1 })).toBe('small other flood flood');
  });

  test('sheds nothing of an exempt company, which does not fill the queue for others', () => {
    const { fairQueue, enter, rejected } = scene({ queue: 2, isExempt: (name) => name === 'own' });
    enter('own', ...times(5, 'own'), 'other', 'other');
    expect(rejected).toEqual([]);
    expect(fairQueue.waiting).toBe(7);
    expect([fairQueue.sheds('other'), fairQueue.sheds('small')]).toEqual([true, false]);
    enter('other', 'own');
    expect(rejected).toEqual([['other', SHED]]);
    expect(fairQueue.waiting).toBe(8);
  });
});

test('rejects a request that has waited too long with 503 and Retry-After, and gives it no slot later', async () => {
  const { fairQueue, enter, inside, leave, rejected } = scene();
  enter('a', 'b');
  await jest.advanceTimersByTimeAsync(5000);
  expect(rejected).toEqual([['b', expect.objectContaining({ status: 503, retryAfterSeconds: 1 })]]);
  expect(fairQueue.waiting).toBe(0);
  await leave('a');
  expect(inside).toEqual([]);
});

test('reports each slot that a company takes or gives back', async () => {
  const changes: [string, number][] = [];
  const fairQueue: FairQueue = new FairQueue({
    admits: () => fairQueue.held < 1,
    queue: 5,
    maxWaitMs: 5000,
    onHeld: (name, change) => void changes.push([name, change]),
  });
  void fairQueue.enter('a');
  const turn = fairQueue.enter('b');
  fairQueue.leave('a');
  await turn;
  expect(changes).toEqual([
    ['a', 1],
    ['a', -1],
    ['b', 1],
  ]);
});
