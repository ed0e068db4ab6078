// Counts missing, unknown and malformed credentials by address. A cached credential always passes. While an address is over its limit, its
// other credentials queue to be looked up, and are rejected if the queue is full.
import { ApiError } from '@truckroll/contract';
import { SHED, FairQueue } from '@truckroll/process';
import type { Metrics } from '@truckroll/telemetry';
import { AddressCounts, networkOf } from '../http/addresses.ts';

/** Concurrent look-ups for all addresses that are over the limit, and for one of them. */
const LOOK_UPS = { all: 8, address: 2 };
/** Maximum number of waiting look-ups. One more is rejected with 429, at the address that has the most of them. */
const MOST_WAITING = 100;
/** Longest time in ms that a look-up may wait. */
const MAX_WAIT_MS = 10_000;

export interface StrangersOptions {
  /** Unknown credentials from one address in a minute. */
  perMinute: number;
  metrics: Metrics;
}

export class Strangers {
  readonly #perMinute: number;
  readonly #seen = new AddressCounts();
  readonly #queue: FairQueue = new FairQueue({
    admits: ({ held }) => this.#queue.held < LOOK_UPS.all && held < LOOK_UPS.address,
    queue: MOST_WAITING,
    maxWaitMs: MAX_WAIT_MS,
  });
  readonly #unknown;

  constructor({ perMinute, metrics }: StrangersOptions) {
    this.#perMinute = perMinute;
    this.#unknown = metrics.counter('gateway_unknown_keys_total', 'Requests whose API key or user token is unknown or malformed', ['answer']);
    metrics.observedGauge('gateway_look_ups_waiting', 'Credentials that wait to be looked up as their address is over its limit', () => this.#queue.waiting);
  }

  /** Whether an address has sent too many missing or unknown credentials. `addressOf` is called only if some address has sent one. */
  isOver(addressOf: () => string): boolean {
    return !this.#seen.isEmpty && this.#seen.of(networkOf(addressOf())) >= this.#perMinute;
  }

  /** Queues a look-up. Rejects with ApiError 429 if the address has too many in the queue. */
  async inTurn<T>(address: string, lookUp: () => Promise<T> | T): Promise<T> {
    const network = networkOf(address);
    try {
      await this.#queue.enter(network);
    } catch (error) {
      throw error === SHED ? tooMany(1) : error;
    }
    try {
      return await lookUp();
    } finally {
      this.#queue.leave(network);
    }
  }

  /**
   * Counts a request without a credential, or with one that cannot be looked up. The answer does not change, but is delayed if there have been too
   * many (routes/middleware.ts).
   */
  noteMissing(address: string): void {
    this.#seen.add(networkOf(address));
  }

  /** Counts an unknown credential. Returns the 429 to answer with if there have been too many, with the rest of the minute. */
  refuse(address: string): ApiError | undefined {
    const { count, resetSeconds } = this.#seen.add(networkOf(address));
    const over = count > this.#perMinute;
    this.#unknown.inc({ answer: over ? '429' : '401' });
    return over ? tooMany(resetSeconds) : undefined;
  }
}

function tooMany(retryAfterSeconds: number): ApiError {
  return new ApiError(
    'RATE_LIMITED',
    'Too many unknown API keys or user tokens came from this address. Check the credential, and send it again after the time in Retry-After.',
    { retryAfterSeconds },
  );
}
