// The folder in which a local installation keeps its state: `.truckroll`, where `npm start` runs.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const FOLDER = '.truckroll';
const CHECKOUT = resolve(import.meta.dirname, '../../..');

/** The nearest one from here upwards; of this checkout where there is none. */
export function stateFolder(from: string): string {
  for (let at = resolve(from); ; at = dirname(at)) {
    if (existsSync(join(at, FOLDER))) return join(at, FOLDER);
    if (dirname(at) === at) return join(CHECKOUT, FOLDER);
  }
}

/** A JSON file of the state, or undefined where there is none or it was cut off while it was written. */
export function readState<T>(folder: string, name: string): T | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces the file as a whole, so that nobody reads half of it. Secrets are for the owner's eyes only. */
export function writeState(folder: string, name: string, value: unknown, mode = 0o600): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode });
  renameSync(`${path}.new`, path);
}
