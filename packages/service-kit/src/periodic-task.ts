/** Work that is done from time to time and whenever there is a reason to, once at a time: the next wait begins at its end. */
export class PeriodicTask {
  readonly #everyMs: number;
  readonly #work: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = true;

  /** `work` must not reject. */
  constructor(everyMs: number, work: () => Promise<void>) {
    this.#everyMs = everyMs;
    this.#work = work;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  start(): void {
    this.#stopped = false;
    this.now();
  }

  /** Resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Does it now, unless it is under way or stopped. */
  now(): void {
    this.#after(0);
  }

  #after(ms: number): void {
    if (this.#stopped || this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#running = this.#work().finally(() => {
        this.#running = undefined;
        this.#after(this.#everyMs);
      });
    }, ms);
  }
}
