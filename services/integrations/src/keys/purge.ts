import type { Database } from '@truckroll/postgres';
import { PeriodicTask, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { purgeRevokedKeys } from './store.ts';

const EVERY_MS = 3_600_000;

/** Deletes keys that were revoked long ago, every hour. Replicas share the work. */
export function revokedKeyPurge(database: Database, log: Logger): BackgroundPart {
  const purge = async (): Promise<void> => {
    const purged = await purgeRevokedKeys(database);
    if (purged > 0) log.info({ purged }, 'deleted keys that were revoked long ago');
  };
  const failed = (error: unknown): void => log.warn({ error }, 'keys that were revoked long ago were not deleted; trying again in an hour');
  return new PeriodicTask(EVERY_MS, purge, failed).asPart('revoked keys');
}
