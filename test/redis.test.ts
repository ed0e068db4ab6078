// The whole system on Redis with Sentinels and on a cluster: the master is killed and another server takes over.
import { KeyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Service } from '@truckroll/process';
import { StartedRedisServers, redisCli, type RedisServer } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { createGateway } from '../gateway/src/app.ts';
import { gatewayConfig } from '../gateway/src/config.ts';
import { startSystem, type System } from './support/system.ts';

interface Redis {
  readonly url: string;
  readonly master: RedisServer;
  readonly replica: RedisServer;
}

const servers = new StartedRedisServers();
afterAll(() => servers.end());

const ask = ({ port }: RedisServer, ...command: readonly string[]) => redisCli('-p', String(port), ...command);

async function sentinels(): Promise<Redis> {
  const master = await servers.server();
  const replica = await servers.server('--replicaof', `127.0.0.1 ${master.port}`, '--repl-diskless-sync-delay', '0');
  const { port } = await servers.sentinel(master);
  await until('a replica that the Sentinel knows', () => redisCli('-p', String(port), 'SENTINEL', 'REPLICAS', 'main'));
  return { url: `redis+sentinel://127.0.0.1:${port}/main`, master, replica };
}

async function cluster(): Promise<Redis> {
  const { masters, replica } = await servers.cluster();
  await until(
    'the replica to follow',
    () => ask(replica, 'INFO', 'replication'),
    (info) => info.includes('master_link_status:up'),
  );
  // The second master holds the slot of our keys.
  return { url: `redis+cluster://${masters.map(({ port }) => `127.0.0.1:${port}`).join(',')}`, master: masters[1]!, replica };
}

describe.each([
  ['the master that Sentinels name', sentinels],
  ['the node of a cluster', cluster],
])('%s', (_, startRedis) => {
  let redis: Redis;
  let system: System;
  let other: Service;
  let otherUrl: string;
  beforeAll(async () => {
    redis = await startRedis();
    system = await startSystem({ redisUrl: redis.url });
    other = createGateway({ config: gatewayConfig(system.gatewayEnvironment) });
    otherUrl = `http://127.0.0.1:${(await other.start()).port}`;
  });
  afterAll(async () => {
    await other.destroy();
    await system.stop();
  });

  async function bothUse(server: RedisServer): Promise<void> {
    const connected = async () => (await ask(server, 'CLIENT', 'LIST')).match(/name=truckroll-\S+/g)?.sort();
    const all = ['truckroll-gateway', 'truckroll-gateway', 'truckroll-gateway-invalidations', 'truckroll-gateway-invalidations', 'truckroll-integrations'];
    const healthy = /^gateway_redis_up\S* 1\n[^]*^gateway_revocations_proven\S* 1$/m;
    const right = until(`connections of ${String(all)}`, connected, (names) => String(names) === String(all.map((name) => `name=${name}`)));
    await right.catch(async () => expect(await connected()).toEqual(all.map((name) => `name=${name}`)));
    const bothMetrics = async () => [(await system.metrics())['gateway']!, (await other.metrics.render()).body];
    await until('both gateways to be healthy', bothMetrics, (bodies) => bodies.every((body) => healthy.test(body)));
  }

  const read = async (url: string, key: string) => (await fetch(`${url}/v1/company`, { headers: { authorization: `Bearer ${key}` } })).status;

  async function countTogetherAndForget(): Promise<void> {
    const company = await system.createCompany();
    const keys = system.channel('integrations').client(KeyAdminServiceService);
    const limits = { reads_per_minute: 4, reports_per_minute: 4, writes_per_minute: 4 };
    const { value } = await keys.createKey({ company_id: company.id, user_id: company.userId, name: 'limited', limits });
    const statuses = [];
    for (const url of [system.baseUrl, otherUrl, system.baseUrl, otherUrl, system.baseUrl]) statuses.push(await read(url, value));
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    const revoked = await keys.createKey({ company_id: company.id, user_id: company.userId, name: 'revoked', limits: null });
    for (const url of [system.baseUrl, otherUrl]) expect(await read(url, revoked.value)).toBe(200);
    await keys.revokeKey({ id: revoked.key!.id });
    for (const url of [system.baseUrl, otherUrl])
      await until(
        'the revoked key to be refused',
        () => read(url, revoked.value),
        (status) => status === 401,
      );
  }

  test('lets gateways share limits and receive every revocation', async () => {
    await bothUse(redis.master);
    await countTogetherAndForget();
  });

  test('survives a failover: reads continue, and limits and revocations work again with the new master', async () => {
    const company = await system.createCompany();
    redis.master.daemon.kill('SIGKILL');
    await redis.master.daemon.exited;
    expect(await read(system.baseUrl, company.apiKey)).toBe(200);
    await until(
      'the replica to be the master',
      // A Sentinel closes all connections of the replica that it promotes.
      () => ask(redis.replica, 'ROLE').catch(String),
      (role) => role.startsWith('master'),
    );
    await bothUse(redis.replica);
    await countTogetherAndForget();
  });
});
