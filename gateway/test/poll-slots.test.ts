// Slots of held polls: at most 20 of a company over all gateways, and a slot of every poll that has ended is free again.
import { randomUUID } from 'node:crypto';
import { RedisLink, parseRedisUrl } from '@truckroll/redis';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { until } from '@truckroll/testing/until';
import { createPollSlots, type PollSlots } from '../src/changes/poll-slots.ts';

const MINUTE_MS = 60_000;
const links: RedisLink[] = [];
afterEach(() => links.splice(0).forEach((link) => link.stop()));

/** The slots as one gateway sees them. */
async function gateway(url = process.env['REDIS_URL'] ?? ''): Promise<PollSlots> {
  const ready = Promise.withResolvers<void>();
  const link = new RedisLink({
    servers: parseRedisUrl(url)!,
    name: 'test',
    log: silentLog,
    metrics: createMetrics('test'),
    keys: ['truckroll:test'],
    onReady: ready.resolve,
  });
  links.push(link);
  if (url === AWAY) return createPollSlots(link);
  link.start();
  await ready.promise;
  return createPollSlots(link);
}
const AWAY = 'redis://127.0.0.1:1';

const taken = async (slots: PollSlots, companyId: string, count: number, ms = MINUTE_MS) =>
  (await Promise.all(Array.from({ length: count }, () => slots.take(companyId, ms)))).filter((free) => free !== undefined);

test('a company has 20 slots over all gateways, and a gateway that found none free has as many as before afterwards', async () => {
  const [first, second] = [await gateway(), await gateway()];
  const companyId = randomUUID();
  const held = await taken(first, companyId, 21);
  expect(held).toHaveLength(20);
  for (let times = 0; times < 25; times += 1) expect(await second.take(companyId, MINUTE_MS)).toBeUndefined();
  expect(await taken(second, randomUUID(), 1)).toHaveLength(1);
  for (const free of held) free();
  const again: (() => void)[] = [];
  await until('all slots at the other gateway', async () => again.push(...(await taken(second, companyId, 1))) === 20);
  expect(await second.take(companyId, MINUTE_MS)).toBeUndefined();
  expect(await first.take(companyId, MINUTE_MS)).toBeUndefined();
});

test('the slots of a company are forgotten when the longest poll would have ended', async () => {
  const slots = await gateway();
  const [link] = links;
  const companyId = randomUUID();
  await slots.take(companyId, 5000);
  const left = await link!.run('ttl', (client) => client.pTTL(`truckroll:polls:${companyId}`));
  expect(left).toBeGreaterThan(20_000);
  expect(left).toBeLessThanOrEqual(30_000);
});

test('the slots of a gateway that has died are free once its polls would have ended', async () => {
  const [died, other] = [await gateway(), await gateway()];
  const companyId = randomUUID();
  expect(await taken(died, companyId, 20, 50)).toHaveLength(20);
  await until('a slot', async () => (await taken(other, companyId, 1)).length === 1, Boolean, { atMostMs: 10_000 });
});

test('a gateway counts its own polls while Redis is away', async () => {
  const slots = await gateway(AWAY);
  const companyId = randomUUID();
  const [one, ...others] = await taken(slots, companyId, 25);
  expect(others).toHaveLength(19);
  one!();
  expect(await taken(slots, companyId, 2)).toHaveLength(1);
});
