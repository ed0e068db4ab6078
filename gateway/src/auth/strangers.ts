// Who comes with keys that nobody has, or user tokens that nobody signed: counted by address, so that guessing costs the
// guesser and nobody else. A valid credential is never refused by it: one that is known here passes at once, and one that
// is not waits its address's turn to be looked up.
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { ApiError } from '@truckroll/contract';
import { Places, type Metrics } from '@truckroll/service-kit';

const WINDOW_MS = 60_000;
/** Addresses that are counted at once; the one that came longest ago is forgotten. */
const MOST_ADDRESSES = 10_000;
/** Look-ups at once for all addresses that are over the limit, and for one of them. */
const LOOK_UPS = { places: 8, share: 2 };
/** A caller has one request on a connection, so there are no more waiting than there are connections. Milliseconds. */
const LOOK_UP = { queue: Infinity, patienceMs: 10_000 };

export interface StrangersOptions {
  /** Unknown keys and user tokens from one address in a minute. */
  perMinute: number;
  metrics: Metrics;
}

interface Seen {
  unknown: number;
  /** performance.now() when its minute ends. */
  endsAt: number;
}

export class Strangers {
  readonly #perMinute: number;
  readonly #seen = new LRUCache<string, Seen>({ max: MOST_ADDRESSES });
  readonly #places = new Places({ ...LOOK_UPS, ...LOOK_UP });
  readonly #unknown;

  constructor({ perMinute, metrics }: StrangersOptions) {
    this.#perMinute = perMinute;
    this.#unknown = metrics.counter('gateway_unknown_keys_total', 'Requests with API keys or user tokens that are nobody’s', ['answer']);
    metrics.observedGauge('gateway_look_ups_waiting', 'Credentials that wait to be looked up as their address is over its limit', () => this.#places.waiting);
  }

  /** Whether an address has come with too many unknown credentials. `addressOf` is asked only where any address has. */
  isOver(addressOf: () => string): boolean {
    return this.#seen.size > 0 && (this.#current(networkOf(addressOf()))?.unknown ?? 0) >= this.#perMinute;
  }

  /** Looks a credential up when it is the address's turn. */
  async inTurn<T>(address: string, lookUp: () => Promise<T> | T): Promise<T> {
    const network = networkOf(address);
    await this.#places.enter(network);
    try {
      return await lookUp();
    } finally {
      this.#places.leave(network);
    }
  }

  /** Counts an unknown credential; the answer to it where there have been too many, with the rest of the minute. */
  refuse(address: string): ApiError | undefined {
    const network = networkOf(address);
    const seen = this.#current(network) ?? { unknown: 0, endsAt: performance.now() + WINDOW_MS };
    seen.unknown += 1;
    this.#seen.set(network, seen);
    const over = seen.unknown > this.#perMinute;
    this.#unknown.inc({ answer: over ? '429' : '401' });
    if (!over) return undefined;
    const retryAfterSeconds = Math.max(1, Math.ceil((seen.endsAt - performance.now()) / 1000));
    return new ApiError(
      'RATE_LIMITED',
      'Too many unknown API keys or user tokens came from this address. Check the credential, and send it again after the time in Retry-After.',
      { retryAfterSeconds },
    );
  }

  #current(network: string): Seen | undefined {
    const seen = this.#seen.get(network);
    return seen !== undefined && seen.endsAt > performance.now() ? seen : undefined;
  }
}

/** An IPv4 address, also one in IPv6 form; of IPv6 the first 64 bits, which are one subscriber's. */
export function networkOf(address: string): string {
  const v4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4 !== undefined || isIP(address) !== 6) return v4 ?? address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? left : [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
