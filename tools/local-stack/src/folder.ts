import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJson } from './files.ts';
import { ownFolder } from './own-folder.ts';
import { identify, isRunning, type ProcessIdentity } from './processes/identity.ts';

export const ROOT = join(import.meta.dirname, '../../..');

/** State that this checkout keeps between runs; git ignores it. */
export const STATE = join(ROOT, '.truckroll');

const OWNER = 'owner.json';

/** Creates a folder for one run inside the state folder, and deletes the folders of runs whose process has ended. */
export function runFolder(kind: string, state = STATE): string {
  ownFolder(state);
  const all = join(state, kind);
  mkdirSync(all, { recursive: true });
  for (const name of readdirSync(all)) {
    const owner = readJson<ProcessIdentity>(join(all, name, OWNER));
    if (!owner || !isRunning(owner)) rmSync(join(all, name), { recursive: true, force: true, maxRetries: 3 });
  }
  // Written at once, so that another run has little time to take this folder for an abandoned one.
  const folder = join(all, String(process.pid));
  mkdirSync(folder);
  writeJson(join(folder, OWNER), identify(process.pid));
  return folder;
}
