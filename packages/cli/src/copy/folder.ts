import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { EXIT, Failure } from '../terminal/failure.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free some space, then run the export again.',
  EACCES: 'you may not write there: choose another folder.',
  EPERM: 'you may not write there: choose another folder.',
  EROFS: 'you may not write there: choose another folder.',
  EEXIST: 'it is a file: choose another name for the folder.',
  ENOTDIR: 'a part of it is a file: choose another folder.',
};

/** Creates the folder and its missing parents. Throws Failure. */
export async function makeFolder(folder: string): Promise<void> {
  await make(resolve(folder)).catch(explainFolder);
}

/** One by one: Node's recursive mkdir never returns for an existing folder in which nothing can be created (/proc). */
async function make(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return;
    const above = dirname(folder);
    if (code !== 'ENOENT' || above === folder || (await exists(above))) throw error;
    await make(above);
    await mkdir(folder);
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

/** Writes a file that has its name only when it is complete. */
export async function writeWhole(file: string, lines: () => AsyncIterable<string>): Promise<void> {
  const partial = `${file}.partial`;
  try {
    await pipeline(lines, createWriteStream(partial));
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}

/** Throws the file system's error about the folder as a Failure. */
export function explainFolder(error: NodeJS.ErrnoException): never {
  if (error.syscall === undefined) throw error;
  const reason = REASONS[error.code ?? ''] ?? `the file system refuses it (${error.code ?? error.message}): choose another folder.`;
  throw new Failure(`The folder cannot be written: ${reason}`, EXIT.unreachable, error);
}
