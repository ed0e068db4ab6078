// Facts per transaction: as many as take most of a second. More would hold the company's lock too long; with fewer, more transactions would
// update the same rows.

const WANTED_MS = 800;
const FIRST = 4000;
const FEWEST = 1000;
const MOST = 64_000;

export class FactPace {
  readonly #facts = new Map<string, number>();

  /** Number of facts of a kind for the next transaction. */
  facts(kind: string): number {
    return this.#facts.get(kind) ?? FIRST;
  }

  /** Reports the duration of a transaction with that many facts. */
  took(kind: string, ms: number): void {
    const facts = this.facts(kind);
    if (ms < WANTED_MS / 2) this.#facts.set(kind, Math.min(MOST, facts * 2));
    else if (ms > WANTED_MS * 2) this.#facts.set(kind, Math.max(FEWEST, facts / 2));
  }
}
