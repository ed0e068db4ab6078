import { checkKeyExpiry } from '../src/command-rules.ts';

test.each([
  [99, ['expiresAt']],
  [100, ['expiresAt']],
  [101, []],
  [null, []],
  [undefined, []],
])('refuses an end of a key at %p, seen at 100 µs, as %j', (expiresAt, fields) => {
  expect(checkKeyExpiry(expiresAt, 100).map(({ field }) => field)).toEqual(fields);
});
