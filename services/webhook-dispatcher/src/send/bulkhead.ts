import { Slots } from '../slots.ts';

/** An exchange that is not over by then takes no more room from others. */
const SLOW_AFTER_MS = 1000;

/**
 * Room for exchanges at once, in two compartments. One that takes long moves to the slow one, so that endpoints that hang, however
 * many they are, leave room for those that answer. The slow compartment is bounded by memory alone, for what is in it only waits.
 * In both, no company takes what others need.
 */
export class Bulkhead {
  readonly #fast: Slots;
  readonly #slow: Slots;
  readonly #freed: () => void;
  #inFlight = 0;

  constructor(room: number, freed: () => void, slowRoom = room * 16) {
    this.#fast = new Slots(room);
    this.#slow = new Slots(slowRoom);
    this.#freed = freed;
  }

  /** How many exchanges may begin now. */
  get free(): number {
    return this.#fast.free;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** How many exchanges of the company may begin now. */
  roomFor(companyId: string): number {
    return this.#fast.roomFor(companyId);
  }

  /** Companies that have exchanges in the fast compartment. */
  get busy(): readonly string[] {
    return [...this.#fast.companies];
  }

  /**
   * Takes a slot for one exchange and returns the function that ends it, which takes the processor time spent on the answer. A slot of n is
   * worth 1/n of a processor: it stays taken until the time it was held covers the processor time.
   */
  enter(companyId: string): (processorMs?: number) => void {
    const since = performance.now();
    let compartment = this.#fast;
    compartment.take(companyId);
    this.#inFlight += 1;
    const timer = setTimeout(() => {
      if (this.#slow.roomFor(companyId) === 0) return;
      compartment.leave(companyId);
      compartment = this.#slow;
      compartment.take(companyId);
      this.#freed();
    }, SLOW_AFTER_MS);
    const leave = () => {
      compartment.leave(companyId);
      this.#freed();
    };
    return (processorMs = 0) => {
      clearTimeout(timer);
      this.#inFlight -= 1;
      const owedMs = processorMs * compartment.size - (performance.now() - since);
      if (owedMs < 1) leave();
      else setTimeout(leave, owedMs).unref();
    };
  }
}
