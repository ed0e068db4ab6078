import { LARGEST_MESSAGE, largestPayload, noteLimit } from '../src/topic-limits.ts';

const ENVELOPE = 64 * 1024;

test('lets a payload be as large as a message of its topic, without the 64 KiB around it', () => {
  expect(largestPayload('new')).toBe(4 * 1024 * 1024 - ENVELOPE);
  noteLimit('old', 1_000_000);
  expect([largestPayload('old'), largestPayload('new')]).toEqual([1_000_000 - ENVELOPE, LARGEST_MESSAGE - ENVELOPE]);
});

test.each([LARGEST_MESSAGE, LARGEST_MESSAGE + 1])('forgets the smaller limit of a topic that accepts messages of %i bytes', (bytes) => {
  noteLimit('raised', 1_000_000);
  noteLimit('raised', bytes);
  noteLimit('almost', LARGEST_MESSAGE - 1);
  expect([largestPayload('raised'), largestPayload('almost')]).toEqual([LARGEST_MESSAGE - ENVELOPE, LARGEST_MESSAGE - 1 - ENVELOPE]);
});
