// Tells whether what is made of files need not be made again: by their times and sizes, and by the names in their folders, which takes
// a hundredth of reading them.
import { mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const fileOf = (name) => join(root, 'node_modules/.cache/noted', `${name.replaceAll('/', '+')}.json`);

/**
 * Notes under a name how files and folders are now from which something was made, and what was made; all below the root. A source that has
 * changed since making began (ms since 1970) may not be in what was made, so it counts as changed.
 */
export function note(name, { sources, made, beganAt }) {
  const noted = Object.fromEntries([...sources.map((path) => [path, versionOf(path, beganAt)]), ...made.map((path) => [path, versionOf(path)])]);
  const file = fileOf(name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, JSON.stringify({ root, noted }));
  renameSync(`${file}.${process.pid}`, file);
}

/** Whether everything is as it was noted under that name; false where nothing was. */
export function isAsNoted(name) {
  let kept;
  try {
    kept = JSON.parse(readFileSync(fileOf(name), 'utf8'));
  } catch {
    return false;
  }
  return kept.root === root && Object.entries(kept.noted).every(([path, version]) => version !== null && versionOf(path) === version);
}

/** Null where there is none, which is never as noted. */
function versionOf(path, before = Infinity) {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (stat === undefined) return null;
  // In a folder, what `gen` begins is made there.
  if (stat.isDirectory()) {
    return readdirSync(join(root, path))
      .filter((name) => !name.startsWith('gen'))
      .join();
  }
  return stat.mtimeMs < before ? `${stat.mtimeMs} ${stat.size}` : null;
}
