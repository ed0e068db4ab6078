// Where the gateways hear what to forget.
import { randomUUID } from 'node:crypto';
import { RedisLink, type RedisServers } from '@truckroll/redis';
import type { Logger, Metrics } from '@truckroll/service-kit';

/** Names that the gateways know (proto/truckroll/integrations/v1/identity.proto). */
const CHANNEL = 'truckroll:invalidations';
/** Answers that were kept in Redis under another epoch are not believed any more. */
const EPOCH = 'truckroll:identity:epoch';

export interface InvalidationBus {
  /** Goes on trying in the background until Redis answers, and again whenever the connection is lost. */
  connect(): void;
  /** Tells every gateway to forget these. Resolves once Redis has taken it, rejects where that is not certain. */
  publish(subjects: readonly string[]): Promise<void>;
  /** Called whenever Redis can be used again. */
  onReady(action: () => void): void;
  close(): void;
}

export function createBus(servers: RedisServers, log: Logger, metrics: Metrics): InvalidationBus {
  let ready = (): void => undefined;
  const link = new RedisLink({ servers, name: 'truckroll-integrations', log, metrics, keys: [EPOCH], onReady: () => ready() });
  return {
    connect: () => link.start(),
    publish: (subjects) =>
      link.run('publish_invalidations', async (client) => {
        const transaction = client.multi().set(EPOCH, randomUUID());
        for (const subject of subjects) transaction.publish(CHANNEL, subject);
        await transaction.exec();
      }),
    onReady: (action) => void (ready = action),
    close: () => link.stop(),
  };
}
