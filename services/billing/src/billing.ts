import { CatchUp } from '@truckroll/catch-up';
import { changeFeed } from '@truckroll/change-feed';
import { topics } from '@truckroll/contract';
import { ReceivablesReportServiceService } from '@truckroll/contract/gen/billing/v1/receivables_report';
import { ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import { CatchUpServiceService } from '@truckroll/contract/gen/records/v1/catch_up';
import { ChangeServiceService } from '@truckroll/contract/gen/records/v1/changes';
import { ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import { ExportServiceService } from '@truckroll/contract/gen/records/v1/exports';
import { FreezeServiceService } from '@truckroll/contract/gen/records/v1/freezes';
import { ProjectionServiceService } from '@truckroll/contract/gen/records/v1/projections';
import { PublishingServiceService } from '@truckroll/contract/gen/records/v1/records';
import { companyExport, erasure, freezing } from '@truckroll/erasure';
import { createService } from '@truckroll/grpc';
import { Outbox, Subscriber, createKafka, deadLetterHandlers, publishOperatorCalls } from '@truckroll/outbox';
import { databaseUrls, openDatabase } from '@truckroll/postgres';
import type { Service } from '@truckroll/process';
import {
  NameCache,
  Publication,
  Reprojector,
  lockCompany,
  nameOfPerson,
  nameSubscription,
  recordKinds,
  recordProjection,
  referencesToPeople,
  serveRecords,
} from '@truckroll/record-store';
import type { BillingConfig } from './config.ts';
import { readReceivables } from './reports/receivables.ts';
import { tables } from './resources/index.ts';
import { restored } from './restored.ts';
import { schema } from './schema.ts';

const SCHEMA = 'billing';

export function createBilling(config: BillingConfig): Service {
  return createService({
    name: SCHEMA,
    config,
    create(kit) {
      const { server, log, metrics, background } = kit;
      const database = openDatabase(kit, { ...databaseUrls(config), ...schema, settings: { ...schema.settings, ...Publication.settings } });
      const kafka = createKafka(SCHEMA, config, log);
      const names = new NameCache(database, SCHEMA, log);
      const catchUp = new CatchUp({ database, log, metrics });
      const publication = new Publication({ database, tables, catchUp });
      const published = [...publication.topics, topics.billingAudit];
      const outbox = new Outbox({ database, kafka, source: '/truckroll/billing', topics: published, complete: publication.complete, log, metrics });
      publication.wakes(outbox);
      const subscriptions = [nameSubscription(SCHEMA)];
      background(names);
      background(outbox);
      background(catchUp);
      const subscriber = new Subscriber({ database, kafka, group: SCHEMA, subscriptions, log, metrics });
      background(subscriber);
      server.recordOperators(publishOperatorCalls(database, SCHEMA));
      server.implement(ParkingServiceService, deadLetterHandlers(database, subscriber, SCHEMA));
      const projections = tables.map((table) => recordProjection(database, table));
      const reprojector = new Reprojector({ database, projections, log, metrics, poke: () => outbox.poke() });
      background(reprojector);
      server.implement(ProjectionServiceService, reprojector.handlers());
      server.implement(CatchUpServiceService, catchUp.handlers());
      server.implement(PublishingServiceService, publication.handlers());
      const kinds = recordKinds(tables, { database, names });
      const changes = changeFeed({ database, kinds, catchUp, log, metrics });
      changes.parts.forEach(background);
      server.implement(ChangeServiceService, changes.handlers);
      const people = { steps: [nameOfPerson(), ...referencesToPeople(tables)] };
      server.implement(
        ErasureServiceService,
        erasure({ database, kinds, catchUp, log, learns: { kafka, background }, restored, people, lock: lockCompany, poke: () => outbox.poke() }),
      );
      server.implement(ReceivablesReportServiceService, { getReceivablesReport: (request) => readReceivables(database, names, request) });
      server.implement(FreezeServiceService, freezing({ database, kafka, background, restored, hurry: () => subscriber.commit(), lock: lockCompany }));
      server.implement(ExportServiceService, companyExport({ database, kinds }));
      serveRecords(server, tables, { database, names, afterImport: () => outbox.poke() });
    },
  });
}
