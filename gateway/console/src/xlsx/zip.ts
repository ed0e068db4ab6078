// Replaces fflate's entry file in the bundle. It zips without workers: fflate starts them from blob addresses for files above 160 KB,
// which the page's policy forbids.
import { strToU8, zipSync, type Zippable } from 'fflate/browser';

export { strToU8, zipSync };

export function zip(files: Zippable, done: (error: null, archive: Uint8Array) => void): void {
  done(null, zipSync(files));
}
