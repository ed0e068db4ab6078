import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Failure } from '@truckroll/integrator-cli/terminal/failure';

const FOLDER = '.truckroll';
const CHECKOUT = resolve(import.meta.dirname, '../../..');

/** The nearest state folder upwards, else this checkout's. Throws Failure if others can write to it, because it says where keys are sent. */
export function stateFolder(from: string): string {
  for (let at = resolve(from); ; at = dirname(at)) {
    if (existsSync(join(at, FOLDER))) return trusted(join(at, FOLDER));
    if (dirname(at) === at) return join(CHECKOUT, FOLDER);
  }
}

function trusted(folder: string): string {
  const { uid, mode } = lstatSync(folder);
  const me = process.getuid?.();
  if (me !== undefined && uid !== me) {
    throw new Failure(`${folder} belongs to another user (${uid}), who could have put anything into it: work in another folder, or as that user.`);
  }
  if ((mode & 0o022) !== 0)
    throw new Failure(`Others may write into ${folder}, which names the servers that keys are sent to: run chmod 700 on it if you trust its contents.`);
  return folder;
}

/** A JSON file of the state; undefined if it is missing or incomplete. Throws Failure if it cannot be read. */
export function readState<T>(folder: string, name: string): T | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Failure(
      `${join(folder, name)} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}): check that it is a file that you may read.`,
    );
  }
}

/** Replaces the file atomically. By default only the owner can read it, because it may contain secrets. */
export function writeState(folder: string, name: string, value: unknown, mode = 0o600): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  writeFileSync(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode });
  renameSync(`${path}.new`, path);
}
