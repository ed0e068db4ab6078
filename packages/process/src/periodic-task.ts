import { onBehalfOf } from '@truckroll/telemetry';
import type { BackgroundPart } from './component.ts';

/** Runs work periodically and on demand, never concurrently: the interval starts when the work ends. A demand during a round gets a round after it. */
export class PeriodicTask {
  readonly #everyMs: number;
  readonly #work: (signal: AbortSignal) => Promise<void>;
  readonly #failed: ((error: unknown, failures: number) => void) | undefined;
  readonly #againMs: number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #demanded = false;
  #stopping = new AbortController();
  #failures = 0;

  /**
   * `work` gets a signal that `stop` aborts. If it may reject, `failed` gets the error, unless it was aborted, and the number of failures in a
   * row; the work is then tried again after `againMs`.
   */
  constructor(everyMs: number, work: (signal: AbortSignal) => Promise<void>, failed?: (error: unknown, failures: number) => void, againMs = everyMs) {
    this.#everyMs = everyMs;
    this.#work = work;
    this.#failed = failed;
    this.#againMs = againMs;
    this.#stopping.abort();
  }

  get stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  start(): void {
    this.#stopping = new AbortController();
    this.now();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  now(): void {
    if (this.#running === undefined) this.#after(0);
    else this.#demanded = true;
  }

  asPart(name: string): BackgroundPart {
    return { name, start: async () => this.start(), stop: () => this.stop() };
  }

  #after(ms: number): void {
    if (this.stopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#demanded = false;
      // Also if a request demanded the round, because the work serves all requests.
      this.#running = onBehalfOf(undefined, () => this.#run(this.#stopping.signal)).finally(() => {
        this.#running = undefined;
        const restMs = this.#demanded ? 0 : this.#everyMs;
        this.#after(this.#failures > 0 ? this.#againMs : restMs);
      });
    }, ms);
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      await this.#work(signal);
      this.#failures = 0;
    } catch (error) {
      if (this.#failed === undefined) throw error;
      this.#failures += 1;
      if (!signal.aborted) this.#failed(error, this.#failures);
    }
  }
}
