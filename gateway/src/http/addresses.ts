// Requests counted by the network address that they come from.
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';

const WINDOW_MS = 60_000;
/** Maximum addresses counted at once: the least recently seen one is dropped. */
const MOST_ADDRESSES = 10_000;

interface Minute {
  count: number;
  /** performance.now() when the minute ends. */
  endsAt: number;
}

/** Counts by address over a minute. Addresses are as networkOf gives them. */
export class AddressCounts {
  readonly #minutes = new LRUCache<string, Minute>({ max: MOST_ADDRESSES });

  /** Lets callers skip finding out a request's address when none has been counted. */
  get isEmpty(): boolean {
    return this.#minutes.size === 0;
  }

  of(network: string): number {
    return this.#current(network)?.count ?? 0;
  }

  /** Counts one request. Returns the new count, and the seconds until it is reset. */
  add(network: string): { count: number; resetSeconds: number } {
    const minute = this.#current(network) ?? { count: 0, endsAt: performance.now() + WINDOW_MS };
    minute.count += 1;
    this.#minutes.set(network, minute);
    return { count: minute.count, resetSeconds: Math.max(1, Math.ceil((minute.endsAt - performance.now()) / 1000)) };
  }

  #current(network: string): Minute | undefined {
    const minute = this.#minutes.get(network);
    return minute !== undefined && minute.endsAt > performance.now() ? minute : undefined;
  }
}

/** The key to count an address by: an IPv4 address, also if given in IPv6 form, or the first 64 bits of an IPv6 address, which belong to one subscriber. */
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
