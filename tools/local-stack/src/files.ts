import { mkdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Problem, fullDisk } from './problem.ts';

/** The parsed file; undefined when it is absent or unreadable, for example after a crash of the machine. */
export function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

/** Replaces the file atomically, readable by its owner only. */
export function writeJson(file: string, value: unknown): void {
  const partial = `${file}.${process.pid}.partial`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(partial, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw fullDisk(error, file) ?? error;
  }
}

/** Fails early, before a server fills the disk halfway through its first write. */
export function requireSpace(folder: string, bytes: number): void {
  mkdirSync(folder, { recursive: true });
  const disk = statfsSync(folder);
  const free = disk.bavail * disk.bsize;
  if (free >= bytes) return;
  const megabytes = (amount: number) => `${Math.floor(amount / 1e6)} MB`;
  throw new Problem(`The disk that holds ${folder} has ${megabytes(free)} left and ${megabytes(bytes)} are needed: free some space and start again.`);
}
