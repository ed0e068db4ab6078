import { editDistance } from '@truckroll/contract';

/** Longest name that gets a suggestion: finding one takes longer the longer the name is. */
const LONGEST_NAME = 32;

/** The known name that a mistyped one most likely means; undefined if none is close. */
export function closest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  const wanted = plain(name);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}
