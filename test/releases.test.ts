// What was released is told in several places: they must agree.
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

test('releases are listed oldest first, each with a date and a whole commit', () => {
  for (const { version, date, commit } of releases) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(commit).toMatch(/^[0-9a-f]{40}$/);
  }
  expect(releases.map(({ version }) => version)).toEqual(releases.map(({ version }) => version).toSorted(compare));
});

test('every release has notes for operators, and a chapter for those who integrate', () => {
  for (const { version } of releases) {
    expect({ version, notes: existsSync(join(ROOT, `docs/releases/${version}.md`)) }).toEqual({ version, notes: true });
    expect(text('docs/changelog.md')).toContain(`\n## ${version}\n`);
  }
});

test('what is to be released has notes for operators that grow with it', () => {
  expect(text('docs/releases/unreleased.md')).toContain(`what the release after ${lastRelease.version} needs`);
});

test('the checkout and its chart call themselves by one version, which is the last release or a later one', () => {
  const { version } = JSON.parse(text('package.json')) as { version: string };
  expect(compare(version, lastRelease.version)).toBeGreaterThanOrEqual(0);
  expect(text('deploy/helm/truckroll/Chart.yaml')).toContain(`\nappVersion: ${version}\n`);
});
