// Releases are described in several places, which must agree.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';
import { Tree } from './rollout/tree.ts';
import { lastRelease, releases, type Release } from './support/releases.ts';

const textIn = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');
const text = (path: string): string => textIn(ROOT, path);
const numbers = (version: string): number[] => version.split('.').map(Number);
const compare = (a: string, b: string): number =>
  numbers(a)
    .map((part, i) => part - numbers(b)[i]!)
    .find((difference) => difference !== 0) ?? 0;

test('releases are listed oldest first, each with a date and a full commit', () => {
  for (const { version, date, commit, bundler = commit } of releases) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    for (const each of [commit, bundler]) expect(each).toMatch(/^[0-9a-f]{40}$/);
  }
  expect(releases.map(({ version }) => version)).toEqual(releases.map(({ version }) => version).toSorted(compare));
});

test('every release has notes for operators and a chapter for integrators', () => {
  for (const { version } of releases) {
    expect({ version, notes: existsSync(join(ROOT, `docs/releases/${version}.md`)) }).toEqual({ version, notes: true });
    expect(text('docs/changelog.md')).toContain(`\n## ${version}\n`);
  }
});

test('the unreleased changes have notes for operators', () => {
  const { version } = JSON.parse(text('package.json')) as { version: string };
  expect(text('docs/releases/unreleased.md')).toContain(`what the release after ${version} needs`);
});

test('the checkout and its chart have one version, which is that of the last release or later', () => {
  const { version } = JSON.parse(text('package.json')) as { version: string };
  expect(compare(version, lastRelease.version)).toBeGreaterThanOrEqual(0);
  expect(text('deploy/helm/truckroll/Chart.yaml')).toContain(`\nappVersion: ${version}\n`);
});

test('scripts/release.mjs gives a checkout the next version, and lists its commit as that release', () => {
  const tree = new Tree();
  const cut = (...args: string[]): void => {
    const env = { ...process.env, GIT_DIR: join(ROOT, '.git') };
    const { status, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', ...args], { cwd: tree.folder, encoding: 'utf8', env });
    expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  };
  try {
    const { version: current } = JSON.parse(text('package.json')) as { version: string };
    const known = [...releases];
    // A version that is prepared and not recorded yet is recorded first.
    if (current !== lastRelease.version) {
      cut('record', current, lastRelease.commit);
      known.push({ version: current, date: expect.any(String) as string, commit: lastRelease.commit });
    }
    const next = current.replace(/^\d+/, (major) => String(Number(major) + 1));
    tree.write('docs/releases/unreleased.md', text('docs/releases/unreleased.md').replace(/$/, '\n- Something to know.\n'));
    cut('prepare', next);
    expect(textIn(tree.folder, `docs/releases/${next}.md`)).toContain('\n- Something to know.\n');
    const notes = textIn(tree.folder, 'docs/releases/unreleased.md');
    expect(notes).toContain(`what the release after ${next} needs`);
    expect(notes).not.toContain('Something to know');
    expect(textIn(tree.folder, 'docs/changelog.md')).toContain(`\n## ${next}\n`);
    expect(textIn(tree.folder, 'deploy/helm/truckroll/Chart.yaml')).toContain(`\nversion: ${next}\nappVersion: ${next}\n`);
    expect(textIn(tree.folder, 'gateway/src/openapi/document.ts')).toContain(`'x-release': '${next}'`);
    cut('record', next, lastRelease.commit);
    const listed = JSON.parse(textIn(tree.folder, 'releases.json')) as Release[];
    expect(listed).toEqual([...known, { version: next, date: expect.any(String), commit: lastRelease.commit }]);
    expect(textIn(tree.folder, 'proto/released.openapi.json')).toBe(textIn(tree.folder, 'gateway/openapi.json'));
    expect(textIn(tree.folder, 'proto/announced.txt')).toMatch(/^(#.*\n)*$/);
  } finally {
    tree.remove();
  }
});
