// The network address that a request comes from, and requests counted by it.
import type { IncomingMessage } from 'node:http';
import { SocketAddress, isIP, isIPv4 } from 'node:net';
import type { Express } from 'express';
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

/** Whether the peer at this address is a proxy whose X-Forwarded-For is believed. `hop` is 0 for the peer of the connection. */
export type TrustsProxy = (address: string, hop: number) => boolean;

/** Has Express compile which proxies are trusted: the last N, or those with these addresses and networks. Throws TypeError. */
export function trustProxies(app: Express, given: readonly string[]): TrustsProxy {
  const [first = '0'] = given;
  const isNumber = given.length <= 1 && /^\d{1,2}$/.test(first);
  // Express takes a number in a list for an address.
  if (!isNumber && given.some((each) => /^\d+$/.test(each))) throw new TypeError('a number among addresses');
  app.set('trust proxy', isNumber ? Number(first) : given);
  return app.get('trust proxy fn') as TrustsProxy;
}

/**
 * The client's address: that of the connection's peer, or the entry of X-Forwarded-For that the outermost trusted proxy added. If that is
 * no address, the peer counts as the client. The header Forwarded (RFC 7239) is not read.
 */
export function clientAddress({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>, trusts: TrustsProxy): string | undefined {
  if (socket.remoteAddress === undefined) return undefined;
  const peer = unmapped(socket.remoteAddress);
  const forwarded = headers['x-forwarded-for'] as string | undefined;
  if (forwarded === undefined) return peer;
  let address = peer;
  // Each proxy appends the address that it was called from, so the entries are read from the last to the first.
  for (let hop = 0, end = forwarded.length; end >= 0 && trusts(address, hop); hop += 1) {
    const start = end === 0 ? 0 : forwarded.lastIndexOf(',', end - 1) + 1;
    const entry = addressIn(forwarded.slice(start, end));
    if (entry === undefined) return peer;
    address = entry;
    end = start - 1;
  }
  return address;
}

/** The address in an entry of X-Forwarded-For, where some proxies add a port, brackets or quotes. Undefined if there is none. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim().replace(/^"(.*)"$/, '$1');
  const host = /^\[(.*)\](?::\d*)?$/.exec(text)?.[1] ?? /^([\d.]+):\d*$/.exec(text)?.[1] ?? text;
  const version = isIP(host);
  if (version !== 6) return version === 4 ? host : undefined;
  return unmapped(new SocketAddress({ address: host.replace(/%.*$/, ''), family: 'ipv6' }).address);
}

/** An address in the kernel's spelling, without a zone, and as IPv4 where it is IPv4 in IPv6 form. */
function unmapped(address: string): string {
  if (!address.includes(':')) return address;
  const v4 = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : '';
  return isIPv4(v4) ? v4 : address.replace(/%.*$/, '');
}

/**
 * The key to count an address by, which is in the kernel's spelling: an IPv4 address, or the first 64 bits of an IPv6 address, which belong
 * to one subscriber.
 */
export function networkOf(given: string): string {
  const address = unmapped(given);
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
