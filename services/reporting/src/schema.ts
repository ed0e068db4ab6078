import { catchUpMigrations } from '@truckroll/catch-up';
import { changeMigrations } from '@truckroll/change-feed';
import { outboxTables } from '@truckroll/outbox';
import { migrationsIn } from '@truckroll/postgres';
import { recordStoreMigrations, withProjections } from '@truckroll/record-store';
import { projected } from './projections.ts';

const own = migrationsIn('reporting', new URL('../migrations/', import.meta.url));

export const schema = withProjections(
  { schema: 'reporting', migrations: [catchUpMigrations, recordStoreMigrations, outboxTables, changeMigrations, own] },
  projected,
);

/** Settings of this service's transactions: they refresh what follows from a job's sources. After changes by others, the task does (migrations/0013_sums_of_days.sql). */
export const transactionSettings = { ...schema.settings, 'truckroll.derives_job_facts': 'on' };
