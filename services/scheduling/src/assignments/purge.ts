import type { BackgroundPart, Database, Logger } from '@truckroll/service-kit';
import { purgeKeys } from './idempotency.ts';

const EVERY_MS = 3_600_000;

/** Deletes expired idempotency keys every hour, by whichever replica comes first. */
export function keyPurge(database: Database, log: Logger): BackgroundPart {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const run = async (): Promise<void> => {
    try {
      const purged = await purgeKeys(database, stopping.signal);
      if (purged > 0) log.info({ purged }, 'deleted expired idempotency keys');
    } catch (error) {
      log.warn({ error }, 'expired idempotency keys were not deleted; trying again in an hour');
    }
    if (!stopping.signal.aborted) timer = setTimeout(() => void (running = run()), EVERY_MS).unref();
  };
  return {
    name: 'idempotency keys',
    start: async () => void (running = run()),
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
