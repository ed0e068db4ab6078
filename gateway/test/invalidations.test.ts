// What a gateway may conclude from its connection to Redis.
import { IDENTITY_EPOCH_KEY, INVALIDATION_CHANNEL } from '@truckroll/contract';
import { RedisLink, parseRedisUrl, type RedisServers } from '@truckroll/redis';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { StartedRedisServers } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { subscribeInvalidations } from '../src/auth/invalidations.ts';

/** Modules get it here; only scripts have it as a global. */
const { spyOn } = jest;

const started = new StartedRedisServers();
let servers: RedisServers;
/** A server of this file alone: messages of other tests would cause gaps too. */
beforeAll(async () => void (servers = parseRedisUrl((await started.server()).url)!));
afterAll(() => started.end());
const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

function subscribed() {
  const invalidations = subscribeInvalidations(servers, silentLog, createMetrics('test'));
  stops.push(() => invalidations.stop());
  return invalidations;
}

const listening = (onGap: () => void = () => undefined) => ({ onInvalidation: () => undefined, onGap });

/** A connection of the test's own. */
async function connected(): Promise<RedisLink> {
  const ready = Promise.withResolvers<void>();
  const link = new RedisLink({ servers, name: 'test', log: silentLog, metrics: createMetrics('test'), keys: [IDENTITY_EPOCH_KEY], onReady: ready.resolve });
  stops.push(() => link.stop());
  link.start();
  await ready.promise;
  return link;
}

test('a new connection may have missed revocations: it reports a gap, raises the generation and replaces the epoch', async () => {
  const link = await connected();
  const epoch = () => link.run('read', (client) => client.get(IDENTITY_EPOCH_KEY));
  const before = await epoch();
  let gaps = 0;
  const invalidations = subscribed();
  const { generation } = invalidations;
  invalidations.start(listening(() => (gaps += 1)));
  await until('a proof of the invalidations', () => invalidations.proven());
  expect([gaps, invalidations.generation > generation, (await epoch()) === before]).toEqual([1, true, false]);
});

test('a message that names no credential, user or company makes the gateway trust nothing it has cached', async () => {
  const link = await connected();
  let gaps = 0;
  const invalidations = subscribed();
  invalidations.start(listening(() => (gaps += 1)));
  await until('a proof of the invalidations', () => invalidations.proven());
  for (const message of ['restored', 'keys:*']) {
    const { generation } = invalidations;
    const before = gaps;
    await link.run('publish', (client) => client.publish(INVALIDATION_CHANNEL, message));
    await until('the gap', () => gaps > before);
    expect(invalidations.generation).toBeGreaterThan(generation);
  }
});

test('a proof is good for less than a second', async () => {
  const invalidations = subscribed();
  invalidations.start(listening());
  await until('a proof of the invalidations', () => invalidations.proven());
  const now = performance.now();
  const later = spyOn(performance, 'now').mockReturnValue(now + 1000);
  try {
    expect(invalidations.proven()).toBe(false);
  } finally {
    later.mockRestore();
  }
});
