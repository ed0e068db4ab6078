// The services that own records, each with its own database and without Kafka, so that their events stay in the outbox.
import { codec, recordOwners, resource, type RecordOwner } from '@truckroll/contract';
import { openChannel, type Channel } from '@truckroll/grpc';
import { Database } from '@truckroll/postgres';
import type { Service } from '@truckroll/process';
import { freshDatabase, testCallers, testConfig, withoutKafka } from '@truckroll/testing';
import { tables as billing } from '../../services/billing/src/resources/index.ts';
import { tables as reporting } from '../../services/reporting/src/resources/index.ts';
import { tables as scheduling } from '../../services/scheduling/src/resources/index.ts';
import { CREATE } from './components.ts';

export const tablesOf = { scheduling, billing, reporting } satisfies Record<RecordOwner, unknown>;

export type Owners = Awaited<ReturnType<typeof startOwners>>;

export async function startOwners() {
  const fresh = await freshDatabase({});
  const config = { ...testConfig, ...withoutKafka, databaseUrl: fresh.url } as never;
  const services: Service[] = recordOwners.map((owner) => CREATE[owner](config));
  const ports = await Promise.all(services.map(async (service) => (await service.start()).port));
  const channels = Object.fromEntries(recordOwners.map((owner, i) => [owner, openChannel(`127.0.0.1:${ports[i]}`, { credentials: testCallers })])) as Record<
    RecordOwner,
    Channel
  >;
  const databases = Object.fromEntries(recordOwners.map((schema) => [schema, new Database({ url: fresh.url, schema, maxConnections: 1 })])) as Record<
    RecordOwner,
    Database
  >;
  return {
    url: fresh.url,
    channels,
    databases,

    async list(companyId: string, path: string): Promise<Record<string, any>[]> {
      const { list, owner } = resource(path);
      const [request, response] = [codec(list.request.typeName), codec(list.response.typeName)];
      const all: Record<string, any>[] = [];
      for (let after = new Uint8Array(); ; ) {
        const collection = { company_id: companyId, time_zone: 'America/Chicago', limit: 100, after, ids: [] };
        const message = { ...(request.decode(new Uint8Array()) as object), collection };
        const answer = await channels[owner as RecordOwner].call(list.rpc, Buffer.from(request.encode(message).finish()));
        const { data, next } = response.decode(answer) as { data: Record<string, any>[]; next: Uint8Array };
        all.push(...data);
        if (next.length === 0) return all;
        after = new Uint8Array(next);
      }
    },

    async stop() {
      for (const channel of Object.values(channels)) channel.close();
      for (const database of Object.values(databases)) await database.close();
      await Promise.all(services.map((service) => service.destroy()));
      await fresh.drop();
    },
  };
}
