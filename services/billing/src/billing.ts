import { NameCache, recordStoreMigrations, serveRecords } from '@truckroll/record-store';
import { createService, migrationsIn, type Service } from '@truckroll/service-kit';
import type { BillingConfig } from './config.ts';
import { tables } from './resources/index.ts';

const SCHEMA = 'billing';

/** Invoices, payments, refunds and estimates. */
export function createBilling(config: BillingConfig): Service {
  return createService({
    name: SCHEMA,
    config,
    create({ server, log, database: open, background }) {
      const migrations = [recordStoreMigrations, migrationsIn(SCHEMA, new URL('../migrations/', import.meta.url))];
      const database = open({ url: config.databaseUrl, schema: SCHEMA, migrations, maxConnections: 10 });
      const names = new NameCache(database, SCHEMA, log);
      background({ name: 'names', start: () => names.start(), stop: () => names.stop() });
      serveRecords(server, tables, { database, names });
    },
  });
}
