// A transaction takes as many facts as fit into most of a second. More hold the company's lock too long; fewer update the same rows more often.

const WANTED_MS = 800;
const FIRST = 4000;
const FEWEST = 1000;
const MOST = 64_000;

export class FactPace {
  readonly #facts = new Map<string, number>();

  facts(kind: string): number {
    return this.#facts.get(kind) ?? FIRST;
  }

  took(kind: string, ms: number): void {
    const facts = this.facts(kind);
    if (ms < WANTED_MS / 2) this.#facts.set(kind, Math.min(MOST, facts * 2));
    else if (ms > WANTED_MS * 2) this.#facts.set(kind, Math.max(FEWEST, facts / 2));
  }
}
