import { ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import { ProjectionServiceService } from '@truckroll/contract/gen/records/v1/projections';
import { ReportingAdminServiceService } from '@truckroll/contract/gen/reporting/v1/admin';
import { Subscriber, createKafka, parkingHandlers } from '@truckroll/outbox';
import { NameCache, Reprojector, nameSubscription, projectionHandlers, serveRecords } from '@truckroll/record-store';
import { createService, type Service } from '@truckroll/service-kit';
import type { ReportingConfig } from './config.ts';
import { copyAdmin } from './copies/admin.ts';
import { subscriptionOf } from './copies/copy.ts';
import { copies } from './copies/index.ts';
import { financialsForEveryJob } from './financials/every-job.ts';
import { projections } from './projections.ts';
import { tables } from './resources/index.ts';
import { schema } from './schema.ts';

const SCHEMA = 'reporting';

/** Job financials and revenue attributions, from its own copies of jobs, assignments and invoices. */
export function createReporting(config: ReportingConfig): Service {
  return createService({
    name: SCHEMA,
    config,
    create({ server, log, metrics, database: open, background }) {
      const database = open({ url: config.databaseUrl, ...schema });
      const kafka = createKafka(SCHEMA, config, log);
      const names = new NameCache(database, SCHEMA, log);
      const subscriptions = [nameSubscription(SCHEMA), ...copies.map(subscriptionOf)];
      background({ name: 'names', start: () => names.start(), stop: () => names.stop() });
      const subscriber = new Subscriber({ database, kafka, group: SCHEMA, subscriptions, log, metrics });
      background(subscriber);
      background(financialsForEveryJob(database, log));
      server.implement(ParkingServiceService, parkingHandlers({ database, group: SCHEMA, subscriber }));
      server.implement(ReportingAdminServiceService, copyAdmin(database, kafka, SCHEMA));
      const reprojector = new Reprojector({ database, projections: projections({ database, kafka, group: SCHEMA }), log, metrics });
      background(reprojector);
      server.implement(ProjectionServiceService, projectionHandlers(reprojector));
      serveRecords(server, tables, { database, names });
    },
  });
}
