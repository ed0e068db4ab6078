// gateway_redis_up says whether Redis accepts commands, not whether it answers pings.
import { StartedRedisServers, redisCli, type RedisServer } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { startGateway, untilMetric, type TestGateway } from './support/gateway.ts';

const servers = new StartedRedisServers();
afterAll(() => servers.end());

let gateway: TestGateway;
afterEach(() => gateway.stop());

const ask = ({ port }: RedisServer, ...command: readonly string[]) => redisCli('-p', String(port), ...command);

test.each<[string, string[], string[]]>([
  ['READONLY, of a server that became a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  ['OOM, of a server that is full', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
])('gateway_redis_up is 0 while Redis answers with %s', async (_, spoil, repair) => {
  const server = await servers.server();
  gateway = await startGateway({ REDIS_URL: server.url });
  await untilMetric(gateway, 'gateway_redis_up', 1);
  await ask(server, ...spoil);
  await untilMetric(gateway, 'gateway_redis_up', 0);
  expect((await gateway.get('/v1/invoices')).status).toBe(200);
  await ask(server, ...repair);
  await untilMetric(gateway, 'gateway_redis_up', 1);
});

test('gateway_redis_up is 0 while a cluster node that is configured as a single server answers with MOVED', async () => {
  const { masters } = await servers.cluster();
  const node = masters[0]!;
  gateway = await startGateway({ REDIS_URL: node.url });
  await until('a command that Redis redirects', async () => {
    expect((await gateway.get('/v1/invoices')).status).toBe(200);
    return (await ask(node, 'INFO', 'errorstats')).includes('errorstat_MOVED');
  });
  await untilMetric(gateway, 'gateway_redis_up', 0);
});
