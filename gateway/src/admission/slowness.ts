// How many times as long as at best answers of one operation take.

/** Of the newest answer in what they usually take. */
const WEIGHT = 0.2;
/** By how much the best is forgotten with each second: what is asked for changes, but not because of a flood that lasts for minutes. */
const FORGETTING = 0.001;

export class Slowness {
  #usual: number | undefined;
  #ofOthers: number | undefined;
  #best = Infinity;
  #bestAt = -Infinity;

  /** Milliseconds that an answer takes when nothing is in its way; 1 as long as none was given. */
  get best(): number {
    return this.#best === Infinity ? 1 : this.#best;
  }

  /** An answer took so many milliseconds. Returns how many times as long as at best answers take by now. */
  answered(milliseconds: number): number {
    const now = performance.now();
    this.#usual = mixed(this.#usual, milliseconds);
    this.#best = Math.min(this.#best * (1 + (FORGETTING * (now - this.#bestAt)) / 1000), this.#usual);
    this.#bestAt = now;
    return this.#usual / this.#best;
  }

  /** The same of an answer to a company that asks for little. Returns how many times as long as at best those take by now. */
  answeredOthers(milliseconds: number): number {
    this.answered(milliseconds);
    this.#ofOthers = mixed(this.#ofOthers, milliseconds);
    return this.#ofOthers / this.#best;
  }
}

function mixed(before: number | undefined, now: number): number {
  return before === undefined ? now : before + WEIGHT * (now - before);
}
