import { CompaniesAbout, NO_COMPANY, Places, type PlacesOptions } from '../src/places.ts';

const PLENTY = { places: 4, share: 3, queue: 5, patienceMs: 60_000 };
const clock = (import.meta as unknown as { jest: typeof jest }).jest;

const scenes: { inside: string[]; leave(name: string): Promise<string[]> }[] = [];
afterEach(async () => {
  for (const { inside, leave } of scenes.splice(0)) while (inside.length > 0) await leave(inside[0] as string);
});

/** Requests slots for companies in the given order, and records which have one. */
function scene(options: Partial<PlacesOptions> = {}) {
  const places = new Places({ ...PLENTY, ...options });
  const inside: string[] = [];
  const made = {
    places,
    inside,
    enter(...names: string[]): void {
      for (const name of names) {
        const turn = places.enter(name);
        if (turn === undefined) inside.push(name);
        else void turn.then(() => inside.push(name));
      }
    },
    async leave(name: string): Promise<string[]> {
      inside.splice(inside.indexOf(name), 1);
      places.leave(name);
      await new Promise(setImmediate);
      return [...inside];
    },
  };
  scenes.push(made);
  return made;
}

test('a company at its limit leaves a slot free, which another gets without waiting', () => {
  const { enter, inside, places } = scene();
  enter('flood', 'flood', 'flood', 'flood', 'flood', 'other');
  expect(inside).toEqual(['flood', 'flood', 'flood', 'other']);
  expect(places.waiting).toBe(2);
});

test('a freed slot goes to the company whose turn it is, and within a company to its first call', async () => {
  const { enter, leave } = scene({ share: 4 });
  enter('flood', 'flood', 'flood', 'flood');
  enter('flood', 'flood', 'a', 'flood', 'b', 'a');
  expect(await leave('flood')).toEqual(['flood', 'flood', 'flood', 'flood']);
  expect(await leave('flood')).toEqual(['flood', 'flood', 'flood', 'a']);
  expect(await leave('flood')).toEqual(['flood', 'flood', 'a', 'b']);
  expect(await leave('flood')).toEqual(['flood', 'a', 'b', 'flood']);
  expect(await leave('flood')).toEqual(['a', 'b', 'flood', 'a']);
});

test('a call beyond the queue of its company is refused with 429 and Retry-After; other companies are not affected', () => {
  let refused = 0;
  const { enter, places, inside } = scene({ places: 3, share: 3, onRefused: () => refused++ });
  enter(...Array.from({ length: 8 }, () => 'flood'));
  expect(() => places.enter('flood')).toThrow(expect.objectContaining({ status: 429, code: 'RATE_LIMITED', retryAfterSeconds: 1 }));
  expect(refused).toBe(1);
  expect(() => enter('other')).not.toThrow();
  expect(places.waiting).toBe(6);
  expect(inside).toHaveLength(3);
});

test('work of no company has neither a limit per company nor a full queue', () => {
  const { enter, inside, places } = scene();
  enter(...Array.from({ length: 40 }, () => NO_COMPANY));
  expect(inside).toHaveLength(4);
  expect(places.waiting).toBe(36);
});

test('a call that waits too long is rejected with 503, and does not get a slot later', async () => {
  const { enter, leave, places, inside } = scene({ places: 1, share: 1, patienceMs: 1 });
  enter('a');
  await expect(places.enter('b')).rejects.toMatchObject({ status: 503, retryAfterSeconds: 1 });
  expect(places.waiting).toBe(0);
  expect(await leave('a')).toEqual([]);
  enter('c');
  expect(inside).toEqual(['c']);
});

describe('a company that floods while others are active', () => {
  beforeEach(() => void clock.useFakeTimers({ now: 0, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void clock.useRealTimers());

  test('has a smaller limit even if they hold no slot, and the full one a second after their last call', async () => {
    const about = new CompaniesAbout();
    const { enter, leave } = scene({ shareBeside: 1, about });
    enter('flood', 'flood', 'flood', 'flood', 'flood', 'flood');
    about.seen('other');
    about.seen('flood');
    expect(await leave('flood')).toEqual(['flood', 'flood']);
    expect(await leave('flood')).toEqual(['flood']);
    expect(await leave('flood')).toEqual(['flood']);
    clock.advanceTimersByTime(999);
    expect(about.othersThan('flood')).toBe(true);
    clock.advanceTimersByTime(1);
    expect(about.othersThan('flood')).toBe(false);
    expect(await leave('flood')).toEqual(['flood', 'flood']);
  });

  test('is served in the order of its calls when its limit grows', async () => {
    const about = new CompaniesAbout();
    const { places } = scene({ shareBeside: 1, about });
    const order: number[] = [];
    const enter = (n: number) => void (places.enter('flood') ?? Promise.resolve()).then(() => order.push(n));
    about.seen('other');
    [1, 2, 3].forEach(enter);
    clock.advanceTimersByTime(1000);
    enter(4);
    await new Promise(setImmediate);
    expect(order).toEqual([1, 2, 3]);
    for (let n = 0; n < 4; n++) places.leave('flood');
    expect(places.waiting).toBe(0);
  });

  test('keeps its full limit next to work of no company', () => {
    const about = new CompaniesAbout();
    const { enter, inside } = scene({ shareBeside: 1, about });
    enter(NO_COMPANY, 'flood', 'flood', 'flood');
    expect(inside).toHaveLength(4);
  });
});
