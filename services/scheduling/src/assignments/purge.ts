import type { Database } from '@truckroll/postgres';
import { PeriodicTask, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { purgeKeys } from './idempotency.ts';

const EVERY_MS = 3_600_000;

/** Deletes expired idempotency keys every hour; every replica does, and they do not block each other. */
export function keyPurge(database: Database, log: Logger): BackgroundPart {
  const purge = async (signal: AbortSignal): Promise<void> => {
    const purged = await purgeKeys(database, signal);
    if (purged > 0) log.info({ purged }, 'deleted expired idempotency keys');
  };
  const failed = (error: unknown): void => log.warn({ error }, 'expired idempotency keys were not deleted; trying again in an hour');
  return new PeriodicTask(EVERY_MS, purge, failed).asPart('idempotency keys');
}
