// What each company has asked for lately, whether it got it or not: who floods asks for more than anybody else.

const HALF_LIFE_MS = 1000;
/** Beside who asks for most, this share of it is a large demand too. */
const LARGE = 1 / 2;
/** Companies that asked long ago are forgotten when so many are known. */
const MOST_KNOWN = 1000;

interface Asked {
  amount: number;
  at: number;
}

export class Demand {
  readonly #asked = new Map<string, Asked>();
  #most: Asked = { amount: 0, at: 0 };
  readonly #all: Asked = { amount: 0, at: 0 };

  /** `cost` is in any unit that is the same for all. */
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

  /** Whether nobody asks for twice as much. */
  isLarge(companyId: string, now = performance.now()): boolean {
    const asked = this.#asked.get(companyId);
    return asked !== undefined && left(asked, now) >= LARGE * left(this.#most, now);
  }

  /** Of what all companies ask for, the share of one. */
  shareOf(companyId: string, now = performance.now()): number {
    const asked = this.#asked.get(companyId);
    return asked === undefined ? 0 : left(asked, now) / left(this.#all, now);
  }

  /** Of what all companies ask for, the share of the one that asks for most. */
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
