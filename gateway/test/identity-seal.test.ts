import { randomBytes } from 'node:crypto';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { KeyRing } from '@truckroll/process';
import fc from 'fast-check';
import { SHARED_SECONDS, createIdentitySeal } from '../src/auth/identity-seal.ts';

const key = (id: string): [string, Buffer] => [id, randomBytes(32)];
const [first, second] = [key('k1'), key('k2')];
const seal = createIdentitySeal(new KeyRing([first]));
const principal: Principal = {
  company_id: '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e',
  company_name: 'Lone Star',
  time_zone: 'America/Chicago',
  kind: 'PRINCIPAL_KIND_KEY',
  key_id: 'k',
  user_id: 'u',
  limits: null,
  company_limits: null,
  highest_limits: null,
  expires_at: null,
  sandbox: false,
  cell: null,
};
const KEY = 'key:abc';

test('opens what a gateway sealed for the same key and epoch, with the first key and the second', () => {
  const text = seal.seal(KEY, 'e1', principal);
  expect(seal.open(KEY, 'e1', text)).toEqual(principal);
  expect(createIdentitySeal(new KeyRing([second, first])).open(KEY, 'e1', text)).toEqual(principal);
  expect(createIdentitySeal(new KeyRing([second])).open(KEY, 'e1', text)).toBeUndefined();
});

test('does not open an identity for another key or in another epoch', () => {
  const text = seal.seal(KEY, 'e1', principal);
  expect(seal.open('key:abd', 'e1', text)).toBeUndefined();
  expect(seal.open(KEY, 'e2', text)).toBeUndefined();
  expect(seal.open(KEY, 'e2', text.replace('e1', 'e2'))).toBeUndefined();
});

test('does not open with any character changed', () => {
  const text = seal.seal(KEY, 'e1', principal);
  fc.assert(
    fc.property(fc.nat({ max: text.length - 1 }), fc.constantFrom(...'AZaz09+/ .'), (at, other) => {
      fc.pre(text[at] !== other);
      const forged = text.slice(0, at) + other + text.slice(at + 1);
      // The last character of base64 has unused bits, so another spelling may encode the same MAC.
      fc.pre(
        !Buffer.from(forged.split(' ')[4] ?? '', 'base64').equals(Buffer.from(text.split(' ')[4]!, 'base64')) ||
          forged.split(' ').slice(0, 4).join() !== text.split(' ').slice(0, 4).join(),
      );
      expect(seal.open(KEY, 'e1', forged)).toBeUndefined();
    }),
  );
});

test('opens an old identity that is put back into Redis no longer than the original: 15 minutes', () => {
  let now = 1_800_000_000_000;
  const clock = createIdentitySeal(new KeyRing([first]), () => now);
  const text = clock.seal(KEY, 'e1', principal);
  expect(SHARED_SECONDS).toBe(900);
  now += 900_000;
  expect(clock.open(KEY, 'e1', text)).toEqual(principal);
  now += 1;
  expect(clock.open(KEY, 'e1', text)).toBeUndefined();
});

// The latter two are no longer whole milliseconds after a division by 1000 and a multiplication.
test.each([1_800_000_000_000, 2_171_231_456_898, 2_170_292_566_603])(
  'after refuseEarlier at %i opens what is sealed from that millisecond on, and nothing sealed before',
  (end) => {
    let now = end - 1;
    const clock = createIdentitySeal(new KeyRing([first]), () => now);
    const before = clock.seal(KEY, 'e1', principal);
    expect(clock.open(KEY, 'e1', before)).toEqual(principal);
    now = end;
    clock.refuseEarlier();
    expect([clock.open(KEY, 'e1', before), clock.open(KEY, 'e1', clock.seal(KEY, 'e1', principal))]).toEqual([undefined, principal]);
  },
);

test('does not open an entry without a MAC', () => {
  expect(seal.open(KEY, 'e1', seal.seal(KEY, 'e1', principal).split(' ').slice(0, 2).join(' '))).toBeUndefined();
});
