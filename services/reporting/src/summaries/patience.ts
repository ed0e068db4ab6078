// How soon sums are built anew that something spoiled, or that an older release lowered: while a replica of that release goes on
// writing, what is built is spoiled again before it is done, and others wait for the work.

const FIRST_MS = 1000;
const MOST_MS = 60_000;
/** Of quiet, after which the next time counts as the first. */
const FORGET_MS = 10 * MOST_MS;

interface Spoiled {
  times: number;
  at: number;
  dueAt: number;
}

export class Patience {
  readonly #companies = new Map<string, Spoiled>();

  /** Whether it is time to build a company's sums that are spoiled: the first time at once. Moments in milliseconds of one clock. */
  isDue(companyId: string, now: number): boolean {
    return now >= (this.#companies.get(companyId)?.dueAt ?? -Infinity);
  }

  /** Building has begun because they were spoiled: should they be spoiled again, that waits longer each time. */
  spoiled(companyId: string, now: number): void {
    for (const [id, { at }] of this.#companies) if (now - at > FORGET_MS) this.#companies.delete(id);
    const times = (this.#companies.get(companyId)?.times ?? 0) + 1;
    this.#companies.set(companyId, { times, at: now, dueAt: now + Math.min(MOST_MS, FIRST_MS * 2 ** (times - 1)) });
  }
}
