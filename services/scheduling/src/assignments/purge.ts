import type { Database } from '@truckroll/postgres';
import { PeriodicTask, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { purgeKeys } from './idempotency.ts';

const EVERY_MS = 3_600_000;

/** Deletes expired idempotency keys every hour; every replica does, and they do not block each other. */
export function keyPurge(database: Database, log: Logger): BackgroundPart {
  const stopping = new AbortController();
  const purges = new PeriodicTask(EVERY_MS, async () => {
    try {
      const purged = await purgeKeys(database, stopping.signal);
      if (purged > 0) log.info({ purged }, 'deleted expired idempotency keys');
    } catch (error) {
      log.warn({ error }, 'expired idempotency keys were not deleted; trying again in an hour');
    }
  });
  return {
    name: 'idempotency keys',
    start: async () => purges.start(),
    stop() {
      stopping.abort();
      return purges.stop();
    },
  };
}
