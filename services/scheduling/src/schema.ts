import { outboxTables } from '@truckroll/outbox';
import { recordStoreMigrations } from '@truckroll/record-store';
import { migrationsIn, type Schema } from '@truckroll/service-kit';

const own = migrationsIn('scheduling', new URL('../migrations/', import.meta.url));

/** What scheduling keeps in PostgreSQL. */
export const schema: Schema = { schema: 'scheduling', migrations: [recordStoreMigrations, outboxTables, own] };
