/** Waiting that a poke or an abort can end. A poke while nobody waits is kept for the next wait. */
export class Wake {
  readonly #signal: AbortSignal;
  #poked = false;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  now(): void {
    this.#poked = true;
    this.#wake?.();
  }

  /** Resolves after so many milliseconds or at a poke, whichever comes first. */
  async afterOrPoke(ms: number): Promise<void> {
    if (!this.#poked) {
      const poked = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await this.#wait(ms, poked);
      this.#wake = undefined;
    }
    this.#poked = false;
  }

  /** Resolves after so many milliseconds, whatever is poked; at once when aborted. */
  after(ms: number): Promise<void> {
    return this.#wait(ms, undefined);
  }

  #wait(ms: number, early: Promise<void> | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      if (this.#signal.aborted) done();
      else this.#signal.addEventListener('abort', done);
      void early?.then(done);
    });
  }
}
