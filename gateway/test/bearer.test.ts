import type { IncomingMessage } from 'node:http';
import { generateApiKey, hashApiKey } from '@truckroll/contract';
import { bearerOf, createKeyReader } from '../src/auth/bearer.ts';
import { singleHeader } from '../src/http/single-headers.ts';

test('reads a key from a header, and hashes it once a second', () => {
  jest.useFakeTimers();
  try {
    const keyIn = createKeyReader();
    const key = generateApiKey();
    const hash = hashApiKey(key);
    const first = keyIn(`Bearer ${key}`);
    expect(first).toEqual({ cacheKey: `key:${hash.toString('hex')}`, request: { key_hash: hash }, shared: true });
    expect(keyIn(`Bearer ${key}`)).toBe(first);
    expect(keyIn(`bearer  ${key} `)).toEqual(first);
    jest.advanceTimersByTime(1000);
    expect(keyIn(`Bearer ${key}`)).toEqual(first);
    expect(keyIn(`Bearer ${key}`)).not.toBe(first);
  } finally {
    jest.useRealTimers();
  }
});

test('remembers at most a thousand keys', () => {
  const keyIn = createKeyReader();
  const headers = Array.from({ length: 1001 }, () => `Bearer ${generateApiKey()}`);
  const [first] = headers.map(keyIn);
  expect(keyIn(headers[0]!)).toEqual(first);
  expect(keyIn(headers[0]!)).not.toBe(first);
});

test('remembers no header that spaces make longer than a key', () => {
  const keyIn = createKeyReader();
  const header = `Bearer ${' '.repeat(64)}${generateApiKey()}`;
  expect(keyIn(header)).toEqual(keyIn(header));
  expect(keyIn(header)).not.toBe(keyIn(header));
});

test('leaves headers without a well-formed key to others', () => {
  const keyIn = createKeyReader();
  const key = generateApiKey();
  for (const header of ['', 'Bearer', `Basic ${key}`, `Bearer ${key}0`, `Bearer ${key} ${key}`, 'Bearer a.b.c']) expect(keyIn(header)).toBeUndefined();
  expect(bearerOf('BEARER a.b.c')).toBe('a.b.c');
});

test('finds a single header under any spelling of its name, and none if it is repeated', () => {
  const of = (...rawHeaders: string[]): string | undefined => singleHeader({ rawHeaders } as IncomingMessage, 'authorization');
  expect(of('Host', 'x', 'AUTHORIZATION', 'a')).toBe('a');
  expect(of('Host', 'authorization', 'X', 'Authorization')).toBeUndefined();
  expect(of('Authorization', 'a', 'authorization', 'a')).toBeUndefined();
});
