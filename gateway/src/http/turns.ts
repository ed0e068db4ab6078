/** Time in ms for which answers are written within one turn of the event loop; the first answer is written in any case. */
const TURN_MS = 0.15;
/** Shorter answers are not delayed: they take less time than a turn of the event loop and the separate wake-ups of services and sockets. */
const SHORT_BYTES = 8192;

/** Writes answers that are ready together in several turns of the event loop, so that new requests are read and services stay busy. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  /** performance.now() when the first answer of this turn was started. */
  #since: number | undefined;

  /** Asks to write an answer of this size. Resolves when it may be written; returns undefined if it may be written now. */
  enter(bytes: number): Promise<void> | undefined {
    if (bytes < SHORT_BYTES) return undefined;
    if (this.#since === undefined) {
      this.#since = performance.now();
      setImmediate(this.#next);
      return undefined;
    }
    if (this.#waiting.length === 0 && performance.now() - this.#since < TURN_MS) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  readonly #next = (): void => {
    const first = this.#waiting.shift();
    if (first === undefined) {
      this.#since = undefined;
      return;
    }
    this.#since = performance.now();
    setImmediate(this.#next);
    first();
  };
}
