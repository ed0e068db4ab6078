// What this process keeps of callers; the whole way, with Redis and integrations, is in authentication.test.ts.
import { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { KeyRing } from '@truckroll/service-kit';
import { createIdentitySeal } from '../src/auth/identity-seal.ts';
import { Principals, type PrincipalsOptions } from '../src/auth/principals.ts';

const credential = (name: string, first: number) => ({ cacheKey: `key:${name}`, request: { key_hash: Buffer.of(first) }, shared: false });

/** Every revocation is heard, and Redis is away. Whoever's hash begins with 1 is `valid`. */
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

test('made-up keys displace no valid one from memory', async () => {
  const valid = { company_id: 'c', user_id: 'u' };
  const { principals, counted } = principalsOf(valid);
  expect(await principals.find(credential('valid', 1))).toBe(valid);
  for (let i = 0; i < 60_000; i++) await principals.find(credential(String(i), 2));
  counted.asked = 0;
  expect(await principals.find(credential('valid', 1))).toBe(valid);
  expect(counted.asked).toBe(0);
});

/** A gateway with an answer that another one has shared, and a writer to Redis who puts it back again and again. */
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

test.each([
  ['key', 'abc'],
  ['user', 'u'],
  ['company', 'c'],
] as const)('does not believe an entry of a revoked %s that is put back into Redis, for as long as such an entry would open', async (kind, id) => {
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

test('believes entries of other keys after a revocation', async () => {
  const { principals, find } = withReplay();
  principals.forget({ kind: 'key', id: 'other' });
  expect(await find()).toMatchObject({ key_id: 'k' });
});

test('does not believe an entry that was made before this gateway could hear of revocations', async () => {
  const { principals, find, pass } = withReplay();
  pass(1);
  principals.forgetAll();
  expect(await find()).toBeUndefined();
});

test('believes an entry that was made in the millisecond since which it hears of revocations', async () => {
  const { principals, find } = withReplay();
  principals.forgetAll();
  expect(await find()).toMatchObject({ key_id: 'k' });
});

test('a key ends at its time, to the microsecond, also when it is kept', async () => {
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
