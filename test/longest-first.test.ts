import { longestFirst, withResults } from '../scripts/longest-first.mjs';

test('puts files that were never measured first, then the longest', () => {
  expect(longestFirst(['a', 'b', 'c', 'd'], { a: 2, b: 60, d: 5 })).toEqual(['c', 'b', 'd', 'a']);
});

test('takes the figures of a run, keeps those of files that failed or did not run, and leaves out files that are gone', () => {
  const results = [
    { path: 'b', ms: 1499, failed: false },
    { path: 'c', ms: 20, failed: true },
  ];
  expect(Object.entries(withResults({ c: 7, d: 4, b: 60, gone: 3 }, results, (path) => path !== 'gone'))).toEqual([
    ['b', 1],
    ['c', 7],
    ['d', 4],
  ]);
});
