import { outboxTables } from '@truckroll/outbox';
import { migrationsIn, type Schema } from '@truckroll/service-kit';

const own = migrationsIn('integrations', new URL('../migrations/', import.meta.url));

/** What integrations keeps in PostgreSQL. */
export const schema: Schema = { schema: 'integrations', migrations: [outboxTables, own] };
