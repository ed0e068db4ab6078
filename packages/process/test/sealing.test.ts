import { createSecretKey, randomBytes } from 'node:crypto';
import { seal, sealedBy, unseal } from '../src/sealing.ts';

const [key, other] = [createSecretKey(randomBytes(32)), createSecretKey(randomBytes(32))];
const bound = Buffer.from('endpoint 1');
const bytes = Buffer.from('secret');

test('opens with the same key and bound bytes, and with no others', () => {
  const sealed = seal('k1', key, bound, bytes);
  expect(sealed.includes(bytes)).toBe(false);
  expect(unseal(key, bound, sealed)).toEqual(bytes);
  expect(unseal(other, bound, sealed)).toBeUndefined();
  expect(unseal(key, Buffer.from('endpoint 2'), sealed)).toBeUndefined();
});

test('does not open if any byte after the id of the key was changed', () => {
  const sealed = seal('k1', key, bound, bytes);
  for (let at = 3; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(unseal(key, bound, changed)).toBeUndefined();
  }
});

test.each([
  ['k1', bytes, 2 + 6],
  ['k1', Buffer.alloc(0), 2],
  ['', bytes, 6],
  ['a'.repeat(16), bytes, 16 + 6],
])('seals with the key %j: its length, itself, a nonce of 12 bytes, the bytes and a tag of 16', (id, content, own) => {
  const sealed = seal(id, key, bound, content);
  expect(sealed.length).toBe(1 + 12 + 16 + own);
  expect(sealedBy(sealed)).toBe(id);
  expect(unseal(key, bound, sealed)).toEqual(content);
});

test('names no key of bytes too short to have been sealed', () => {
  const sealed = seal('k1', key, bound, Buffer.alloc(0));
  expect(sealedBy(sealed.subarray(0, -1))).toBeUndefined();
  expect(sealedBy(Buffer.alloc(0))).toBeUndefined();
});

test('never uses a nonce twice', () => {
  const nonces = Array.from({ length: 1000 }, () => seal('k1', key, bound, bytes).toString('hex', 3, 15));
  expect(new Set(nonces).size).toBe(1000);
});
