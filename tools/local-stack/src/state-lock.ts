import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from './files.ts';
import { ownFolder } from './own-folder.ts';
import { Problem } from './problem.ts';
import { identify, isRunning, type ProcessIdentity } from './processes/identity.ts';

interface Owner extends ProcessIdentity {
  readonly command: string;
}

/**
 * Locks a state folder for this process, or throws with the name of the process that holds it. The lock is valid while its owner runs: one
 * left by a killed process or a crashed machine is taken over.
 */
export function lockState(state: string, command: string): { path: string; release(): void } {
  ownFolder(state);
  const path = join(state, 'lock.json');
  const mine = `${path}.${process.pid}`;
  // Linked into place when complete, so that no process reads half an owner and takes the lock for an abandoned one.
  writeFileSync(mine, JSON.stringify({ ...identify(process.pid), command } satisfies Partial<Owner>), { mode: 0o600 });
  try {
    while (!link(mine, path)) removeAbandoned(path, state);
  } finally {
    rmSync(mine, { force: true });
  }
  return { path, release: () => rmSync(path, { force: true }) };
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function removeAbandoned(path: string, state: string): void {
  const before = text(path);
  const owner = before === undefined ? undefined : (JSON.parse(before) as Owner);
  if (owner && isRunning(owner)) throw new Problem(occupied(owner, state));
  const aside = `${path}.${process.pid}.abandoned`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  // Another process may have taken the lock between the read and the move: then put its lock back.
  if (text(aside) !== before) link(aside, path);
  rmSync(aside, { force: true });
}

function text(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function occupied(owner: Owner, state: string): string {
  const url = readJson<{ baseUrl?: string }>(join(state, 'ready.json'))?.baseUrl;
  return `Truckroll already runs in this checkout, as process ${owner.pid} (${owner.command})${url ? ` at ${url}` : ''}: use that one, or stop it with Ctrl-C there or kill ${owner.pid}.`;
}
