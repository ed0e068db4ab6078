// Both sides of the times that a gateway keeps in memory: windows of limits, Retry-After, and proof that no revocation was missed.
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { RedisLink } from '@truckroll/redis';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { AddressCounts } from '../src/http/addresses.ts';
import { subscribeInvalidations } from '../src/auth/invalidations.ts';
import { createLimits, refuseBeyond } from '../src/auth/limits.ts';
import type { Exchange } from '../src/http/exchange.ts';

/** ES modules find `jest` here; it is a global only in scripts. */
const clock = (import.meta as unknown as { jest: typeof jest }).jest;
beforeEach(() => void clock.useFakeTimers({ now: 0, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => {
  clock.useRealTimers();
  clock.restoreAllMocks();
});

const caller = { company_id: 'c', user_id: 'u', key_id: 'k' } as Principal;
/** A limit of 5 requests, with a Redis that gives these answers, or none: [granted, consumed, ms to the end of the window, …]. */
function limitsWith(answers?: number[][]) {
  const asked = { times: 0, requests: [] as string[] };
  const client = {
    async evalSha(_: string, { arguments: [, , wanted] }: { arguments: string[] }) {
      asked.requests.push(wanted!);
      return answers![asked.times++];
    },
  };
  const run = (_: string, work: (given: unknown) => unknown) => (answers === undefined ? Promise.reject(new Error('away')) : work(client));
  const redis = { run } as unknown as RedisLink;
  const limits = createLimits({ redis, perMinute: { reads: 5, reports: 5, writes: 5, changes: 5, digests: 5 }, metrics: createMetrics('test') });
  const consume = async (requests?: number) => await limits.consume(caller, 'reads', requests);
  return { asked, consume };
}

test.each([
  [60_001, 60],
  [60_000, 60],
  [59_001, 60],
  [59_000, 59],
  [1001, 2],
  [1000, 1],
  [1, 1],
  [0, 1],
])('%i ms before the end of its window, asks a caller over the limit to wait for %i s', async (left, seconds) => {
  const state = await limitsWith([[1, 6, left]]).consume();
  expect(state).toMatchObject({ exceeded: true, remaining: 0, resetSeconds: seconds });
  expect(() => refuseBeyond({} as Exchange, state)).toThrow(expect.objectContaining({ status: 429, retryAfterSeconds: seconds }));
});

test('accepts as many requests as the limit says', async () => {
  const { consume } = limitsWith([
    [1, 5, 9000, 5, 9000],
    [1, 6, 9000],
  ]);
  expect([(await consume()).exceeded, (await consume()).exceeded]).toEqual([false, true]);
});

test('rejects a request if only the company is over its limit, although its key has as few requests left', async () => {
  const { consume } = limitsWith([[1, 5, 9000, 16, 9000]]);
  expect(await consume()).toMatchObject({ exceeded: true, policy: 'company', quota: 15 });
});

test('counts several requests at once less those that were counted ahead', async () => {
  const { consume, asked } = limitsWith([
    [3, 3, 60_000, 3, 60_000],
    [1, 4, 60_000, 4, 60_000],
  ]);
  await consume();
  expect(await consume(3)).toMatchObject({ exceeded: false, remaining: 1 });
  expect(asked.requests).toEqual(['1', '1']);
});

test('rejects a caller over the limit from memory until its window ends', async () => {
  const { consume, asked } = limitsWith([
    [1, 6, 60_000],
    [1, 1, 60_000, 1, 60_000],
  ]);
  await consume();
  clock.advanceTimersByTime(59_999);
  expect([await consume(), asked.times]).toEqual([expect.objectContaining({ exceeded: true, resetSeconds: 1 }), 1]);
  clock.advanceTimersByTime(1);
  expect([await consume(), asked.times]).toEqual([expect.objectContaining({ exceeded: false, remaining: 4, resetSeconds: 60 }), 2]);
});

test('uses requests that were counted ahead only in the window in which they were counted', async () => {
  const { consume, asked } = limitsWith([
    [4, 4, 60_000, 4, 60_000],
    [1, 1, 60_000, 1, 60_000],
  ]);
  await consume();
  clock.advanceTimersByTime(59_999);
  expect([await consume(), asked.times]).toEqual([expect.objectContaining({ remaining: 3, resetSeconds: 1 }), 1]);
  clock.advanceTimersByTime(1);
  expect([await consume(), asked.times]).toEqual([expect.objectContaining({ remaining: 4, resetSeconds: 60 }), 2]);
});

test('counts in memory, for a minute, while Redis is unavailable', async () => {
  const { consume } = limitsWith();
  for (let i = 0; i < 5; i += 1) expect(await consume()).toMatchObject({ exceeded: false, remaining: 4 - i, resetSeconds: 60 });
  clock.advanceTimersByTime(59_999);
  expect(await consume()).toMatchObject({ exceeded: true, resetSeconds: 1 });
  clock.advanceTimersByTime(1);
  expect(await consume()).toMatchObject({ exceeded: false, remaining: 4, resetSeconds: 60 });
});

test.each([
  [0, 60],
  [999, 60],
  [1000, 59],
  [58_999, 2],
  [59_000, 1],
  [59_999, 1],
])('%i ms after its first request, resets the count of an address in %i s', (ms, resetSeconds) => {
  const counts = new AddressCounts();
  counts.add('a');
  clock.advanceTimersByTime(ms);
  expect([counts.of('a'), counts.add('a')]).toEqual([1, { count: 2, resetSeconds }]);
});

test('counts the requests of an address anew after a minute', () => {
  const counts = new AddressCounts();
  counts.add('a');
  clock.advanceTimersByTime(60_000);
  expect([counts.of('a'), counts.add('a')]).toEqual([0, { count: 1, resetSeconds: 60 }]);
});

test('has proof that no revocation was missed for less than a second after the last probe', () => {
  const listener = { onInvalidation: () => undefined, onGap: () => undefined };
  const servers = { kind: 'single', url: 'redis://127.0.0.1:1' } as const;
  const invalidations = subscribeInvalidations(servers, silentLog, createMetrics('test'), listener);
  const ready = clock.spyOn(RedisLink.prototype, 'ready', 'get').mockReturnValue(true);
  clock.spyOn(RedisLink.prototype, 'provenAt', 'get').mockReturnValue(performance.now());
  clock.advanceTimersByTime(999);
  expect(invalidations.proven()).toBe(true);
  ready.mockReturnValue(false);
  expect(invalidations.proven()).toBe(false);
  ready.mockReturnValue(true);
  clock.advanceTimersByTime(1);
  expect(invalidations.proven()).toBe(false);
});
