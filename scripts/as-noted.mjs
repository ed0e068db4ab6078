// Decides whether generated files are up to date by times, sizes and names, a hundred times faster than by reading files.
import { mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const fileOf = (name) => join(root, 'node_modules/.cache/noted', `${name.replaceAll('/', '+')}.json`);

/**
 * Records, under a name, the state of the source files and folders and of the files made from them; all paths are relative to the root. A
 * source that changed after `beganAt` (ms since 1970) counts as changed, because the output may not contain the change.
 */
export function note(name, { sources, made, beganAt }) {
  const noted = Object.fromEntries([...sources.map((path) => [path, versionOf(path, beganAt)]), ...made.map((path) => [path, versionOf(path)])]);
  const file = fileOf(name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, JSON.stringify({ root, noted }));
  renameSync(`${file}.${process.pid}`, file);
}

/** Whether all recorded files are unchanged; false if nothing is recorded under the name. */
export function isAsNoted(name) {
  let kept;
  try {
    kept = JSON.parse(readFileSync(fileOf(name), 'utf8'));
  } catch {
    return false;
  }
  return kept.root === root && Object.entries(kept.noted).every(([path, version]) => version !== null && versionOf(path) === version);
}

/** Null if the file is missing; it then counts as changed. */
function versionOf(path, before = Infinity) {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (stat === undefined) return null;
  // Names that start with `gen` are generated, so they do not count.
  if (stat.isDirectory()) {
    return readdirSync(join(root, path))
      .filter((name) => !name.startsWith('gen'))
      .join();
  }
  return stat.mtimeMs < before ? `${stat.mtimeMs} ${stat.size}` : null;
}
