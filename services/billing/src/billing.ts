import { topics } from '@truckroll/contract';
import { ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import { Outbox, Subscriber, createKafka, outboxTables, parkingHandlers } from '@truckroll/outbox';
import { NameCache, nameSubscription, recordStoreMigrations, serveRecords } from '@truckroll/record-store';
import { createService, migrationsIn, type Service } from '@truckroll/service-kit';
import type { BillingConfig } from './config.ts';
import { tables } from './resources/index.ts';

const SCHEMA = 'billing';

/** Invoices, payments, refunds and estimates. */
export function createBilling(config: BillingConfig): Service {
  return createService({
    name: SCHEMA,
    config,
    create({ server, log, metrics, database: open, background }) {
      const own = migrationsIn(SCHEMA, new URL('../migrations/', import.meta.url));
      const database = open({ url: config.databaseUrl, schema: SCHEMA, migrations: [recordStoreMigrations, outboxTables, own] });
      const kafka = createKafka(SCHEMA, config, log);
      const names = new NameCache(database, SCHEMA, log);
      const outbox = new Outbox({ database, kafka, source: '/truckroll/billing', topics: [topics.invoices], log, metrics });
      const subscriptions = [nameSubscription(SCHEMA)];
      background({ name: 'names', start: () => names.start(), stop: () => names.stop() });
      background(outbox);
      const subscriber = new Subscriber({ database, kafka, group: SCHEMA, subscriptions, log, metrics });
      background(subscriber);
      server.implement(ParkingServiceService, parkingHandlers({ database, group: SCHEMA, subscriber }));
      serveRecords(server, tables, { database, names, afterImport: () => outbox.poke() });
    },
  });
}
