/** An exchange that is not over by then takes no more room from others. */
const SLOW_AFTER_MS = 1000;

/**
 * Room for exchanges at once. One that takes long moves to a lane of its own, so that endpoints that hang, however many
 * they are, leave room for those that answer. The slow lane is bounded by memory alone, for what is in it only waits.
 */
export class Lanes {
  readonly #fastest: number;
  readonly #slowest: number;
  #fast = 0;
  #slow = 0;
  readonly #freed: () => void;

  constructor(room: number, freed: () => void, slowRoom = room * 16) {
    this.#fastest = room;
    this.#slowest = slowRoom;
    this.#freed = freed;
  }

  /** How many exchanges may begin now. */
  get free(): number {
    return this.#fastest - this.#fast;
  }

  get inFlight(): number {
    return this.#fast + this.#slow;
  }

  /** Takes room for one exchange; call the result when it is over. */
  enter(): () => void {
    let slow = false;
    this.#fast += 1;
    const timer = setTimeout(() => {
      if (this.#slow >= this.#slowest) return;
      slow = true;
      this.#fast -= 1;
      this.#slow += 1;
      this.#freed();
    }, SLOW_AFTER_MS);
    return () => {
      clearTimeout(timer);
      if (slow) this.#slow -= 1;
      else this.#fast -= 1;
      this.#freed();
    };
  }
}
