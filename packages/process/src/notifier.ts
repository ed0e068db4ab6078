/** Wakes one waiter. A notification without a waiter is kept for the next wait. */
export class Notifier {
  #notified = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#notified = true;
    this.#wake?.();
  }

  /** Resolves at the next notification, after `ms`, or when aborted, whichever comes first. */
  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    if (!this.#notified && ms > 0 && signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal?.addEventListener('abort', done);
        this.#wake = done;
      });
      this.#wake = undefined;
    }
    this.#notified = false;
  }
}
