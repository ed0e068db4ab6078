import type { Draw } from '../random/keyed.ts';
import { FIRST_HANDLES, FIRST_NAMES, LAST_HANDLES, LAST_NAMES, OTHER_SCRIPTS } from './names.ts';

export interface Person {
  readonly first: string;
  readonly last: string;
  readonly name: string;
  /** ASCII, for e-mail addresses. */
  readonly handle: string;
}

export function personOf(draw: Draw, otherScript = draw.chance(0.04)): Person {
  const first = draw.below(FIRST_NAMES.length);
  const last = draw.below(LAST_NAMES.length);
  const handle = `${FIRST_HANDLES[first]}.${LAST_HANDLES[last]}`;
  if (otherScript) {
    const [given, family, name] = draw.pick(OTHER_SCRIPTS);
    return { first: given, last: family, name, handle };
  }
  const given = FIRST_NAMES[first] as string;
  const family = LAST_NAMES[last] as string;
  return { first: given, last: family, name: `${given} ${family}`, handle };
}
