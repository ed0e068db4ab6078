import { JsonBuffer } from '@truckroll/contract';
import { OutputPool } from '../src/http/output-pool.ts';

const MIB = 1024 * 1024;

test('makes a new buffer if none was given back', () => {
  const pool = new OutputPool();
  const first = pool.take();
  expect(first.length).toBe(0);
  expect(pool.take()).not.toBe(first);
});

test('hands out a buffer that was given back, empty and only once', () => {
  const pool = new OutputPool();
  const buffer = new JsonBuffer(16);
  buffer.ascii('used');
  pool.giveBack(buffer);
  expect(pool.take()).toBe(buffer);
  expect(buffer.length).toBe(0);
  expect(pool.take()).not.toBe(buffer);
});

test.each([
  [2 * MIB, true],
  [2 * MIB + 1, false],
])('a buffer of %i bytes is kept: %s', (size, kept) => {
  const pool = new OutputPool();
  const buffer = new JsonBuffer(size);
  pool.giveBack(buffer);
  expect(pool.take() === buffer).toBe(kept);
});

test('keeps 64 buffers at most', () => {
  const pool = new OutputPool();
  const buffers = Array.from({ length: 66 }, () => new JsonBuffer(1));
  for (const buffer of buffers) pool.giveBack(buffer);
  const taken = buffers.map(() => pool.take());
  expect(taken.filter((buffer) => buffers.includes(buffer))).toHaveLength(64);
});
