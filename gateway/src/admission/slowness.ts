// Ratio of an operation's current latency to its unloaded latency.

/** Weight of the newest answer in the moving average. */
const WEIGHT = 0.2;
/** Growth of the unloaded latency per second, so that it follows a changing mix of requests but not a flood that lasts minutes. */
const FORGETTING = 0.001;

export class Slowness {
  #usual: number | undefined;
  #ofOthers: number | undefined;
  #best = Infinity;
  #bestAt = -Infinity;

  /** Unloaded latency in ms: the lowest moving average. 1 until the first answer. */
  get best(): number {
    return this.#best === Infinity ? 1 : this.#best;
  }

  /** Notes the latency of an answer in ms. Returns the ratio of the current to the unloaded latency. */
  answered(milliseconds: number): number {
    const now = performance.now();
    this.#usual = mixed(this.#usual, milliseconds);
    this.#best = Math.min(this.#best * (1 + (FORGETTING * (now - this.#bestAt)) / 1000), this.#usual);
    this.#bestAt = now;
    return this.#usual / this.#best;
  }

  /** The same for an answer to a company with small demand. Returns the ratio for such companies alone. */
  answeredOthers(milliseconds: number): number {
    this.answered(milliseconds);
    this.#ofOthers = mixed(this.#ofOthers, milliseconds);
    return this.#ofOthers / this.#best;
  }
}

function mixed(before: number | undefined, now: number): number {
  return before === undefined ? now : before + WEIGHT * (now - before);
}
