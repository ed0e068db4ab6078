// What this process keeps of callers; the whole way, with Redis and integrations, is in authentication.test.ts.
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
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
