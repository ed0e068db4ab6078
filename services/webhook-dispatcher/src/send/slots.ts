/** Slots for concurrent operations, shared between companies. */
export class Slots {
  readonly size: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(size: number) {
    this.size = size;
  }

  get total(): number {
    return this.#total;
  }

  get free(): number {
    return this.size - this.#total;
  }

  get companies(): Iterable<string> {
    return this.#taken.keys();
  }

  /** Number of slots that the company may take now. It never holds more than it leaves free, so that a new company always finds one. */
  freeFor(companyId: string): number {
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
