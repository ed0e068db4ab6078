import { randomUUID } from 'node:crypto';
import { IDENTITY_EPOCH_KEY, INVALIDATION_CHANNEL } from '@truckroll/contract';
import { RedisLink, type RedisServers } from '@truckroll/redis';
import type { Logger, Metrics } from '@truckroll/telemetry';

export interface InvalidationBus {
  /** Connects in the background, and reconnects whenever the connection is lost. */
  connect(): void;
  /** Makes every gateway forget the subjects. Resolves once Redis has accepted the messages; rejects if that is uncertain. */
  publish(subjects: readonly string[]): Promise<void>;
  onReady(action: () => void): void;
  close(): void;
}

/** Publishes to the gateways. The same Redis transaction replaces the epoch of identities in Redis, so that no gateway trusts one from before. */
export function createBus(servers: RedisServers, log: Logger, metrics: Metrics): InvalidationBus {
  let ready = (): void => undefined;
  const link = new RedisLink({ servers, name: 'truckroll-integrations', log, metrics, keys: [IDENTITY_EPOCH_KEY], onReady: () => ready() });
  return {
    connect: () => link.start(),
    publish: (subjects) =>
      link.run('publish_invalidations', async (client) => {
        const transaction = client.multi().set(IDENTITY_EPOCH_KEY, randomUUID());
        for (const subject of subjects) transaction.publish(INVALIDATION_CHANNEL, subject);
        await transaction.exec();
      }),
    onReady: (action) => void (ready = action),
    close: () => link.stop(),
  };
}
