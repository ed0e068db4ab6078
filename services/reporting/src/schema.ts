import { outboxTables } from '@truckroll/outbox';
import { recordStoreMigrations } from '@truckroll/record-store';
import { migrationsIn, type Schema } from '@truckroll/service-kit';

const own = migrationsIn('reporting', new URL('../migrations/', import.meta.url));

/** What reporting keeps in PostgreSQL. */
export const schema: Schema = { schema: 'reporting', migrations: [recordStoreMigrations, outboxTables, own] };
