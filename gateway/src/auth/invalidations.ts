// Receives revocations from integrations (identity.proto, Revocation), and proves that none was missed: Redis sends a connection its
// messages and its answers in order, so once a command is answered, everything published before it has arrived.
import { randomUUID } from 'node:crypto';
import { IDENTITY_EPOCH_KEY, INVALIDATION_CHANNEL } from '@truckroll/contract';
import { RedisLink, type RedisServers } from '@truckroll/redis';
import type { Logger, Metrics } from '@truckroll/telemetry';

/** Revocation takes effect within a second (decisions §8). */
const TRUST_MS = 1000;

export interface Invalidation {
  kind: 'key' | 'user' | 'company';
  id: string;
}

export interface Invalidations {
  /** Connects in the background, and from then on reports to the listener. */
  start(listener: Listener): void;
  stop(): void;
  /** Whether every message published up to some moment within the last second has arrived. */
  proven(): boolean;
  /** Changes with every message and every gap. An answer requested under an older generation may be out of date. */
  readonly generation: number;
}

interface Listener {
  /** A credential, user or company was revoked. */
  onInvalidation(invalidation: Invalidation): void;
  /** Messages may have been missed, so no cached identity can be trusted. */
  onGap(): void;
}

/** Holds a separate connection. Each new one is a gap: it replaces the epoch of the identities in Redis and calls `onGap` (decisions §8). */
export function subscribeInvalidations(servers: RedisServers, log: Logger, metrics: Metrics): Invalidations {
  let generation = 0;
  let listener: Listener;
  const link = new RedisLink({
    servers,
    name: 'truckroll-gateway-invalidations',
    log,
    metrics,
    // Revocations are published together with a write of this key, so that both links are on one server.
    keys: [IDENTITY_EPOCH_KEY],
    prepare: async (client) => {
      await client.subscribe(INVALIDATION_CHANNEL, (message) => {
        generation++;
        const invalidation = parse(message);
        if (invalidation === undefined) log.warn({ message }, 'an invalidation that is not one: keeping nothing');
        if (invalidation === undefined) listener.onGap();
        else listener.onInvalidation(invalidation);
      });
      // A Redis that lost its newest writes in a failover may hold entries of an older epoch again.
      await client.set(IDENTITY_EPOCH_KEY, randomUUID());
      generation++;
      listener.onGap();
    },
  });
  return {
    start(given) {
      listener = given;
      link.start();
    },
    stop: () => link.stop(),
    proven() {
      link.rely();
      return link.ready && performance.now() - link.provenAt < TRUST_MS;
    },
    get generation() {
      return generation;
    },
  };
}

function parse(message: string): Invalidation | undefined {
  const match = /^(key|user|company):([0-9a-f-]+)$/.exec(message);
  return match === null ? undefined : { kind: match[1] as Invalidation['kind'], id: match[2] as string };
}
