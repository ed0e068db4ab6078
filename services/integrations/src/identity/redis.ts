// The only file of this service that knows the Redis client.
import { randomUUID } from 'node:crypto';
import { createClient } from '@redis/client';
import { databaseDurations, type Logger, type Metrics } from '@truckroll/service-kit';

/** Names that the gateways know (proto/truckroll/integrations/v1/identity.proto). */
const CHANNEL = 'truckroll:invalidations';
/** Answers that were kept in Redis under another epoch are not believed any more. */
const EPOCH = 'truckroll:identity:epoch';

const CONNECT_MS = 1000;
/** A Redis that hangs counts as one that is down. */
const ANSWER_MS = 2000;
const LONGEST_PAUSE_MS = 1000;

export interface InvalidationBus {
  /** Goes on trying in the background until Redis answers, and again whenever the connection is lost. */
  connect(): void;
  /** Tells every gateway to forget these. Resolves once Redis has taken it, rejects where that is not certain. */
  publish(subjects: readonly string[]): Promise<void>;
  /** Called whenever Redis can be used again. */
  onReady(action: () => void): void;
  close(): void;
}

export function createBus(url: string, log: Logger, metrics: Metrics): InvalidationBus {
  const commands = databaseDurations(metrics);
  const client = createClient({
    url,
    name: 'truckroll-integrations',
    // Better to say at once that Redis is down than to hold the caller until it returns.
    disableOfflineQueue: true,
    socket: { connectTimeout: CONNECT_MS, reconnectStrategy: (failures) => Math.min(50 * 2 ** failures, LONGEST_PAUSE_MS) },
  });
  let down = false;
  client.on('error', (error: Error) => {
    if (!down) log.warn({ error }, 'Redis is out of reach; invalidations wait for it');
    down = true;
  });
  client.on('ready', () => {
    if (down) log.info({}, 'Redis is back');
    down = false;
  });

  return {
    connect: () => void client.connect().catch((error: Error) => log.error({ error }, 'the Redis client gave up')),
    async publish(subjects) {
      const transaction = client.multi().set(EPOCH, randomUUID());
      for (const subject of subjects) transaction.publish(CHANNEL, subject);
      const startedAt = performance.now();
      try {
        await within(ANSWER_MS, transaction.exec());
        commands.ended(startedAt, 'redis', 'publish_invalidations', '');
      } catch (error) {
        commands.ended(startedAt, 'redis', 'publish_invalidations', 'unavailable');
        throw error;
      }
    },
    onReady: (action) => void client.on('ready', action),
    close: () => client.destroy(),
  };
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis did not answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
