import { readBuild } from '../src/build.ts';

test.each([
  [{}, 'checkout', 'unknown'],
  [{ TRUCKROLL_VERSION: '', TRUCKROLL_COMMIT: '' }, 'checkout', 'unknown'],
  [{ TRUCKROLL_VERSION: '1.2.0', TRUCKROLL_COMMIT: 'ce03cac' }, '1.2.0', 'ce03cac'],
])('with %j, names version %s and commit %s', (environment, version, commit) => {
  expect(readBuild(environment)).toEqual({ version, commit });
});
