import { CatchUp } from '@truckroll/catch-up';
import { changeFeed } from '@truckroll/change-feed';
import { topics } from '@truckroll/contract';
import { ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import {
  CompanyAdminServiceService,
  EndpointAdminServiceService,
  KeyAdminServiceService,
  UserAdminServiceService,
} from '@truckroll/contract/gen/integrations/v1/admin';
import { ApiKeyServiceService } from '@truckroll/contract/gen/integrations/v1/api_keys';
import { ViewServiceService } from '@truckroll/contract/gen/integrations/v1/views';
import { AuditAdminServiceService, AuditServiceService } from '@truckroll/contract/gen/integrations/v1/audit';
import { CellAdminServiceService } from '@truckroll/contract/gen/integrations/v1/cells';
import { CompanyServiceService } from '@truckroll/contract/gen/integrations/v1/company';
import { CurrentUserServiceService } from '@truckroll/contract/gen/integrations/v1/current_user';
import { DeliveryServiceService } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { IdentityServiceService } from '@truckroll/contract/gen/integrations/v1/identity';
import { RequestLogServiceService } from '@truckroll/contract/gen/integrations/v1/requests';
import { EndpointCountServiceService } from '@truckroll/contract/gen/integrations/v1/summary';
import { WebhookDeliveryServiceService } from '@truckroll/contract/gen/integrations/v1/webhook_deliveries';
import { WebhookHealthServiceService } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import { WebhookServiceService } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { CatchUpServiceService } from '@truckroll/contract/gen/records/v1/catch_up';
import { ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import { ExportServiceService } from '@truckroll/contract/gen/records/v1/exports';
import { FreezeServiceService } from '@truckroll/contract/gen/records/v1/freezes';
import { ChangeServiceService } from '@truckroll/contract/gen/records/v1/changes';
import { companyExport, erasure, freezing } from '@truckroll/erasure';
import { createService, type CallContext } from '@truckroll/grpc';
import { chooseMailProvider } from '@truckroll/mail';
import { Outbox, Subscriber, createKafka, operatorCalls } from '@truckroll/outbox';
import { databaseUrls, openDatabase } from '@truckroll/postgres';
import type { Service } from '@truckroll/process';
import { parseDeniedTargets } from '@truckroll/webhook-targets';
import { auditPurge } from './audit/purge.ts';
import { auditAdmin, auditTrail } from './audit/read.ts';
import { insertAuditEntries } from './audit/store.ts';
import { trail } from './audit/erase-person.ts';
import { auditSubscriptions } from './audit/subscriptions.ts';
import { cellAdmin } from './companies/cells.ts';
import { companyAdmin } from './companies/admin.ts';
import { companyKind } from './companies/changes.ts';
import { exportedTables, writtenTables } from './companies/exported.ts';
import { freezeCompany, underWay, unfreezeCompany } from './companies/freeze.ts';
import { deleteCompany, leaveMakersBehind, rules, waitsFor } from './companies/leave.ts';
import { getCompany } from './companies/read.ts';
import { slotMetrics } from './companies/slots.ts';
import type { IntegrationsConfig } from './config.ts';
import type { Context } from './context.ts';
import { identity } from './identity/authenticate.ts';
import { CHANNEL as INVALIDATIONS, InvalidationPublisher } from './identity/invalidations.ts';
import { createBus } from './identity/redis.ts';
import { keyAdmin } from './keys/admin.ts';
import { apiKeys } from './keys/public.ts';
import { revokedKeyPurge } from './keys/purge.ts';
import { mailSender } from './mails/sender.ts';
import { requestLog } from './request-log/read.ts';
import { RequestKeeper } from './request-log/store.ts';
import { restored } from './restored.ts';
import { schema } from './schema.ts';
import { userAdmin } from './users/admin.ts';
import { getCurrentUser } from './users/current.ts';
import { erasePerson } from './users/erase-person.ts';
import { findUser, userSteps } from './users/erase.ts';
import { webhookAlerts } from './webhooks/health/alerts.ts';
import { countKeeping } from './webhooks/health/count-store.ts';
import { webhookDeliveries } from './webhooks/deliveries.ts';
import { deadLetterHandlers, deadLetters, readDeadLetters, setAside } from './webhooks/events/dead-letters.ts';
import { DueNotices, notifyDue, watchDue } from './webhooks/queue/due-notices.ts';
import { endpointAdmin } from './webhooks/endpoint-admin.ts';
import { fanOut } from './webhooks/events/fan-out.ts';
import { deliveryCounter, webhookMetrics } from './webhooks/health/metrics.ts';
import { endpointExpiry } from './webhooks/endpoints/expiry.ts';
import { endpointCounts, webhookHealth } from './webhooks/health/read.ts';
import { lease, renew } from './webhooks/queue/lease.ts';
import { personSteps } from './webhooks/log/erase-person.ts';
import { Partitions } from './webhooks/log/partitions.ts';
import { recoveries } from './webhooks/queue/recover.ts';
import { report, reportAll } from './webhooks/queue/report.ts';
import { createSecretBox } from './webhooks/endpoints/secrets.ts';
import { views } from './views/views.ts';
import { webhooks } from './webhooks/webhooks.ts';

const SCHEMA = 'integrations';

/** Companies, users and API keys; webhook endpoints and the deliveries to them; the audit trail. */
export function createIntegrations(config: IntegrationsConfig): Service {
  return createService({
    name: SCHEMA,
    config,
    create(kit) {
      const { server, log, metrics, background, stopping } = kit;
      // A day's partition is empty at midnight: a cached plan with a sequential scan would read all of it by noon.
      const settings = {
        enable_seqscan: 'off',
        // Many of the queue's rows are dead. Index scans mark their entries and skip them later; bitmap scans visit them until a vacuum.
        enable_bitmapscan: 'off',
        // This release counts attempts in report.ts; without the setting, the trigger for older replicas would count them too.
        'truckroll.counts_attempts': 'on',
      };
      const database = openDatabase(kit, { ...databaseUrls(config), ...schema, settings });
      const bus = createBus(config.redis, log, metrics);
      const notices = new DueNotices({ database, schema: SCHEMA, log });
      const invalidations = new InvalidationPublisher(database, bus, log, () => notices.connected);
      const kafka = createKafka(SCHEMA, config, log);
      const outbox = new Outbox({ database, kafka, source: '/truckroll/integrations', topics: [topics.companies, topics.erasures], log, metrics });
      const subscriber = new Subscriber({ database, kafka, group: SCHEMA, subscriptions: auditSubscriptions, gathers: true, log, metrics });
      const partitions = new Partitions(database, log);
      const catchUp = new CatchUp({ database, log, metrics });
      const requests = new RequestKeeper(database, log);
      const secrets = createSecretBox(config.webhookSecretKeys);
      const targets = {
        allowHttp: config.webhookAllowHttp,
        allowedTargets: config.webhookAllowedTargets,
        deniedTargets: parseDeniedTargets(config.webhookDeniedTargets),
      };
      const context: Context = {
        database,
        cell: config.cell,
        invalidations,
        outbox,
        secrets,
        targets,
        partitions,
        recoveries: catchUp.add(recoveries(database)),
        notices,
        stopping,
        deliveries: deliveryCounter(metrics),
        log,
      };
      server.recordOperators(operatorCalls(SCHEMA, (entries) => insertAuditEntries(database, entries)));
      server.implement(CompanyAdminServiceService, bound({ ...companyAdmin, deleteCompany, erasePerson, freezeCompany, unfreezeCompany }, context));
      server.implement(CellAdminServiceService, bound(cellAdmin, context));
      server.implement(UserAdminServiceService, bound(userAdmin, context));
      server.implement(KeyAdminServiceService, bound(keyAdmin, context));
      server.implement(IdentityServiceService, bound(identity, context));
      server.implement(CompanyServiceService, bound({ getCompany }, context));
      server.implement(CurrentUserServiceService, bound({ getCurrentUser }, context));
      server.implement(ApiKeyServiceService, bound(apiKeys, context));
      server.implement(ViewServiceService, bound(views, context));
      server.implement(WebhookServiceService, bound(webhooks, context));
      server.implement(WebhookDeliveryServiceService, bound(webhookDeliveries, context));
      server.implement(WebhookHealthServiceService, bound(webhookHealth, context));
      server.implement(EndpointAdminServiceService, bound(endpointAdmin, context));
      server.implement(EndpointCountServiceService, bound(endpointCounts, context));
      server.implement(DeliveryServiceService, bound({ fanOut, setAside, readDeadLetters, lease, renew, watchDue, report, reportAll }, context));
      server.implement(ParkingServiceService, deadLetterHandlers(database, subscriber, SCHEMA));
      server.implement(AuditServiceService, bound(auditTrail, context));
      server.implement(AuditAdminServiceService, bound(auditAdmin, context));
      server.implement(RequestLogServiceService, { ...bound(requestLog, context), storeRequests: (request) => requests.store(request) });
      const kinds = [companyKind(database)];
      const changes = changeFeed({ database, kinds, catchUp, log, metrics });
      changes.parts.forEach(background);
      server.implement(CatchUpServiceService, catchUp.handlers());
      server.implement(ChangeServiceService, changes.handlers);
      const people = { steps: [...personSteps, trail], ofUsers: userSteps, find: findUser };
      const leaving = { rules, waitsFor, prepare: leaveMakersBehind, written: writtenTables, poke: () => outbox.poke() };
      server.implement(ErasureServiceService, erasure({ database, kinds, catchUp, log, restored, people, ...leaving }));
      const hurry = () => database.transaction(async (tx) => notifyDue(tx));
      const fences = { keys: { companies: 'id' }, records: true };
      server.implement(FreezeServiceService, freezing({ database, kafka, background, restored, trail: SCHEMA, hurry, underWay, ...fences }));
      server.implement(ExportServiceService, companyExport({ database, kinds, tables: exportedTables }));
      background({ name: 'Redis', start: async () => bus.connect(), stop: async () => bus.close() });
      background(outbox);
      background({ name: 'invalidations', start: async () => invalidations.start(), stop: () => invalidations.stop() });
      background(subscriber);
      background(revokedKeyPurge(database, log));
      background(auditPurge(database, log));
      requests.parts().forEach(background);
      background(partitions);
      background(catchUp);
      const announced = (): void => invalidations.announced();
      background({ name: notices.name, start: () => notices.start({ [INVALIDATIONS]: announced }), stop: () => notices.stop() });
      background(countKeeping(database, log));
      background(endpointExpiry(database, secrets, log));
      background(webhookAlerts(database, log));
      background(deadLetters(database, log, metrics));
      background(webhookMetrics(database, log, metrics));
      background(slotMetrics(database, log, metrics));
      background(mailSender({ database, provider: chooseMailProvider(config, log), log, metrics, timeoutMs: config.notificationTimeoutMs }));
    },
  });
}

type Operation = (context: Context, request: never, call: CallContext) => unknown;
type Bound<O> = {
  [K in keyof O]: O[K] extends (context: Context, request: infer Q, call: CallContext) => infer R ? (request: Q, call: CallContext) => R : never;
};

/** Binds operations to the context, as the server calls them without it. */
function bound<O extends Record<string, Operation>>(operations: O, context: Context): Bound<O> {
  const entries = Object.entries(operations).map(([name, operation]) => [
    name,
    (request: unknown, call: CallContext) => operation(context, request as never, call),
  ]);
  return Object.fromEntries(entries) as Bound<O>;
}
