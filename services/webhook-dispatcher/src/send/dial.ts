// The only place that connects to the internet. It dials only addresses that were just checked, and dials them as addresses, so that
// no second lookup can return something else.
import type { Socket } from 'node:net';
import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { TargetProblem, checkAddress, isLoopbackName, type Target, type TargetPolicy } from '@truckroll/webhook-targets';
import { buildConnector } from 'undici';
import type { Destinations } from './destinations.ts';
import { ExchangeFailure, connectFailure, tlsFailure } from './failure.ts';
import type { Resolve } from './resolve.ts';
import type { ExchangeTime } from './exchange-time.ts';

export interface DialOptions {
  readonly policy: TargetPolicy;
  readonly resolve: Resolve;
  /** Certificates to trust instead of the default ones. */
  readonly ca?: string | undefined;
}

export interface DialRequest {
  readonly companyId: string;
  readonly target: Target;
  readonly time: ExchangeTime;
  readonly destinations: Destinations;
  /** Called with each address before it is dialled. */
  readonly dialling: (address: string) => void;
}

export type Dial = (request: DialRequest) => Promise<Socket>;

/** Maximum addresses tried for one connection, and the time limit in ms for each except the last, to skip addresses that drop packets. */
const MOST_ADDRESSES = 4;
const TRY_MS = 2500;

/** Tries a name's addresses in turn, and none if one is not allowed. Rejects with ExchangeFailure, or with the signal's reason. */
export function createDial({ policy, resolve, ca }: DialOptions): Dial {
  // No timeout here: the signal limits the lookup, the connection and the handshake together.
  const connector = buildConnector({ timeout: 0, allowH2: false, ...(ca === undefined ? {} : { ca }) });

  function connect(target: Target, address: string, limitMs: number | undefined, signal: AbortSignal, closed: () => void): Promise<Socket> {
    return new Promise((resolve, reject) => {
      let connected = false;
      const { protocol, host } = target.url;
      const options = { hostname: address, host, protocol, port: String(target.port) };
      const servername = protocol === 'https:' && !target.isAddress ? { servername: target.host.replace(/\.$/, '') } : {};
      // undici's types omit that it returns the socket, which must be destroyed when time is up.
      const socket = connector({ ...options, ...servername }, (...[error]: [Error | null, ...unknown[]]) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abandon);
        if (error === null) resolve(socket);
        else reject(connected && protocol === 'https:' ? tlsFailure(error) : connectFailure(error));
      }) as unknown as Socket;
      socket.once('close', closed);
      socket.once('connect', () => {
        connected = true;
        clearTimeout(timer);
      });
      const abandon = () => void socket.destroy(new Error('time is up'));
      const timer = limitMs === undefined ? undefined : setTimeout(abandon, limitMs);
      signal.addEventListener('abort', abandon, { once: true });
    });
  }

  return async ({ companyId, target, time, destinations, dialling }) => {
    const { signal } = time;
    const addresses = await unlessAborted(addressesOf(target, policy, resolve), signal);
    for (const [index, address] of addresses.entries()) {
      signal.throwIfAborted();
      const leave = await time.hold(destinations.enter(address, companyId));
      dialling(address);
      const isLast = index === addresses.length - 1;
      try {
        return await connect(target, address, isLast ? undefined : TRY_MS, signal, leave);
      } catch (error) {
        if (isLast || (error as ExchangeFailure).kind !== AttemptError.CONNECT) throw error;
      }
    }
    throw new ExchangeFailure(AttemptError.NAME, 'The host has no address.');
  };
}

/** Checks every address, including those that would not be dialled: one private address makes the whole name suspect. */
async function addressesOf(target: Target, policy: TargetPolicy, resolve: Resolve): Promise<readonly string[]> {
  const known = target.isAddress ? [target.host] : isLoopbackName(target.host) ? ['127.0.0.1'] : undefined;
  const addresses = known ?? (await resolve(target.host.replace(/\.$/, '')));
  unlessForbidden(() => {
    for (const address of addresses) checkAddress(target, address, policy);
  });
  return addresses.slice(0, MOST_ADDRESSES);
}

/** Stops waiting for a lookup on abort. The lookup itself cannot be cancelled. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Runs a check of a target and converts its TargetProblem to an ExchangeFailure. */
export function unlessForbidden<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof TargetProblem)) throw error;
    throw new ExchangeFailure(AttemptError.FORBIDDEN_TARGET, `This target is not allowed. ${error.message}`);
  }
}
