// Runs the service as a gRPC server with its own database, and with the test run's Redis behind a connection that can be cut.
import { randomBytes } from 'node:crypto';
import { createClient } from '@redis/client';
import { ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import {
  CompanyAdminServiceService,
  EndpointAdminServiceService,
  KeyAdminServiceService,
  UserAdminServiceService,
} from '@truckroll/contract/gen/integrations/v1/admin';
import { ApiKeyServiceService } from '@truckroll/contract/gen/integrations/v1/api_keys';
import { CellAdminServiceService } from '@truckroll/contract/gen/integrations/v1/cells';
import { CompanyServiceService } from '@truckroll/contract/gen/integrations/v1/company';
import { CurrentUserServiceService } from '@truckroll/contract/gen/integrations/v1/current_user';
import { DeliveryServiceService } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { IdentityServiceService } from '@truckroll/contract/gen/integrations/v1/identity';
import { WebhookDeliveryServiceService } from '@truckroll/contract/gen/integrations/v1/webhook_deliveries';
import { WebhookHealthServiceService } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import { ViewServiceService } from '@truckroll/contract/gen/integrations/v1/views';
import { WebhookServiceService } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { openChannel } from '@truckroll/grpc';
import type { MailConfig } from '@truckroll/mail';
import { kafkaSettings } from '@truckroll/outbox';
import { KeyRing, readConfig } from '@truckroll/process';
import { parseRedisUrl } from '@truckroll/redis';
import { freshDatabase, openProxy, testCallers, testConfig } from '@truckroll/testing';
import { createIntegrations } from '../src/integrations.ts';
import { schema } from '../src/schema.ts';

export async function startHarness(mail: MailConfig = {}, cell?: string) {
  const database = await freshDatabase({ [schema.schema]: schema.migrations });
  const redis = new URL(process.env['REDIS_URL'] ?? '');
  const wire = await openProxy({ host: redis.hostname, port: Number(redis.port || 6379) });
  redis.host = `127.0.0.1:${wire.port}`;
  const webhooks = {
    webhookSecretKeys: new KeyRing([['k1', randomBytes(32)]]),
    webhookAllowedTargets: ['127.0.0.1:4567'],
    webhookDeniedTargets: [],
    webhookAllowHttp: false,
  };
  const kafkaPrefix = `${randomBytes(4).toString('hex')}.`;
  const start = async (at = 0) => {
    const service = createIntegrations({
      ...testConfig,
      // Named here, so that `npm test` starts Kafka for a single file.
      ...readConfig(kafkaSettings(), { KAFKA_BROKERS: process.env['KAFKA_BROKERS'] }),
      ...webhooks,
      ...mail,
      cell,
      kafkaPrefix,
      port: at,
      databaseUrl: database.url,
      redis: parseRedisUrl(redis.href)!,
    });
    const { port } = await service.start();
    return { service, port };
  };
  let running = await start();
  const channel = openChannel(`127.0.0.1:${running.port}`, { credentials: testCallers });
  const companies = channel.client(CompanyAdminServiceService);
  const users = channel.client(UserAdminServiceService);

  return {
    companies,
    users,
    keys: channel.client(KeyAdminServiceService),
    cells: channel.client(CellAdminServiceService),
    identity: channel.client(IdentityServiceService),
    reads: channel.client(CompanyServiceService),
    currentUser: channel.client(CurrentUserServiceService),
    apiKeys: channel.client(ApiKeyServiceService),
    views: channel.client(ViewServiceService),
    webhooks: channel.client(WebhookServiceService),
    log: channel.client(WebhookDeliveryServiceService),
    health: channel.client(WebhookHealthServiceService),
    endpoints: channel.client(EndpointAdminServiceService),
    deliveries: channel.client(DeliveryServiceService),
    deadLetters: channel.client(ParkingServiceService),
    port: () => running.port,
    metrics: async () => (await running.service.metrics.render()).body,
    async replica() {
      const other = await start();
      const peer = openChannel(`127.0.0.1:${other.port}`, { credentials: testCallers });
      return {
        webhooks: peer.client(WebhookServiceService),
        log: peer.client(WebhookDeliveryServiceService),
        deliveries: peer.client(DeliveryServiceService),
        async stop() {
          await other.service.destroy();
          peer.close();
        },
      };
    },
    wire,
    database,
    kafkaPrefix,

    async company(name = 'Lone Star Comfort') {
      const { company } = await companies.createCompany({ name, timezone: 'America/Chicago' });
      return company!;
    },
    async user(company_id: string, email = 'ana@example.com') {
      const { user } = await users.createUser({ company_id, email, first_name: 'Ana', last_name: 'Ruiz' });
      return user!;
    },
    async restart() {
      await running.service.destroy();
      running = await start(running.port);
      await channel.check(5000);
    },
    async stop() {
      channel.close();
      await running.service.destroy();
      await wire.close();
      await database.drop();
    },
  };
}

export async function listen() {
  const client = createClient({ url: process.env['REDIS_URL'] ?? '' });
  const epochs = createClient({ url: process.env['REDIS_URL'] ?? '' });
  await Promise.all([client.connect(), epochs.connect()]);
  const received: string[] = [];
  let wake = Promise.withResolvers<void>();
  await client.subscribe('truckroll:invalidations', (message) => {
    received.push(message);
    wake.resolve();
    wake = Promise.withResolvers();
  });
  return {
    received,
    epoch: () => epochs.get('truckroll:identity:epoch'),
    async receives(message: string): Promise<void> {
      while (!received.includes(message)) await wake.promise;
    },
    close: () => {
      client.destroy();
      epochs.destroy();
    },
  };
}

export async function refusal(call: Promise<unknown>): Promise<{ status: number; message: string; details: { field: string; code: string }[] }> {
  return await call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (error: unknown) => error as never,
  );
}
