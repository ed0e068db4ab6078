// Each company's recent demand, including rejected requests: a flood is the company that demands most.

const HALF_LIFE_MS = 1000;
/** A demand of at least this share of the largest one is large too. */
const LARGE = 1 / 2;
/** Number of known companies from which those with no recent demand are dropped. */
const MOST_KNOWN = 1000;

interface Asked {
  amount: number;
  at: number;
}

export class Demand {
  readonly #asked = new Map<string, Asked>();
  #most: Asked = { amount: 0, at: 0 };
  readonly #all: Asked = { amount: 0, at: 0 };

  /** `cost` may have any unit, the same for all companies. */
  note(companyId: string, cost: number, now = performance.now()): void {
    let asked = this.#asked.get(companyId);
    if (asked === undefined) {
      if (this.#asked.size >= MOST_KNOWN) this.#forget(now);
      this.#asked.set(companyId, (asked = { amount: 0, at: now }));
    }
    for (const sum of [asked, this.#all]) {
      sum.amount = left(sum, now) + cost;
      sum.at = now;
    }
    if (asked.amount > left(this.#most, now)) this.#most = asked;
  }

  /** Whether no company demands more than twice as much. */
  isLarge(companyId: string, now = performance.now()): boolean {
    const asked = this.#asked.get(companyId);
    return asked !== undefined && left(asked, now) >= LARGE * left(this.#most, now);
  }

  shareOf(companyId: string, now = performance.now()): number {
    const asked = this.#asked.get(companyId);
    return asked === undefined ? 0 : left(asked, now) / left(this.#all, now);
  }

  mostShare(now = performance.now()): number {
    return this.#all.amount === 0 ? 0 : left(this.#most, now) / left(this.#all, now);
  }

  #forget(now: number): void {
    for (const [companyId, asked] of this.#asked) if (left(asked, now) < 1e-3) this.#asked.delete(companyId);
  }
}

function left({ amount, at }: Asked, now: number): number {
  return amount * 2 ** ((at - now) / HALF_LIFE_MS);
}
