import { Slots } from './slots.ts';

/** Time in ms after which an exchange counts as slow. */
const SLOW_AFTER_MS = 1000;

/**
 * Slots for concurrent exchanges, in a fast and a slow group. A slow exchange moves to the slow group, so that endpoints that hang
 * leave slots for those that answer. The slow group can be large, because its exchanges use only memory.
 */
export class ExchangeSlots {
  readonly #fast: Slots;
  readonly #slow: Slots;
  readonly #freed: () => void;
  #inFlight = 0;

  constructor(size: number, freed: () => void, slowSize = size * 16) {
    this.#fast = new Slots(size);
    this.#slow = new Slots(slowSize);
    this.#freed = freed;
  }

  get free(): number {
    return this.#fast.free;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  freeFor(companyId: string): number {
    return this.#fast.freeFor(companyId);
  }

  get busy(): readonly string[] {
    return [...this.#fast.companies];
  }

  /**
   * Takes a slot for one exchange. Call the returned function at its end, with the CPU time of the answer. One of n slots is worth 1/n of
   * a processor, so it stays taken until it has been held for n times the CPU time.
   */
  enter(companyId: string): (processorMs?: number) => void {
    const since = performance.now();
    let group = this.#fast;
    group.take(companyId);
    this.#inFlight += 1;
    const timer = setTimeout(() => {
      if (this.#slow.freeFor(companyId) === 0) return;
      group.leave(companyId);
      group = this.#slow;
      group.take(companyId);
      this.#freed();
    }, SLOW_AFTER_MS);
    const leave = () => {
      group.leave(companyId);
      this.#freed();
    };
    return (processorMs = 0) => {
      clearTimeout(timer);
      this.#inFlight -= 1;
      const owedMs = processorMs * group.size - (performance.now() - since);
      if (owedMs < 1) leave();
      else setTimeout(leave, owedMs).unref();
    };
  }
}
