import { closeSync, existsSync, openSync, readSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const NAME = /^classes-.*\.jsa(\.new)?$/;

/**
 * Java options for an archive of loaded and verified classes, which take most of its start-up time. Java writes the archive when
 * the program first ends. It is for one Java version, and Java ignores it when a jar has changed.
 */
export function classArchive(folder: string, javaVersion: string): string[] {
  const archive = join(folder, `classes-${javaVersion}.jsa`);
  const fresh = `${archive}.new`;
  if (isWhole(fresh)) renameSync(fresh, archive);
  for (const name of readdirSync(folder)) if (NAME.test(name) && join(folder, name) !== archive) rmSync(join(folder, name), { force: true });
  return existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : [`-XX:ArchiveClassesAtExit=${fresh}`];
}

/** Java writes the file's first bytes last, so an archive whose writing was interrupted lacks them. */
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
