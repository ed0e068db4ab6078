// Simulated time: minutes of a working day that starts at 08:00, at any speed.
import { setTimeout as delay } from 'node:timers/promises';

const OPENS_AT = 8 * 60;
const MINUTE_MS = 60_000;

export class Clock {
  readonly #speed: number;
  readonly #signal: AbortSignal;
  readonly #startedAt = performance.now();

  constructor(speed: number, signal: AbortSignal) {
    this.#speed = speed;
    this.#signal = signal;
  }

  get minutes(): number {
    return ((performance.now() - this.#startedAt) * this.#speed) / MINUTE_MS;
  }

  /** `09:41`; a longer day continues after midnight. */
  get text(): string {
    const minutes = Math.floor(OPENS_AT + this.minutes);
    const two = (value: number): string => String(value).padStart(2, '0');
    return `${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`;
  }

  /** Waits this many simulated minutes. Rejects when the day is over. */
  async wait(minutes: number): Promise<void> {
    await delay((minutes * MINUTE_MS) / this.#speed, undefined, { signal: this.#signal });
  }
}
