import { retryAfterSeconds } from '../src/retry-after.ts';

const now = Date.parse('2026-11-27T22:59:30Z');

test.each([
  ['30', 30],
  ['0', 0],
  ['Fri, 27 Nov 2026 23:00:00 GMT', 30],
  ['Friday, 27-Nov-26 23:00:00 GMT', 30],
  ['Fri Nov 27 23:00:00 2026', 30],
  ['Fri, 27 Nov 2026 22:00:00 GMT', 0],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['2026-11-27T23:00:00Z', undefined],
  ['', undefined],
  [null, undefined],
])('reads Retry-After: %s as %p seconds', (text, seconds) => {
  expect(retryAfterSeconds(text, now)).toBe(seconds);
});

test('rounds the time until a date up to whole seconds', () => {
  expect(retryAfterSeconds('Fri, 27 Nov 2026 23:00:00 GMT', now + 1)).toBe(30);
});
