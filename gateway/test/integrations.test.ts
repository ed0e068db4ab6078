// The gateway together with integrations, which owns keys, users and companies.
import { randomBytes } from 'node:crypto';
import { KeyAdminServiceService, CompanyAdminServiceService, UserAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { acceptanceOf, openChannel, type Callers, type Channel } from '@truckroll/grpc';
import type { Service } from '@truckroll/process';
import { freshDatabase, testCallers, type TestDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { integrationsConfig } from '../../services/integrations/src/config.ts';
import { createIntegrations } from '../../services/integrations/src/integrations.ts';
import { request, startGateway, type Answer, type TestGateway } from './support/gateway.ts';

let database: TestDatabase;
let service: Service;
let channel: Channel;
let keys: Callers<typeof KeyAdminServiceService>;
let companies: Callers<typeof CompanyAdminServiceService>;
let users: Callers<typeof UserAdminServiceService>;
let gateways: TestGateway[];
let companyId: string;
let userId: string;

beforeAll(async () => {
  database = await freshDatabase({});
  const prefix = `${randomBytes(4).toString('hex')}.`;
  const environment = {
    ...process.env,
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'silent',
    DATABASE_URL: database.url,
    // By name, so that `npm test -- FILE` starts Kafka.
    KAFKA_BROKERS: process.env['KAFKA_BROKERS'],
    KAFKA_PREFIX: prefix,
  };
  const accepted = { CALLER_CREDENTIALS: testCallers.map(acceptanceOf).join() };
  const webhookKeys = { WEBHOOK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}` };
  service = createIntegrations(integrationsConfig({ ...environment, ...accepted, ...webhookKeys }));
  const { port } = await service.start();
  channel = openChannel(`127.0.0.1:${port}`, { credentials: testCallers });
  keys = channel.client(KeyAdminServiceService);
  companies = channel.client(CompanyAdminServiceService);
  users = channel.client(UserAdminServiceService);
  const address = { INTEGRATIONS_ADDRESS: `127.0.0.1:${port}` };
  gateways = [await startGateway(address), await startGateway(address)];
  companyId = (await companies.createCompany({ name: 'Lone Star Comfort', timezone: 'America/Chicago' })).company?.id ?? '';
  userId = (await newUser()).id;
}, 60_000);
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  channel.close();
  await service.destroy();
  await database.drop();
});

async function newUser(): Promise<{ id: string }> {
  const email = `${randomBytes(4).toString('hex')}@example.com`;
  return (await users.createUser({ company_id: companyId, email, first_name: 'Ana', last_name: 'Ruiz' })).user as { id: string };
}

async function newKey(of = userId, more: object = {}): Promise<{ id: string; value: string }> {
  const { key, value } = await keys.createKey({ company_id: companyId, user_id: of, name: 'Test', limits: undefined, ...more } as never);
  return { id: key?.id ?? '', value };
}

const read = (key: string, at = 0, path = '/v1/company'): Promise<Answer> =>
  request(`${(gateways[at] as TestGateway).url}${path}`, { headers: { authorization: `Bearer ${key}` } });

async function refusedEverywhere(key: string): Promise<void> {
  await until('both gateways to refuse the key', async () => (await read(key, 0)).status === 401 && (await read(key, 1)).status === 401);
}

test('accepts a key for its company', async () => {
  const { body, status } = await read((await newKey()).value);
  expect(status).toBe(200);
  expect(body.data).toEqual({ id: companyId, name: 'Lone Star Comfort', timezone: 'America/Chicago', currency: 'USD' });
});

test('rejects a revoked key on every gateway within a second', async () => {
  const { id, value } = await newKey();
  for (const at of [0, 1]) expect((await read(value, at)).status).toBe(200);
  await keys.revokeKey({ id });
  await refusedEverywhere(value);
});

test('rejects the keys of a deactivated user within a second', async () => {
  const user = await newUser();
  const { value } = await newKey(user.id);
  for (const at of [0, 1]) expect((await read(value, at)).status).toBe(200);
  await users.deactivateUser({ id: user.id });
  await refusedEverywhere(value);
});

test('shows a company’s new time zone within a second', async () => {
  const { value } = await newKey();
  for (const at of [0, 1]) await read(value, at);
  await companies.updateCompany({ id: companyId, timezone: 'America/Denver' });
  await until('the new time zone', async () => (await read(value, 1)).body.meta.timezone === 'America/Denver');
  await companies.updateCompany({ id: companyId, timezone: 'America/Chicago' });
});

test('applies the limits that the operator gave a key', async () => {
  const { value } = await newKey(userId, { limits: { reads_per_minute: 2 } });
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await read(value)).status);
  expect(statuses).toEqual([200, 200, 429]);
});

test('reports the last use of a key', async () => {
  const { id, value } = await newKey();
  await read(value, 1);
  const last = gateways.pop() as TestGateway;
  await last.stop();
  const { keys: all } = await keys.listKeys({ company_id: companyId });
  expect(all.find((key) => key.id === id)?.last_used_at).toBeGreaterThan(Date.now() * 1000 - 60_000_000);
});
