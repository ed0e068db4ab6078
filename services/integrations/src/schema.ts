import { catchUpMigrations } from '@truckroll/catch-up';
import { changeMigrations } from '@truckroll/change-feed';
import { outboxTables } from '@truckroll/outbox';
import { migrationsIn, type Queryable, type DatabaseSchema } from '@truckroll/postgres';
import { auditRole } from './audit/store.ts';

const own = migrationsIn('integrations', new URL('../migrations/', import.meta.url));

export const schema: DatabaseSchema = { schema: 'integrations', migrations: [catchUpMigrations, outboxTables, changeMigrations, own] };

/** Records in the audit trail the migrations that `truckroll migrate` has applied to a service's schema. */
export async function recordMigration(db: Pick<Queryable, 'query'>, name: string, applied: readonly string[]): Promise<void> {
  await auditRole(db, { action: 'schema.migrated', object: { kind: 'schemas', id: name }, after: JSON.stringify({ applied }) });
}
