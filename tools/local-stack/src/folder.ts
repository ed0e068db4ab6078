import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJson } from './files.ts';
import { ownFolder } from './own-folder.ts';
import { identify, isRunning, type ProcessIdentity } from './processes/identity.ts';

/** The checkout that this code lies in. */
export const ROOT = join(import.meta.dirname, '../../..');

/** What this checkout keeps between runs; git ignores it. */
export const STATE = join(ROOT, '.truckroll');

const OWNER = 'owner.json';

/** A folder of its own for one run below the state folder. Those of runs that ended with the machine are swept away. */
export function runFolder(kind: string, state = STATE): string {
  ownFolder(state);
  const all = join(state, kind);
  mkdirSync(all, { recursive: true });
  for (const name of readdirSync(all)) {
    const owner = readJson<ProcessIdentity>(join(all, name, OWNER));
    if (!owner || !isRunning(owner)) rmSync(join(all, name), { recursive: true, force: true, maxRetries: 3 });
  }
  // Named and owned in one step, so that a run that sweeps at this moment does not take it for an abandoned one.
  const folder = join(all, String(process.pid));
  mkdirSync(folder);
  writeJson(join(folder, OWNER), identify(process.pid));
  return folder;
}
