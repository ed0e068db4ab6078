/** Answers that come together are written for so long in one turn of the event loop, one of them in any case. Milliseconds. */
const TURN_MS = 0.15;
/** A shorter answer takes less than a turn of the event loop costs, which services and sockets that are woken one by one pay as well. */
const SHORT_BYTES = 8192;

/**
 * Between answers the event loop turns: those that come together would else be written one after the other while nobody reads
 * the requests that clients send next, and services would stand idle.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  /** performance.now() when the first answer of this turn was begun. */
  #since: number | undefined;

  /** For an answer of so many bytes. Resolves when it is the caller's turn; undefined where that is now. */
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
