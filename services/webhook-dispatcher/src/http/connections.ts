import type { Target } from '@truckroll/webhook-targets';
import { Client } from 'undici';
import type { Dial } from './dial.ts';

/** One connection and the client that speaks on it. One exchange at a time. */
export interface Connection {
  readonly key: string;
  readonly client: Client;
  /** The address that was dialled last; undefined before the first. */
  address: string | undefined;
  /** How often it was dialled: when that stays, an exchange went over a connection that was there before. */
  dials: number;
  openedAt: number;
  /** Ends the making of the connection; of the exchange that goes on. */
  signal: AbortSignal;
}

/** Where a name leads is looked up anew after this long, however busy the connection. */
const MOST_AGE_MS = 60_000;
const MOST_IDLE = 1000;

/**
 * Connections that are kept open between exchanges. Each belongs to one endpoint: endpoints of the same host share
 * nothing, so none waits for another's.
 */
export class Connections {
  readonly #dial: Dial;
  /** The one that was used last is at the end. */
  readonly #idle = new Map<string, Connection[]>();
  #count = 0;

  constructor(dial: Dial) {
    this.#dial = dial;
  }

  /** An idle connection of this endpoint, or one that is made when it is first used. */
  take(endpointId: string, target: Target, signal: AbortSignal): Connection {
    const key = `${endpointId} ${target.url.origin}`;
    for (let kept = this.#pop(key); kept !== undefined; kept = this.#pop(key)) {
      if (!kept.client.destroyed && Date.now() - kept.openedAt < MOST_AGE_MS) return Object.assign(kept, { signal });
      this.discard(kept);
    }
    return this.#create(key, target, signal);
  }

  /** Takes back a connection whose exchange is complete. */
  give(connection: Connection): void {
    if (this.#count >= MOST_IDLE) return this.discard(connection);
    const kept = this.#idle.get(connection.key);
    if (kept === undefined) this.#idle.set(connection.key, [connection]);
    else kept.push(connection);
    this.#count += 1;
    // Lets go of those that the other side has closed, also of endpoints that get nothing more.
    connection.client.once('disconnect', () => this.#remove(connection));
  }

  discard(connection: Connection): void {
    connection.client.destroy().catch(() => undefined);
  }

  async close(): Promise<void> {
    const all = [...this.#idle.values()].flat();
    this.#idle.clear();
    this.#count = 0;
    await Promise.all(all.map((connection) => connection.client.destroy()));
  }

  #pop(key: string): Connection | undefined {
    const kept = this.#idle.get(key);
    const connection = kept?.pop();
    if (kept?.length === 0) this.#idle.delete(key);
    if (connection === undefined) return undefined;
    connection.client.removeAllListeners('disconnect');
    this.#count -= 1;
    return connection;
  }

  #remove(connection: Connection): void {
    const kept = this.#idle.get(connection.key);
    const index = kept?.indexOf(connection) ?? -1;
    if (kept === undefined || index < 0) return;
    kept.splice(index, 1);
    if (kept.length === 0) this.#idle.delete(connection.key);
    this.#count -= 1;
    this.discard(connection);
  }

  #create(key: string, target: Target, signal: AbortSignal): Connection {
    const client = new Client(target.url.origin, {
      connect: (_, callback) => {
        connection.address = undefined;
        connection.dials += 1;
        connection.openedAt = Date.now();
        const dialling = (address: string) => void (connection.address = address);
        this.#dial(target, connection.signal, dialling).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
      allowH2: false,
      pipelining: 1,
      // The exchange's own limit counts.
      headersTimeout: 0,
      bodyTimeout: 0,
      // Shorter than the 5 s after which Node, Apache and others close: an exchange should not meet that.
      keepAliveTimeout: 3000,
      keepAliveMaxTimeout: 30_000,
    });
    const connection: Connection = { key, client, address: undefined, dials: 0, openedAt: Date.now(), signal };
    return connection;
  }
}
