import { overallOf } from '../src/ends.ts';

const partitions = (...offsets: number[]) => offsets.map((offset, partition) => ({ partition, offset: String(offset) }));

test('weighs the share read of each topic by its size, in the order in which topics are read', () => {
  const overall = overallOf(
    new Map([
      ['first', partitions(10, 20)],
      ['second', partitions(70)],
    ]),
  );
  const first = overall('first');
  expect([0, 0.5, 1].map(first)).toEqual([0, 0.15, 0.3]);
  const missing = overall('missing');
  expect([0, 1].map(missing)).toEqual([0.3, 0.3]);
  const second = overall('second');
  expect([0, 1].map(second)).toEqual([0.3, 1]);
});

test('has read nothing of empty topics', () => {
  expect(overallOf(new Map([['empty', partitions(0)]]))('empty')(1)).toBe(0);
});
