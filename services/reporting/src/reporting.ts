import { CatchUp } from '@truckroll/catch-up';
import { changeFeed } from '@truckroll/change-feed';
import { topics } from '@truckroll/contract';
import { ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import { CatchUpServiceService } from '@truckroll/contract/gen/records/v1/catch_up';
import { ChangeServiceService } from '@truckroll/contract/gen/records/v1/changes';
import { ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import { ExportServiceService } from '@truckroll/contract/gen/records/v1/exports';
import { FreezeServiceService } from '@truckroll/contract/gen/records/v1/freezes';
import { ProjectionServiceService } from '@truckroll/contract/gen/records/v1/projections';
import { ReportingAdminServiceService } from '@truckroll/contract/gen/reporting/v1/admin';
import { ReportsServiceService } from '@truckroll/contract/gen/reporting/v1/reports';
import { companyExport, erasure, freezing } from '@truckroll/erasure';
import { createService } from '@truckroll/grpc';
import { Outbox, Subscriber, createKafka, deadLetterHandlers, publishOperatorCalls } from '@truckroll/outbox';
import { databaseUrls, openDatabase } from '@truckroll/postgres';
import type { Service } from '@truckroll/process';
import { NameCache, Reprojector, lockCompany, nameOfPerson, nameSubscription, recordKinds, referencesToPeople, serveRecords } from '@truckroll/record-store';
import type { ReportingConfig } from './config.ts';
import { namesInJobs } from './read-models/erase-names.ts';
import { readModelAdmin } from './read-models/admin.ts';
import { readModelSubscriptions } from './read-models/index.ts';
import { freshnessMetrics } from './freshness/metrics.ts';
import { appliedTo, followProgress, storedOffsets } from './freshness/progress.ts';
import { projections } from './projections.ts';
import { reportHandlers } from './reports/handlers.ts';
import { tables } from './resources/index.ts';
import { restored } from './restored.ts';
import { schema, transactionSettings } from './schema.ts';
import { sumsTask } from './sums/task.ts';

const SCHEMA = 'reporting';

export function createReporting(config: ReportingConfig): Service {
  return createService({
    name: SCHEMA,
    config,
    create(kit) {
      const { server, log, metrics, background } = kit;
      const database = openDatabase(kit, { ...databaseUrls(config), ...schema, settings: transactionSettings });
      const kafka = createKafka(SCHEMA, config, log);
      const names = new NameCache(database, SCHEMA, log);
      const outbox = new Outbox({ database, kafka, source: '/truckroll/reporting', topics: [topics.reportingAudit], announces: false, log, metrics });
      background(outbox);
      const sums = sumsTask(database, log, metrics);
      const look = (): void => sums.look();
      const { reached, watermarks } = followProgress(database, log);
      const subscriptions = [nameSubscription(SCHEMA), ...readModelSubscriptions(look), watermarks];
      background(names);
      const subscriber = new Subscriber({ database, kafka, group: SCHEMA, subscriptions, reached, storedOffsets: () => storedOffsets(database), log, metrics });
      background(subscriber);
      background(freshnessMetrics(database, log, metrics));
      background(sums);
      server.recordOperators(publishOperatorCalls(database, SCHEMA));
      server.implement(ParkingServiceService, deadLetterHandlers(database, subscriber, SCHEMA));
      server.implement(ReportsServiceService, reportHandlers(database, names));
      server.implement(ReportingAdminServiceService, readModelAdmin({ database, kafka, group: SCHEMA, begun: look }));
      const reprojector = new Reprojector({ database, projections: projections({ database, kafka, group: SCHEMA }), log, metrics });
      background(reprojector);
      server.implement(ProjectionServiceService, reprojector.handlers());
      const catchUp = new CatchUp({ database, log, metrics });
      const kinds = recordKinds(tables, { database, names });
      const changes = changeFeed({ database, kinds, catchUp, log, metrics });
      changes.parts.forEach(background);
      background(catchUp);
      server.implement(CatchUpServiceService, catchUp.handlers());
      server.implement(ChangeServiceService, changes.handlers);
      const people = { steps: [nameOfPerson(), namesInJobs, ...referencesToPeople(tables)] };
      server.implement(
        ErasureServiceService,
        erasure({ database, kinds, catchUp, log, learns: { kafka, background }, restored, people, lock: lockCompany, poke: () => outbox.poke() }),
      );
      server.implement(FreezeServiceService, freezing({ database, kafka, background, restored, applied: appliedTo, lock: lockCompany }));
      server.implement(ExportServiceService, companyExport({ database, kinds }));
      serveRecords(server, tables, { database, names, afterImport: () => outbox.poke() });
    },
  });
}
