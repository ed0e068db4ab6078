// Delays rebuilds of sums that an older release keeps spoiling or lowering: they would be spoiled again before they end, and delay other companies.

const FIRST_MS = 1000;
const MOST_MS = 60_000;
/** Quiet time after which the backoff starts over, in ms. */
const FORGET_MS = 10 * MOST_MS;

interface Spoiled {
  times: number;
  at: number;
  dueAt: number;
}

export class RebuildBackoff {
  readonly #companies = new Map<string, Spoiled>();

  /** Whether a company's spoiled sums may be rebuilt: at once the first time. Times are milliseconds of one clock. */
  isDue(companyId: string, now: number): boolean {
    return now >= (this.#companies.get(companyId)?.dueAt ?? -Infinity);
  }

  /** Records that a rebuild has begun: if the sums are spoiled again, the next one waits longer. */
  spoiled(companyId: string, now: number): void {
    for (const [id, { at }] of this.#companies) if (now - at > FORGET_MS) this.#companies.delete(id);
    const times = (this.#companies.get(companyId)?.times ?? 0) + 1;
    this.#companies.set(companyId, { times, at: now, dueAt: now + Math.min(MOST_MS, FIRST_MS * 2 ** (times - 1)) });
  }
}
