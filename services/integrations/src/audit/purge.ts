import { now } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { PeriodicTask, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { purgeAuditEvents } from './store.ts';

const EVERY_MS = 3_600_000;

/** Deletes audit events older than 365 days every hour. Replicas share the work. */
export function auditPurge(database: Database, log: Logger): BackgroundPart {
  const purge = async (): Promise<void> => {
    const purged = await purgeAuditEvents(database, now());
    if (purged > 0) log.info({ purged }, 'deleted audit events older than 365 days');
  };
  const failed = (error: unknown): void => log.warn({ error }, 'old audit events were not deleted; trying again in an hour');
  return new PeriodicTask(EVERY_MS, purge, failed).asPart('audit events');
}
