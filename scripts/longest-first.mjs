// Order of the test files in a run: longest first, so that no long file is left to run alone at the end. The file durations.json has the
// seconds that each took in the newest measured run: `npm run test:durations` writes it, and so does any run with TEST_DURATIONS=write.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

const root = join(import.meta.dirname, '..');
const FILE = join(import.meta.dirname, 'durations.json');

/** Sorts paths by their seconds, longest first. A file that was never measured may be the longest: it comes before all others. */
export function longestFirst(paths, seconds) {
  const of = (path) => seconds[path] ?? Number.MAX_VALUE;
  return [...paths].sort((a, b) => of(b) - of(a));
}

/** The seconds by path after another run, which may have been of some files only. Files that are gone are left out, failed ones keep what they had. */
export function withResults(seconds, results, exists) {
  const measured = results.filter(({ failed }) => !failed).map(({ path, ms }) => [path, Math.round(ms / 1000)]);
  const all = Object.entries({ ...seconds, ...Object.fromEntries(measured) });
  return Object.fromEntries(all.filter(([path]) => exists(path)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export default class LongestFirst extends Sequencer {
  #seconds = JSON.parse(readFileSync(FILE, 'utf8'));

  sort(tests) {
    const byPath = new Map(tests.map((test) => [relative(test.context.config.rootDir, test.path), test]));
    return longestFirst(byPath.keys(), this.#seconds).map((path) => byPath.get(path));
  }

  cacheResults(tests, results) {
    super.cacheResults(tests, results);
    if (process.env.TEST_DURATIONS !== 'write') return;
    const ran = results.testResults.map((one) => ({
      path: relative(root, one.testFilePath),
      ms: one.perfStats.runtime,
      failed: one.numFailingTests > 0 || one.testExecError !== undefined,
    }));
    const after = withResults(this.#seconds, ran, (path) => existsSync(join(root, path)));
    writeFileSync(FILE, `${JSON.stringify(after, null, 2)}\n`);
  }
}
