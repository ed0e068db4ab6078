import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';
import { problemsOf } from '../scripts/commit-message.mjs';
import { useHooks } from '../scripts/install.mjs';

const long = 'gateway: reject cursors that were sealed for another route, or another filter';

test.each([
  'gateway: reject cursors sealed for another route',
  'outbox: retry dead letters in order\n\nAn event must not overtake the one before it.\n',
  'test/load: name the scenario in the error',
  'docs: shorten the list of variables',
  'ci: run the vocabulary check',
  'deps: use pg 8.23.1',
  "Merge branch 'main' into topic",
  'Revert "gateway: reject cursors sealed for another route"',
  'fixup! gateway: reject cursors',
  '\n# Please enter the commit message\n',
  `gateway: reject cursors\n# ------------------------ >8 ------------------------\n${long}`,
])('accepts %j', (message) => {
  expect(problemsOf(message)).toEqual([]);
});

test.each([
  ['Hold what is said of cursors', /must be "area: what changes"/],
  ['gateway:reject cursors', /must be "area: what changes"/],
  [long, /has 77 characters, of at most 72/],
  ['gateways: reject cursors', /"gateways" is no area/],
  ['gateway, outbox: reject cursors', /"gateway, outbox" is no area/],
  ['../main: reject cursors', /is no area/],
  ['README.md: reject cursors', /is no area/],
  ['gateway: reject cursors.', /full stop/],
  ['gateway: reject cursors\nof another route', /second line must be empty/],
])('refuses %j', (message, problem) => {
  expect(problemsOf(message)).toEqual([expect.stringMatching(problem)]);
});

describe('in a checkout', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'truckroll-hooks-'));
    git('init', '--quiet');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const git = (...args: string[]) => spawnSync('git', args, { cwd: folder, encoding: 'utf8', env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' } });

  test('git refuses a commit whose message breaks the rules', () => {
    const commit = (message: string) =>
      git(
        '-c',
        `core.hooksPath=${join(ROOT, '.githooks')}`,
        '-c',
        'user.name=T',
        '-c',
        'user.email=t@example.test',
        'commit',
        '--quiet',
        '--allow-empty',
        '--message',
        message,
      );
    const refused = commit('Hold what is said of cursors');
    expect(refused.stderr).toContain('The subject must be "area: what changes".');
    expect(refused.status).toBe(1);
    expect(commit('gateway: reject cursors')).toMatchObject({ status: 0 });
  });

  test('installing sets the hooks', () => {
    useHooks(folder);
    expect(git('config', 'core.hooksPath').stdout).toBe('.githooks\n');
  });

  test('installing keeps hooks that the checkout already has', () => {
    mkdirSync(join(folder, '.git/hooks'), { recursive: true });
    writeFileSync(join(folder, '.git/hooks/pre-push'), '');
    useHooks(folder);
    expect(git('config', 'core.hooksPath').stdout).toBe('');
    rmSync(join(folder, '.git/hooks/pre-push'));
    git('config', 'core.hooksPath', 'other');
    useHooks(folder);
    expect(git('config', 'core.hooksPath').stdout).toBe('other\n');
  });
});
