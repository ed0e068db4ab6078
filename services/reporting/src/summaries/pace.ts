// How many facts one transaction adds up: as many as take most of a second, for the company's lock is held meanwhile, and
// the more there are the more of them fall into the same row.

const WANTED_MS = 800;
const FIRST = 4000;
const FEWEST = 1000;
const MOST = 64_000;

export class Pace {
  readonly #facts = new Map<string, number>();

  /** Of a kind, for the next transaction. */
  facts(kind: string): number {
    return this.#facts.get(kind) ?? FIRST;
  }

  /** So many took so many milliseconds. */
  took(kind: string, ms: number): void {
    const facts = this.facts(kind);
    if (ms < WANTED_MS / 2) this.#facts.set(kind, Math.min(MOST, facts * 2));
    else if (ms > WANTED_MS * 2) this.#facts.set(kind, Math.max(FEWEST, facts / 2));
  }
}
