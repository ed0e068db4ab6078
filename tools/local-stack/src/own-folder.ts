import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { Problem } from './problem.ts';

const OWNER_ONLY = 0o700;

/** Makes a state folder private to its owner: it holds keys, and programs trust its contents. Throws Problem if another user owns it. */
export function ownFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
  const { uid, mode } = lstatSync(folder);
  const me = process.getuid?.();
  if (me !== undefined && uid !== me) {
    throw new Problem(`${folder} belongs to another user (${uid}), who could have put anything into it: remove it, or run as that user.`);
  }
  if ((mode & 0o077) !== 0) chmodSync(folder, OWNER_ONLY);
}
