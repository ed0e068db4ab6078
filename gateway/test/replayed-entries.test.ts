// Identities in Redis with an attacker who puts old ones back. The single rules are tested in principals.test.ts and identity-seal.test.ts.
import { createClient } from '@redis/client';
import { hashApiKey } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { publishInvalidation, redisUrl, request, startGateway, untilMetric, type TestGateway } from './support/gateway.ts';

async function listening(given: Parameters<typeof startGateway>[1] = {}): Promise<TestGateway> {
  // The same key is rejected many times here.
  const gateway = await startGateway({ UNKNOWN_KEYS_PER_MINUTE: '1000000' }, given);
  await untilMetric(gateway, 'gateway_revocations_proven', 1);
  return gateway;
}

test('a revoked key stays revoked when its entry is put back into Redis, also on a gateway that starts afterwards', async () => {
  const one = await listening();
  const { identities, invoices } = one;
  const { key } = identities.addKey();
  const hash = hashApiKey(key).toString('hex');
  const statusOn = async ({ url }: TestGateway) => (await request(`${url}/v1/invoices`, { headers: { authorization: `Bearer ${key}` } })).status;
  const redis = createClient({ url: redisUrl() });
  await redis.connect();
  const names = ['truckroll:identity:epoch', `truckroll:identity:key:${hash}`] as const;
  expect(await statusOn(one)).toBe(200);
  await until('the entry of the key in Redis', async () => (await redis.exists(names[1])) === 1);
  const [epoch, entry] = (await redis.mGet([...names])) as [string, string];
  identities.principals.delete(hash);
  await publishInvalidation(`key:${hash}`);
  await until('the gateway to refuse the key', async () => (await statusOn(one)) === 401);
  const later = await listening({ identities, invoices });
  for (const gateway of [one, later]) {
    const before = identities.asked;
    // A gateway caches for up to a second that the key is unknown; then it reads Redis again.
    await until('another look-up of the key', async () => {
      await redis.mSet({ [names[0]]: epoch, [names[1]]: entry });
      expect(await statusOn(gateway)).toBe(401);
      return identities.asked > before;
    });
  }
  redis.destroy();
  await later.stop();
  await one.stop();
});
