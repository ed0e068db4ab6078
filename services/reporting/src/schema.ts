import { outboxTables } from '@truckroll/outbox';
import { recordStoreMigrations, withProjections } from '@truckroll/record-store';
import { migrationsIn } from '@truckroll/service-kit';
import { projected } from './projections.ts';

const own = migrationsIn('reporting', new URL('../migrations/', import.meta.url));

/** What reporting keeps in PostgreSQL. */
export const schema = withProjections({ schema: 'reporting', migrations: [recordStoreMigrations, outboxTables, own] }, projected);
