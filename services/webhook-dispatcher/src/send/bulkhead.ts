/** An exchange that is not over by then takes no more room from others. */
const SLOW_AFTER_MS = 1000;

/** Places for exchanges at once, of which each company has a share. */
class Places {
  readonly #room: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(room: number) {
    this.#room = room;
  }

  get total(): number {
    return this.#total;
  }

  get free(): number {
    return this.#room - this.#total;
  }

  get companies(): Iterable<string> {
    return this.#taken.keys();
  }

  /**
   * How many more a company may take: it never holds more places than it leaves free. So one alone has half of them, many
   * have equal parts, and whoever comes next finds room, whatever the others do.
   */
  roomFor(companyId: string): number {
    return Math.ceil(Math.max(0, this.free - (this.#taken.get(companyId) ?? 0)) / 2);
  }

  take(companyId: string): void {
    this.#total += 1;
    this.#taken.set(companyId, (this.#taken.get(companyId) ?? 0) + 1);
  }

  leave(companyId: string): void {
    const left = (this.#taken.get(companyId) ?? 0) - 1;
    this.#total -= 1;
    if (left > 0) this.#taken.set(companyId, left);
    else this.#taken.delete(companyId);
  }
}

/**
 * Room for exchanges at once, in two compartments. One that takes long moves to the slow one, so that endpoints that hang, however
 * many they are, leave room for those that answer. The slow compartment is bounded by memory alone, for what is in it only waits.
 * In both, no company takes what others need.
 */
export class Bulkhead {
  readonly #fast: Places;
  readonly #slow: Places;
  readonly #freed: () => void;

  constructor(room: number, freed: () => void, slowRoom = room * 16) {
    this.#fast = new Places(room);
    this.#slow = new Places(slowRoom);
    this.#freed = freed;
  }

  /** How many exchanges may begin now. */
  get free(): number {
    return this.#fast.free;
  }

  get inFlight(): number {
    return this.#fast.total + this.#slow.total;
  }

  /** How many exchanges of the company may begin now. */
  roomFor(companyId: string): number {
    return this.#fast.roomFor(companyId);
  }

  /** Companies that have exchanges in the fast compartment. */
  get busy(): readonly string[] {
    return [...this.#fast.companies];
  }

  /** Takes room for one exchange; call the result when it is over. */
  enter(companyId: string): () => void {
    let compartment = this.#fast;
    compartment.take(companyId);
    const timer = setTimeout(() => {
      if (this.#slow.roomFor(companyId) === 0) return;
      compartment.leave(companyId);
      compartment = this.#slow;
      compartment.take(companyId);
      this.#freed();
    }, SLOW_AFTER_MS);
    return () => {
      clearTimeout(timer);
      compartment.leave(companyId);
      this.#freed();
    };
  }
}
