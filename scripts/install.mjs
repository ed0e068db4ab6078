// Installs the workspace's packages with the pinned pnpm, unless the installed ones match the lockfile.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pinnedPnpm } from './pnpm.mjs';

const root = join(import.meta.dirname, '..');
const stamp = join(root, 'node_modules/.truckroll-installed');

export function install() {
  useHooks();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted()) return;
  const digest = wanted();
  const startedAt = performance.now();
  console.error('installing packages …');
  const pnpm = pinnedPnpm();
  // Standard output belongs to the requested command, so progress goes to standard error.
  const result = spawnSync(process.execPath, [pnpm, 'install', '--frozen-lockfile', '--config.confirmModulesPurge=false'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (result.status !== 0) {
    throw new Error('The packages could not be installed, for the reason above: check the network and the disk, and try again.');
  }
  writeFileSync(stamp, digest);
  console.error(`installed packages in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}

/** Has git run .githooks/, unless this checkout has other hooks, or no git. */
export function useHooks(checkout = root) {
  const git = (...args) => spawnSync('git', args, { cwd: checkout, encoding: 'utf8' });
  if (!existsSync(join(checkout, '.git')) || git('config', 'core.hooksPath').status !== 1) return;
  const own = join(checkout, git('rev-parse', '--git-path', 'hooks').stdout.trim());
  if (existsSync(own) && readdirSync(own).some((name) => !name.endsWith('.sample'))) return;
  git('config', 'core.hooksPath', '.githooks');
}

function wanted() {
  const hash = createHash('sha256');
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(join(root, name)));
  return hash.digest('hex');
}

/**
 * Runs work while no other command of this checkout does. Locks are numbered: a command takes the next number if the process of the last one
 * has ended. The abandoned file stays, because removing it could remove the lock that another command has just taken.
 */
export async function alone(work, folder = join(root, 'node_modules')) {
  mkdirSync(folder, { recursive: true });
  const mine = join(folder, `.truckroll-taking.${process.pid}`);
  // Linked into place when complete, so that no command reads half a lock.
  writeFileSync(mine, String(process.pid));
  let taken;
  try {
    for (let announced = false; taken === undefined; ) {
      const last = Math.max(0, ...readdirSync(folder).map((name) => Number(LOCK.exec(name)?.[1] ?? 0)));
      const owner = last === 0 ? undefined : holder(pathOf(folder, last));
      if (owner === 'released') continue;
      if (owner === undefined) {
        taken = link(mine, pathOf(folder, last + 1));
        continue;
      }
      if (!announced) console.error(`waiting for process ${owner}, which installs packages or generates code …`);
      announced = true;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } finally {
    rmSync(mine, { force: true });
  }
  try {
    return work();
  } finally {
    rmSync(taken, { force: true });
  }
}

const LOCK = /^\.truckroll-lock\.(\d+)$/;
const pathOf = (folder, number) => join(folder, `.truckroll-lock.${number}`);

/** Returns the new path; undefined if it exists. */
function link(from, to) {
  try {
    linkSync(from, to);
    return to;
  } catch (error) {
    if (error.code === 'EEXIST') return undefined;
    throw error;
  }
}

/** The id of the process that holds the lock, `released` if the lock is gone; undefined if the process has ended, whatever has its id now. */
function holder(path) {
  const pid = pidIn(path);
  if (pid === undefined) return 'released';
  if (isCommand(pid)) return pid;
  // It may have ended with its work done, and another command may have taken the number that it released.
  return pidIn(path) === pid ? undefined : 'released';
}

function pidIn(path) {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function isCommand(pid) {
  // An ended process had the id that this one has now.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout?.includes('run.mjs') !== false;
}
