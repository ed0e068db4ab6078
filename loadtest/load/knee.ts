// Finds the highest rate that keeps the thresholds: raises it by a factor until a trial fails, then bisects.

export interface Trial {
  readonly pass: boolean;
  /** Reasons why the trial is void; a void trial is repeated. */
  readonly void: readonly string[];
}

export interface Search {
  /** Initial rate, in requests a second. */
  readonly start: number;
  readonly most: number;
  /** Precision of the result, as a share of it. */
  readonly within: number;
  readonly trial: (rate: number) => Promise<Trial>;
}

const FACTOR = 1.6;
/** Failed trials before a rate counts as too high: one disturbed trial would otherwise end the search far too low. */
const FAILURES = 2;
/** Consecutive void trials of one rate before the search gives up. */
const MOST_VOID = 3;
const LEAST = 1;

/** Rejects if a rate's trials stay void, or if even one request a second is too many. */
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

export function disagreement(one: number, other: number): number {
  return Math.abs(one - other) / Math.max(one, other);
}
