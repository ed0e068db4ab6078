import { randomBytes, type KeyObject } from 'node:crypto';
import { KeyRing, parseKeyRing } from '../src/key-ring.ts';

const keys = [randomBytes(32), randomBytes(32)] as const;
const [first, second] = keys.map((key) => key.toString('base64')) as [string, string];
const bytesOf = (key: KeyObject | undefined): Buffer | undefined => key?.export();

test('reads keys by id; the first is the one to seal with', () => {
  const ring = parseKeyRing(` k_1:${first} ,${'B-'.repeat(8)}:${second}`)!;
  expect([ring.firstId, bytesOf(ring.first)]).toEqual(['k_1', keys[0]]);
  expect(['k_1', 'B-B-B-B-B-B-B-B-'].map((id) => bytesOf(ring.get(id)))).toEqual(keys);
  expect(ring.get('b')).toBeUndefined();
});

test('reads a key without the padding of its base64', () => {
  expect(bytesOf(parseKeyRing(`a:${first.replace('=', '')}`)?.first)).toEqual(keys[0]);
});

test('needs a key', () => {
  expect(() => new KeyRing([])).toThrow('a key ring needs a key');
});

test.each([
  ['no key', ''],
  ['an empty entry', `a:${first},`],
  ['no id', first],
  ['an empty id', `:${first}`],
  ['an id of 17 characters', `${'a'.repeat(17)}:${first}`],
  ['other characters in an id', `a b:${first}`],
  ['an id twice', `a:${first},a:${second}`],
  ['a key of 31 bytes', `a:${randomBytes(31).toString('base64')}`],
  ['a key of 33 bytes', `a:${randomBytes(33).toString('base64')}`],
  ['no base64', `a:${first}!`],
  ['no base64 in front of the key', `a:!${first}`],
  ['a key of one repeated byte', `a:${Buffer.alloc(32, 7).toString('base64')}`],
])('refuses %s', (_, text) => {
  expect(parseKeyRing(text)).toBeUndefined();
});
