import { timeoutFailure, type ExchangeFailure } from './failure.ts';

/** Time limit of one exchange. */
export class ExchangeTime {
  readonly #limitMs: number;
  readonly #controller = new AbortController();
  #leftMs: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number) {
    this.#limitMs = this.#leftMs = limitMs;
    this.#run();
  }

  /** Aborts with an ExchangeFailure when the exchange must end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(failure: ExchangeFailure): void {
    this.#controller.abort(failure);
  }

  /** Stops the clock while the exchange waits for this process rather than for the receiver. */
  async hold<T>(work: Promise<T>): Promise<T> {
    this.stop();
    this.#leftMs -= performance.now() - this.#since;
    try {
      return await work;
    } finally {
      this.#run();
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.end(timeoutFailure(this.#limitMs / 1000)), Math.max(0, this.#leftMs));
  }
}
