// Checkouts of other commits: git worktrees with packages and generated code of their own, kept in .truckroll/checkouts.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, ROOT, STATE, say } from '@truckroll/local-stack';
import type { Checkout } from '../system/stack.ts';

const RELEASES = join(ROOT, 'releases.json');
const RECORDS = join(ROOT, 'loadtest/records.json');
const SHORT = 12;

export interface Subject extends Checkout {
  /** Commit; with a + behind it if the checkout has other changes. */
  readonly name: string;
}

/** This checkout, with its uncommitted changes. */
export function thisCheckout(): Subject {
  const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
  return { name: `${git('rev-parse', `--short=${SHORT}`, 'HEAD')}${changed ? '+' : ''}`, folder: ROOT, node: process.execPath };
}

/** The full id of a commit: `release` is that of the last release, `best` that of records.json. */
export function commitOf(text: string, kind: string): string {
  const known = { release: lastRelease, best: () => bestOf(kind) };
  const commit = Object.hasOwn(known, text) ? known[text as keyof typeof known]() : text;
  try {
    return git('rev-parse', '--verify', '--quiet', `${commit}^{commit}`);
  } catch {
    throw new Problem(`${commit} is no commit of this repository: fetch it, or give release, best, or another commit.`);
  }
}

/** Installs and generates what the commit needs, by the commit's own scripts. */
export function checkoutOf(commit: string): Subject {
  const name = commit.slice(0, SHORT);
  const folder = join(STATE, 'checkouts', name);
  if (!existsSync(join(folder, 'package.json'))) {
    say(`checking out ${name} …`);
    git('worktree', 'prune');
    git('worktree', 'add', '--force', '--detach', folder, commit);
  }
  const { status } = spawnSync(process.execPath, ['scripts/run.mjs', 'generate'], { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Problem(`${name} could not be built, for the reason above: commits before a134d89 do not work. Its checkout is ${folder}.`);
  // A commit is measured with the Node that it ships.
  const shipped = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin/node');
  return { name, folder, node: existsSync(shipped) ? shipped : process.execPath };
}

function lastRelease(): string {
  const releases = JSON.parse(readFileSync(RELEASES, 'utf8')) as { commit: string }[];
  return (releases.at(-1) as { commit: string }).commit;
}

function bestOf(kind: string): string {
  const records = JSON.parse(readFileSync(RECORDS, 'utf8')) as Record<string, string | undefined>;
  const commit = records[kind];
  if (commit === undefined) throw new Problem(`${RECORDS} has no commit for ${kind}: give a commit.`);
  return commit;
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Problem(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout.trim();
}
