import { outboxTables } from '@truckroll/outbox';
import { recordStoreMigrations } from '@truckroll/record-store';
import { migrationsIn, type Schema } from '@truckroll/service-kit';

const own = migrationsIn('billing', new URL('../migrations/', import.meta.url));

/** What billing keeps in PostgreSQL. */
export const schema: Schema = { schema: 'billing', migrations: [recordStoreMigrations, outboxTables, own] };
