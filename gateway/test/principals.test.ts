// Which callers this process caches; the complete path, with Redis and integrations, is tested in authentication.test.ts.
import { IDENTITY_EPOCH_KEY } from '@truckroll/contract';
import { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { KeyRing } from '@truckroll/process';
import { createIdentitySeal } from '../src/auth/identity-seal.ts';
import { CompanySwitching } from '../src/auth/cells.ts';
import { Principals, type PrincipalsOptions } from '../src/auth/principals.ts';

afterEach(() => void jest.useRealTimers());

const credential = (name: string, first: number) => ({ cacheKey: `key:${name}`, request: { key_hash: Buffer.of(first) }, shared: false });

/** Principals without Redis that receive every revocation. Keys whose hash begins with 1 are `valid`. */
function principalsOf(valid: Partial<Principal>, options: Partial<PrincipalsOptions> = {}) {
  const counted = { asked: 0 };
  const principals = new Principals({
    ask: async ({ key_hash: hash }) => {
      counted.asked += 1;
      return hash?.[0] === 1 ? (valid as Principal) : undefined;
    },
    redis: { run: () => Promise.reject(new Error('away')) } as unknown as PrincipalsOptions['redis'],
    seal: createIdentitySeal(new KeyRing([['k1', Buffer.alloc(32, 1)]])),
    invalidations: { start: () => undefined, stop: () => undefined, proven: () => true, generation: 0 },
    ...options,
  });
  return { principals, counted };
}

test('does not evict valid keys for made-up ones', async () => {
  const valid = { company_id: 'c', user_id: 'u' };
  const { principals, counted } = principalsOf(valid);
  expect(await principals.find(credential('valid', 1))).toBe(valid);
  for (let i = 0; i < 60_000; i++) await principals.find(credential(String(i), 2));
  counted.asked = 0;
  expect(await principals.find(credential('valid', 1))).toBe(valid);
  expect(counted.asked).toBe(0);
});

/** A gateway that finds an entry shared by another one, in a Redis into which an attacker puts the entry back again and again. */
function withReplay() {
  let ms = 1_800_000_000_000;
  const seal = createIdentitySeal(new KeyRing([['k1', Buffer.alloc(32, 1)]]), () => ms);
  const shared = { ...credential('abc', 2), shared: true };
  const valid = { ...Principal.decode(new Uint8Array()), company_id: 'c', user_id: 'u', key_id: 'k' };
  const text = seal.seal(shared.cacheKey, 'e1', valid);
  const redis = { run: async () => ['e1', text] } as unknown as PrincipalsOptions['redis'];
  const { principals, counted } = principalsOf(valid, { seal, redis, now: () => ms * 1000, elapsedMs: () => ms });
  return { principals, counted, find: () => principals.find(shared), pass: (forMs: number) => void (ms += forMs) };
}

test('finds in Redis what another gateway has shared, without a call to integrations', async () => {
  const { find, counted } = withReplay();
  expect(await find()).toMatchObject({ key_id: 'k' });
  expect(counted.asked).toBe(0);
});

test('asks again, past what it keeps, when its caller says that this may be out of date: once a second, and at once after a revocation', async () => {
  let ms = 0;
  const { principals, counted } = principalsOf({ company_id: 'c', user_id: 'u' }, { elapsedMs: () => ms });
  const renewed = async (): Promise<number> => {
    expect(await principals.renew(credential('valid', 1))).toMatchObject({ company_id: 'c' });
    return counted.asked;
  };
  await principals.find(credential('valid', 1));
  expect([await renewed(), await renewed()]).toEqual([2, 2]);
  principals.forget({ kind: 'company', id: 'c' });
  expect([await renewed(), await renewed()]).toEqual([3, 3]);
  ms = 1000;
  expect(await renewed()).toBe(4);
});

test('does not share a look-up that began before its caller said so', async () => {
  const answers: ((principal: Principal) => void)[] = [];
  const { principals } = principalsOf({}, { ask: () => new Promise((resolve) => answers.push(resolve)) });
  const found = principals.find(credential('valid', 1));
  const renewed = principals.renew(credential('valid', 1));
  for (const [index, cell] of ['home', 'west'].entries()) answers[index]?.({ company_id: 'c', cell } as Principal);
  expect([(await found)?.cell, (await renewed)?.cell]).toEqual(['home', 'west']);
});

test('does not take from Redis a caller of a cell that it does not have', async () => {
  const seal = createIdentitySeal(new KeyRing([['k1', Buffer.alloc(32, 1)]]));
  const text = seal.seal('cells:key:abc', 'e1', { ...Principal.decode(new Uint8Array()), company_id: 'c', cell: 'west' });
  const redis = { run: async () => ['e1', text] } as unknown as PrincipalsOptions['redis'];
  for (const [cells, asked] of [
    [['home', 'west'], 0],
    [['home'], 1],
  ] as const) {
    const { principals, counted } = principalsOf({}, { seal, redis, serves: (cell) => (cells as readonly unknown[]).includes(cell) });
    await principals.find({ ...credential('abc', 2), shared: true });
    expect(counted.asked).toBe(asked);
  }
});

test('says that a company is being switched, and does not take this for an outage', async () => {
  const { principals } = principalsOf({}, { ask: () => Promise.reject(new CompanySwitching()) });
  await expect(principals.find(credential('valid', 1))).rejects.toThrow(CompanySwitching);
});

test.each([
  ['key', 'abc'],
  ['user', 'u'],
  ['company', 'c'],
] as const)('does not trust an entry of a revoked %s that is put back into Redis, for as long as such an entry would open', async (kind, id) => {
  const { principals, find, pass } = withReplay();
  principals.forget({ kind, id });
  expect(await find()).toBeUndefined();
  pass(450_000);
  expect(await find()).toBeUndefined();
  pass(450_000);
  expect(await find()).toBeUndefined();
  pass(1);
  expect(await find()).toBeUndefined();
});

test.each([
  [99_999, undefined],
  [100_000, { key_id: 'k' }],
])('after %i later revocations of other keys, finds under a revoked key: %j', async (later, found) => {
  const { principals, find } = withReplay();
  principals.forget({ kind: 'key', id: 'abc' });
  for (let id = 0; id < later; id += 1) principals.forget({ kind: 'key', id: String(id) });
  const principal = await find();
  expect(principal && { key_id: principal.key_id }).toEqual(found);
});

test('trusts entries of other keys after a revocation', async () => {
  const { principals, find } = withReplay();
  principals.forget({ kind: 'key', id: 'other' });
  expect(await find()).toMatchObject({ key_id: 'k' });
});

test('does not trust an entry older than the connection that receives revocations', async () => {
  const { principals, find, pass } = withReplay();
  pass(1);
  principals.forgetAll();
  expect(await find()).toBeUndefined();
});

test('trusts an entry made in the millisecond in which revocations begin to arrive', async () => {
  const { principals, find } = withReplay();
  principals.forgetAll();
  expect(await find()).toMatchObject({ key_id: 'k' });
});

test('expires a key at its time, to the microsecond, also from the cache', async () => {
  let now = 1_000_000;
  const valid = { company_id: 'c', user_id: 'u', expires_at: 2_000_000 };
  const { principals, counted } = principalsOf(valid, { now: () => now });
  expect(await principals.find(credential('valid', 1))).toBe(valid);
  now = 1_999_999;
  expect(await principals.find(credential('valid', 1))).toBe(valid);
  now = 2_000_000;
  expect(await principals.find(credential('valid', 1))).toBeUndefined();
  expect(counted.asked).toBe(1);
});

/** A gateway whose Redis is a map. The test decides what happens during a call to integrations or Redis, and whether revocations arrive. */
function listening(more: Partial<Principal> = {}, options: Partial<PrincipalsOptions> = {}) {
  const valid = { ...Principal.decode(new Uint8Array()), company_id: 'c', user_id: 'u', key_id: 'k', ...more };
  const shared = { ...credential('abc', 1), shared: true };
  const seal = createIdentitySeal(new KeyRing([['k1', Buffer.alloc(32, 1)]]));
  const values = new Map([[IDENTITY_EPOCH_KEY, 'e1']]);
  const world = { generation: 0, proven: true, ms: 0, now: 1_000_000, whileAsked: () => undefined as void, whileRead: () => undefined as void };
  const counted = { asked: 0, read: 0 };
  const set: [key: string, expiration: object | undefined][] = [];
  const client = {
    async get(key: string) {
      counted.read += Number(key === IDENTITY_EPOCH_KEY);
      const value = values.get(key) ?? null;
      world.whileRead();
      return value;
    },
    async set(key: string, text: string, { expiration }: { expiration?: object } = {}) {
      values.set(key, text);
      set.push([key, expiration]);
    },
  };
  const { principals } = principalsOf(valid, {
    seal,
    elapsedMs: () => world.ms,
    now: () => world.now,
    redis: { run: (_: string, work: (with_: typeof client) => unknown) => Promise.resolve(work(client)) } as unknown as PrincipalsOptions['redis'],
    invalidations: {
      start: () => undefined,
      stop: () => undefined,
      proven: () => world.proven,
      get generation() {
        return world.generation;
      },
    },
    async ask() {
      counted.asked += 1;
      world.whileAsked();
      return valid;
    },
    ...options,
  });
  const sharedText = () => values.get('truckroll:identity:key:abc') ?? '';
  return {
    world,
    counted,
    set,
    values,
    find: () => principals.find(shared),
    opens: (epoch: string, text = sharedText()) => seal.open(shared.cacheKey, epoch, text) !== undefined,
  };
}

test('does not keep an answer of integrations if something was revoked during the call', async () => {
  const { world, counted, find } = listening();
  world.whileAsked = () => void (world.generation += 1);
  expect(await find()).toMatchObject({ key_id: 'k' });
  world.whileAsked = () => undefined;
  await find();
  expect(counted.read).toBe(2);
});

test('does not keep an answer of Redis if something was revoked during the call', async () => {
  const { world, counted, find } = listening();
  world.whileAsked = () => void (world.generation += 1);
  await find();
  world.whileRead = () => void (world.generation += 1);
  expect(await find()).toMatchObject({ key_id: 'k' });
  await find();
  expect(counted).toEqual({ asked: 1, read: 3 });
});

test('shares an answer under the epoch that it read before its call to integrations, so that a revocation during the call voids the entry', async () => {
  const { world, values, find, opens } = listening();
  world.whileAsked = () => void values.set(IDENTITY_EPOCH_KEY, 'e2');
  await find();
  expect([opens('e1'), opens('e2')]).toEqual([true, false]);
});

test('calls integrations while it may miss revocations, and uses neither Redis nor an answer that came from Redis', async () => {
  const { world, counted, find } = listening();
  world.whileAsked = () => void (world.generation += 1);
  await find();
  await find();
  expect(counted).toEqual({ asked: 1, read: 2 });
  world.proven = false;
  await find();
  expect(counted).toEqual({ asked: 2, read: 2 });
});

test('shares an answer for as long as it may be trusted, and under the name of its credential', async () => {
  const { find, set } = listening();
  await find();
  await new Promise(setImmediate);
  expect(set).toEqual([['truckroll:identity:key:abc', { type: 'EX', value: 900 }]]);
});

test('shares a caller of a named cell so that a gateway of 1.3.0, which would send it to another cell, neither finds nor trusts the entry', async () => {
  const { find, set, values, opens } = listening({ cell: 'west' }, { serves: (cell) => cell === 'west' });
  await find();
  await new Promise(setImmediate);
  expect(set.map(([key]) => key)).toEqual(['truckroll:identity:cells:key:abc']);
  expect(opens('e1', values.get('truckroll:identity:cells:key:abc'))).toBe(false);
});

test('asks integrations while Redis has no epoch, and shares nothing under none', async () => {
  const { find, set, values, counted } = listening();
  values.clear();
  expect(await find()).toMatchObject({ key_id: 'k' });
  await new Promise(setImmediate);
  expect([counted.asked, set]).toEqual([1, []]);
});

test('does not let in a caller whose answer from Redis or integrations has expired', async () => {
  const { find, world, counted } = listening({ expires_at: 2_000_000 });
  const foundBy = async (now: number) => {
    world.now = now;
    // So that the answer is not cached.
    world.whileRead = () => void (world.generation += 1);
    return await find();
  };
  world.whileAsked = () => void (world.generation += 1);
  expect([await foundBy(2_000_000), counted.asked]).toEqual([undefined, 1]);
  expect(await foundBy(1_999_999)).toMatchObject({ key_id: 'k' });
  expect([await foundBy(2_000_000), counted.asked]).toEqual([undefined, 1]);
});

test('refreshes an old answer once, however many requests find it', async () => {
  const { world, counted, find } = listening();
  await find();
  world.ms = 60_001;
  for (let request = 0; request < 3; request += 1) await find();
  expect(counted.read).toBe(2);
});

test.each([
  ['an unknown key, although no revocation can be missed', 2, true],
  ['a valid key, while revocations may be missed', 1, false],
])('caches %s, for less than a second', async (_, first, proven) => {
  let ms = 5000;
  const invalidations = { start: () => undefined, stop: () => undefined, proven: () => proven, generation: 0 };
  const { principals, counted } = principalsOf({ company_id: 'c', user_id: 'u' }, { invalidations, elapsedMs: () => ms });
  await principals.find(credential('k', first));
  ms = 5999;
  await principals.find(credential('k', first));
  expect([counted.asked, principals.remembers(credential('k', first))]).toEqual([1, true]);
  ms = 6000;
  expect(principals.remembers(credential('k', first))).toBe(false);
  await principals.find(credential('k', first));
  expect(counted.asked).toBe(2);
});

test('asks about a cached key again, in the background, once its answer is more than a minute old', async () => {
  let ms = 5000;
  const { principals, counted } = principalsOf({ company_id: 'c', user_id: 'u' }, { elapsedMs: () => ms });
  await principals.find(credential('k', 1));
  const asked = async (at: number) => {
    ms = at;
    expect(principals.recall(credential('k', 1))).toMatchObject({ company_id: 'c' });
    await new Promise(setImmediate);
    return counted.asked;
  };
  expect([await asked(65_000), await asked(65_001), await asked(65_001)]).toEqual([1, 2, 2]);
});

test('asks about a cached key again a second after it could not be asked about, and uses the answer that it has until then', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  const world = { ms: 0, asked: 0, away: false };
  const { principals } = principalsOf(
    {},
    {
      elapsedMs: () => world.ms,
      async ask() {
        world.asked += 1;
        if (world.away) throw new Error('away');
        return { company_id: 'c', user_id: 'u' } as Principal;
      },
    },
  );
  const found = async () => {
    expect(await principals.find(credential('k', 1))).toMatchObject({ company_id: 'c' });
    await new Promise(setImmediate);
    return world.asked;
  };
  await found();
  Object.assign(world, { ms: 60_001, away: true });
  expect([await found(), await found()]).toEqual([2, 2]);
  world.away = false;
  jest.advanceTimersByTime(1000);
  expect([await found(), await found()]).toEqual([3, 3]);
});

describe('in memory', () => {
  /** Three callers of two companies, which integrations knows as long as `valid` holds them. */
  async function remembered() {
    const valid = new Map([
      [1, { company_id: 'c', user_id: 'u' }],
      [2, { company_id: 'c', user_id: 'v' }],
      [3, { company_id: 'd', user_id: 'u2' }],
    ]);
    const world = { ms: 0 };
    const ask = async ({ key_hash: hash }: { key_hash?: Uint8Array | null }) => valid.get(hash![0]!) as Principal | undefined;
    const { principals } = principalsOf({}, { ask, elapsedMs: () => world.ms });
    for (const first of valid.keys()) await principals.find(credential(String(first), first));
    return { principals, world, valid, kept: () => [1, 2, 3].filter((first) => principals.recall(credential(String(first), first)) !== undefined) };
  }

  test.each([
    ['key', '1', [2, 3]],
    ['user', 'u', [2, 3]],
    ['company', 'c', [3]],
    ['user', 'c', [1, 2, 3]],
    ['company', 'u', [1, 2, 3]],
  ] as const)('a revocation of the %s %s leaves the callers %j', async (kind, id, left) => {
    const { principals, kept } = await remembered();
    expect(kept()).toEqual([1, 2, 3]);
    principals.forget({ kind, id });
    expect(kept()).toEqual(left);
  });

  test('a gap in the revocations leaves no caller', async () => {
    const { principals, kept } = await remembered();
    principals.forgetAll();
    expect(kept()).toEqual([]);
  });

  test('a caller is forgotten once a refresh finds it unknown', async () => {
    const { world, valid, kept } = await remembered();
    valid.delete(2);
    world.ms = 60_001;
    expect(kept()).toEqual([1, 2, 3]);
    await new Promise(setImmediate);
    expect(kept()).toEqual([1, 3]);
  });

  test('a caller that becomes known is found at the next look-up, and kept', async () => {
    const { principals, world, valid } = await remembered();
    expect(await principals.find(credential('4', 4))).toBeUndefined();
    valid.set(4, { company_id: 'd', user_id: 'w' });
    world.ms = 1000;
    expect(await principals.find(credential('4', 4))).toMatchObject({ user_id: 'w' });
    expect(principals.recall(credential('4', 4))).toMatchObject({ user_id: 'w' });
  });
});
