/** The mean of the values noted since the last `clear`. */
export class Mean {
  #sum = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get sum(): number {
    return this.#sum;
  }

  /** NaN if no value was noted. */
  get value(): number {
    return this.#sum / this.#count;
  }

  note(value: number): void {
    this.#sum += value;
    this.#count += 1;
  }

  clear(): void {
    this.#sum = 0;
    this.#count = 0;
  }
}
