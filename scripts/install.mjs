// Installs the workspace's packages with the pinned pnpm, unless the installed ones match the lockfile.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pinnedPnpm } from './pnpm.mjs';

const root = join(import.meta.dirname, '..');
const stamp = join(root, 'node_modules/.truckroll-installed');
const lock = join(root, 'node_modules/.truckroll-lock');

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

/** Runs work while no other command of this checkout does. Ignores the lock of a process that no longer exists. */
export async function alone(work) {
  mkdirSync(dirname(lock), { recursive: true });
  for (let announced = false; ; ) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = holder();
    if (owner === undefined) {
      rmSync(lock, { force: true });
      continue;
    }
    if (!announced) console.error(`waiting for process ${owner}, which installs packages or generates code …`);
    announced = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** The id of the process that holds the lock; undefined if it no longer exists or another program now has its id. */
function holder() {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    process.kill(pid, 0);
    const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return stdout?.includes('run.mjs') === false ? undefined : pid;
  } catch {
    return undefined;
  }
}
