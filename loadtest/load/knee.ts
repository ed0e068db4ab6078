// The highest rate that keeps its thresholds, by trials: up by a factor until one fails, then halves of what is left between.

export interface Trial {
  readonly pass: boolean;
  /** Why it says nothing; such a trial is made again. */
  readonly void: readonly string[];
}

export interface Search {
  /** Where to begin, in requests a second. */
  readonly start: number;
  readonly most: number;
  /** How near the result is to what it looks for, as a share of it. */
  readonly within: number;
  readonly trial: (rate: number) => Promise<Trial>;
}

const FACTOR = 1.6;
/** A rate is too high where so many trials of it fail: what else the machine did in one of them would end the search far too low. */
const FAILURES = 2;
/** Trials of one rate that may be void one after the other. */
const MOST_VOID = 3;
const LEAST = 1;

/** Resolves to that rate. Rejects where a trial stays void, for then nothing is known, or where even a request a second is too many. */
export async function findKnee({ start, most, within, trial }: Search): Promise<number> {
  const valid = async (rate: number): Promise<boolean> => {
    for (let tries = 1; ; tries++) {
      const { pass, void: reasons } = await trial(rate);
      if (reasons.length === 0) return pass;
      if (tries === MOST_VOID) throw new Error(`at ${Math.round(rate)} requests a second every trial was void: ${reasons.join('; ')}`);
    }
  };
  const passes = async (rate: number): Promise<boolean> => {
    for (let failures = 0; failures < FAILURES; failures++) if (await valid(rate)) return true;
    return false;
  };
  let good = 0;
  let bad = Infinity;
  for (let rate = Math.min(start, most); bad - good > within * bad || bad === Infinity; ) {
    if (await passes(rate)) good = rate;
    else bad = rate;
    if (good >= most) return good;
    if (bad < LEAST) throw new Error('not even one request a second keeps the thresholds');
    rate = bad === Infinity ? Math.min(most, good * FACTOR) : good === 0 ? bad / FACTOR : (good + bad) / 2;
  }
  return good;
}

/** How far two results are apart, as a share of the larger. */
export function disagreement(one: number, other: number): number {
  return Math.abs(one - other) / Math.max(one, other);
}
