import { CatchUp } from '@truckroll/catch-up';
import { changeFeed, documentKind } from '@truckroll/change-feed';
import { topics } from '@truckroll/contract';
import { CatchUpServiceService } from '@truckroll/contract/gen/records/v1/catch_up';
import { ChangeServiceService } from '@truckroll/contract/gen/records/v1/changes';
import { ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import { ExportServiceService } from '@truckroll/contract/gen/records/v1/exports';
import { FreezeServiceService } from '@truckroll/contract/gen/records/v1/freezes';
import { ProjectionServiceService } from '@truckroll/contract/gen/records/v1/projections';
import { PublishingServiceService } from '@truckroll/contract/gen/records/v1/records';
import { AssignmentCommandServiceService } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { IntakeListServiceService } from '@truckroll/contract/gen/scheduling/v1/intake_lists';
import { NotificationServiceService } from '@truckroll/contract/gen/scheduling/v1/notifications';
import { ServiceRequestCountServiceService } from '@truckroll/contract/gen/scheduling/v1/service_request_counts';
import { companyExport, erasure, freezing } from '@truckroll/erasure';
import { createService } from '@truckroll/grpc';
import { Outbox, createKafka, publishOperatorCalls } from '@truckroll/outbox';
import { databaseUrls, openDatabase } from '@truckroll/postgres';
import type { Service } from '@truckroll/process';
import { NameCache, Publication, RecordReader, Reprojector, recordKinds, recordProjection, serveRecords, lockCompany } from '@truckroll/record-store';
import { addAssignment } from './assignments/add.ts';
import { keyPurge } from './assignments/purge.ts';
import { removeAssignment } from './assignments/remove.ts';
import type { SchedulingConfig } from './config.ts';
import { intakeHandlers } from './intake/intake.ts';
import { intakeLists } from './intake/lists.ts';
import { intakeProjection, interactions, serviceRequests } from './intake/tables.ts';
import { countServiceRequests } from './intake/unbooked.ts';
import { chooseProviders } from './notifications/providers.ts';
import { exportedNotifications } from './notifications/exported.ts';
import { notificationHandlers } from './notifications/read.ts';
import { notificationSender } from './notifications/sender.ts';
import { underWay } from './notifications/store.ts';
import { findPerson, personSteps } from './people/erase.ts';
import { tables } from './resources/index.ts';
import { jobAppointments } from './resources/job-appointments.ts';
import { storeJobClasses } from './resources/job-classes.ts';
import { restored } from './restored.ts';
import { schema } from './schema.ts';

const SCHEMA = 'scheduling';
const TOPICS = [topics.names, topics.jobs, topics.assignments, topics.scheduling, topics.serviceRequests, topics.schedulingAudit];

/** Customers, locations, people, jobs and visits. Owns all names. */
export function createScheduling(config: SchedulingConfig): Service {
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
      const outbox = new Outbox({ database, kafka, source: '/truckroll/scheduling', topics: TOPICS, complete: publication.complete, log, metrics });
      publication.wakes(outbox);
      background({ name: 'job classes', start: () => storeJobClasses(database), stop: async () => undefined });
      background(names);
      background(outbox);
      background(catchUp);
      background(keyPurge(database, log));
      const poke = (): void => outbox.poke();
      const providers = chooseProviders(config, log);
      background(notificationSender({ database, providers, log, metrics, poke, timeoutMs: config.notificationTimeoutMs }));
      const intake = [intakeProjection(database, serviceRequests), intakeProjection(database, interactions)];
      const projections = [...tables.map((table) => recordProjection(database, table)), ...intake];
      const reprojector = new Reprojector({ database, projections, log, metrics, poke: () => outbox.poke() });
      background(reprojector);
      server.recordOperators(publishOperatorCalls(database, SCHEMA));
      server.implement(ProjectionServiceService, reprojector.handlers());
      server.implement(CatchUpServiceService, catchUp.handlers());
      server.implement(PublishingServiceService, publication.handlers());
      const kinds = [
        ...recordKinds(tables, { database, names }),
        documentKind(database, 'service-requests', 'service_requests'),
        documentKind(database, 'interactions', 'interactions'),
      ];
      const changes = changeFeed({ database, kinds, catchUp, log, metrics });
      changes.parts.forEach(background);
      server.implement(ChangeServiceService, changes.handlers);
      const people = { steps: personSteps, find: findPerson };
      const written = [exportedNotifications];
      server.implement(
        ErasureServiceService,
        erasure({ database, kinds, written, catchUp, log, learns: { kafka, background }, restored, people, lock: lockCompany, poke: () => outbox.poke() }),
      );
      server.implement(FreezeServiceService, freezing({ database, kafka, background, restored, lock: lockCompany, underWay }));
      server.implement(ExportServiceService, companyExport({ database, kinds, tables: written }));
      serveRecords(server, tables, { database, names, afterImport: poke });
      const writes = { database, reader: new RecordReader(jobAppointments, { database, names }), poke };
      server.implement(AssignmentCommandServiceService, {
        addAssignment: (request, context) => addAssignment(writes, request, context),
        removeAssignment: (request, context) => removeAssignment(writes, request, context),
      });
      server.implement(IntakeServiceService, intakeHandlers({ database, poke }));
      server.implement(IntakeListServiceService, intakeLists(database));
      server.implement(NotificationServiceService, notificationHandlers(database));
      server.implement(ServiceRequestCountServiceService, { countServiceRequests: (request) => countServiceRequests(database, request) });
    },
  });
}
