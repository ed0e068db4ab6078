import { once } from 'node:events';
import { createServer, isIP, isIPv6 } from 'node:net';
import { missingAddress, parseHost } from '@truckroll/process/addresses';
import { Problem } from '../problem.ts';
import type { Say } from '../say.ts';

export interface Listening {
  /** Address on which the gateway listens. */
  readonly host: string;
  /** Address at which this machine reaches the gateway. */
  readonly reachedAt: string;
  /** Address on which everything else listens, which only this machine needs to reach. */
  readonly loopback: string;
}

export const IPV4: Listening = { host: '127.0.0.1', reachedAt: '127.0.0.1', loopback: '127.0.0.1' };

/** From HOST. Shells and compilers use that name too, so what is no IP address is ignored with a message. */
export function listeningOf(given: string | undefined, say: Say): Listening {
  if (!given) return IPV4;
  const host = parseHost(given);
  if (host === undefined || isIP(host) === 0) {
    say(`HOST is ${given}, which is no IP address: the API listens on ${IPV4.host}.`);
    return IPV4;
  }
  const loopback = isIPv6(host) ? '::1' : IPV4.loopback;
  return { host, reachedAt: host === '::' || host === '0.0.0.0' ? loopback : host, loopback };
}

export const isLoopback = (host: string): boolean => host === '::1' || host.startsWith('127.');

/** Throws Problem if this machine does not have the address. */
export async function requireAddress({ host }: Listening): Promise<void> {
  const server = createServer().listen(0, host);
  await once(server, 'listening').catch((error: unknown) => {
    const reason = missingAddress(error, host);
    throw reason === undefined ? error : new Problem(`${reason}.`);
  });
  server.close();
}
