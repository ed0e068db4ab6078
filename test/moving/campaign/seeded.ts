import { Chance } from '../../../tools/cli/src/simulate/chance.ts';

/** One more source of decisions, which follows from this one. */
export const chanceOf = (chance: Chance): Chance => new Chance(chance.next() * 2 ** 32);
