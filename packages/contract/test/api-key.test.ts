import { createHash } from 'node:crypto';
import { apiKeyEnds, generateApiKey, hashApiKey, isApiKey } from '../src/index.ts';

// The checksum was computed by Python: zlib.crc32, in base 62.
const KEY = `trk_${'A'.repeat(32)}`;

test('a generated key has its form and checksum, and none is generated twice', () => {
  const keys = Array.from({ length: 100 }, generateApiKey);
  for (const key of keys) expect([key, isApiKey(key)]).toEqual([expect.stringMatching(/^trk_[0-9A-Za-z]{38}$/), true]);
  expect(new Set(keys).size).toBe(100);
});

test('a key with a mistyped character, of another length or prefix is none', () => {
  const key = generateApiKey();
  const other = (at: number): string => `${key.slice(0, at)}${key[at] === '0' ? '1' : '0'}${key.slice(at + 1)}`;
  for (let at = 4; at < key.length; at += 1) expect([at, isApiKey(other(at))]).toEqual([at, false]);
  for (const text of [key.slice(0, -1), `${key}0`, key.replace('trk_', 'trk-'), ` ${key}`, `${key}\n`, ''])
    expect([text, isApiKey(text)]).toEqual([text, false]);
});

test('a known key keeps its checksum', () => {
  expect(isApiKey(`${KEY}4VaiDu`)).toBe(true);
});

test('only the first eight and the last four characters of a key are shown, and its SHA-256 is stored', () => {
  expect(apiKeyEnds(`${KEY}123456`)).toEqual({ keyPrefix: 'trk_AAAA', keySuffix: '3456' });
  expect(hashApiKey(KEY)).toEqual(createHash('sha256').update(KEY).digest());
});
