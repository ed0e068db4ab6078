// Missing, unknown or malformed API keys and user tokens, counted by address. A cached credential passes in any case. One that is
// not in the cache waits for its address's turn to be looked up, and is refused only where too many of them wait.
import { ApiError } from '@truckroll/contract';
import { Places, type Metrics } from '@truckroll/service-kit';
import { AddressCounts, networkOf } from './addresses.ts';

/** Look-ups at once for all addresses that are over the limit, and for one of them. */
const LOOK_UPS = { places: 8, share: 2 };
/** Most look-ups that may wait for one address; one more is refused with 429. */
const MOST_WAITING = 100;
/** Milliseconds that a look-up may wait. */
const PATIENCE_MS = 10_000;

export interface StrangersOptions {
  /** Unknown credentials from one address in a minute. */
  perMinute: number;
  metrics: Metrics;
}

export class Strangers {
  readonly #perMinute: number;
  readonly #seen = new AddressCounts();
  readonly #places = new Places({ ...LOOK_UPS, queue: MOST_WAITING, patienceMs: PATIENCE_MS });
  readonly #unknown;

  constructor({ perMinute, metrics }: StrangersOptions) {
    this.#perMinute = perMinute;
    this.#unknown = metrics.counter('gateway_unknown_keys_total', 'Requests whose API key or user token is unknown or malformed', ['answer']);
    metrics.observedGauge('gateway_look_ups_waiting', 'Credentials that wait to be looked up as their address is over its limit', () => this.#places.waiting);
  }

  /** Whether an address has sent too many missing or unknown credentials. `addressOf` is called only where any address has sent one. */
  isOver(addressOf: () => string): boolean {
    return !this.#seen.isEmpty && this.#seen.of(networkOf(addressOf())) >= this.#perMinute;
  }

  /** Looks a credential up when it is the address's turn. Rejects with ApiError 429 where too many look-ups of the address wait. */
  async inTurn<T>(address: string, lookUp: () => Promise<T> | T): Promise<T> {
    const network = networkOf(address);
    if (this.#places.waitingOf(network) >= MOST_WAITING) throw tooMany(1);
    await this.#places.enter(network);
    try {
      return await lookUp();
    } finally {
      this.#places.leave(network);
    }
  }

  /** Counts a request without a credential. It is answered as before, but late where there have been too many (routes/api.ts). */
  noteMissing(address: string): void {
    this.#seen.add(networkOf(address));
  }

  /** Counts an unknown credential. Returns the answer to it where there have been too many, with the rest of the minute. */
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
