import { closeSync, existsSync, openSync, readSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const NAME = /^classes-.*\.jsa(\.new)?$/;

/**
 * What Java is told so that it keeps the classes of a program as it has them in memory once they are loaded and verified, which is
 * most of what it does until the program runs: written when the program ends for the first time, mapped at every later start. It is this
 * Java's alone, and ignored by Java where a jar has changed since.
 */
export function classArchive(folder: string, javaVersion: string): string[] {
  const archive = join(folder, `classes-${javaVersion}.jsa`);
  const fresh = `${archive}.new`;
  if (isWhole(fresh)) renameSync(fresh, archive);
  for (const name of readdirSync(folder)) if (NAME.test(name) && join(folder, name) !== archive) rmSync(join(folder, name), { force: true });
  return existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : [`-XX:ArchiveClassesAtExit=${fresh}`];
}

/** Java writes what is at the beginning last: of an archive that was cut off it is missing. */
function isWhole(file: string): boolean {
  if (!existsSync(file)) return false;
  const handle = openSync(file, 'r');
  try {
    const head = Buffer.alloc(4);
    return readSync(handle, head) === head.length && head.readUInt32LE() !== 0;
  } finally {
    closeSync(handle);
  }
}
