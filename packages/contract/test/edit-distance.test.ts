import { editDistance } from '../src/edit-distance.ts';

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['abc', '', 3],
  ['abc', 'abc', 0],
  ['abc', 'abd', 1],
  ['abc', 'xbc', 1],
  ['abc', 'abcd', 1],
  ['abc', 'xabc', 1],
  ['abc', 'bc', 1],
  ['abc', 'ab', 1],
  ['abc', 'xyz', 3],
  ['a', 'bcd', 3],
  ['kitten', 'sitting', 3],
  ['sitting', 'kitten', 3],
  ['ab', 'ba', 1],
  ['status', 'statsu', 1],
  ['status', 'tsatus', 1],
  ['abcd', 'badc', 2],
  ['ca', 'abc', 3],
  ['aab', 'aba', 1],
  ['abab', 'baba', 2],
  ['ab', 'bb', 1],
  ['ab', 'aa', 1],
  ['xab', 'yba', 2],
])('from %j to %j there are %i changes', (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
});
