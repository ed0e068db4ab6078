// Both sides of the times that a gateway keeps in memory: windows of limits, Retry-After, and proof that no revocation was missed.
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { RedisLink } from '@truckroll/redis';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { AddressCounts } from '../src/http/addresses.ts';
import { subscribeInvalidations } from '../src/auth/invalidations.ts';
import { createLimits, refuseBeyond, type LimitClass } from '../src/auth/limits.ts';
import type { Exchange } from '../src/http/exchange.ts';

beforeEach(() => void jest.useFakeTimers({ now: 0, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const caller = { company_id: 'c', user_id: 'u', key_id: 'k' } as Principal;
/** A limit of 5 requests, or of `quota`, with a Redis that gives these answers, or none: [granted, consumed, ms to the end of the window, …]. */
function limitsWith(answers?: (number[] | undefined)[], quota = 5) {
  const asked = { times: 0, requests: [] as string[], keys: [] as string[][], quotas: [] as string[][] };
  const client = {
    async evalSha(_: string, { keys, arguments: [key, company, wanted] }: { keys: string[]; arguments: string[] }) {
      asked.requests.push(wanted!);
      asked.keys.push(keys);
      asked.quotas.push([key!, company!]);
      return answers![asked.times++];
    },
  };
  const run = (_: string, work: (given: unknown) => unknown) => (answers === undefined ? Promise.reject(new Error('away')) : work(client));
  const redis = { run } as unknown as RedisLink;
  const metrics = createMetrics('test');
  const limits = createLimits({ redis, perMinute: { reads: quota, reports: 5, writes: 5, changes: 5, digests: 5 }, metrics });
  const consume = async (requests?: number, limitClass: LimitClass = 'reads', of = caller) => await limits.consume(of, limitClass, requests);
  return { asked, consume, metrics };
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

test.each<[LimitClass, string, string]>([
  ['reads', 'default', 'company'],
  ['reports', 'reports', 'company-reports'],
  ['writes', 'writes', 'company-writes'],
  ['changes', 'changes', 'company-changes'],
  ['digests', 'digests', 'company-digests'],
])('counts %s on their own, under the policies %s and %s', async (limitClass, key, company) => {
  const { consume, asked, metrics } = limitsWith([
    [1, 1, 9000, 1, 9000],
    [1, 5, 9000, 16, 9000],
  ]);
  expect(await consume(1, limitClass)).toMatchObject({ policy: key, quota: 5, remaining: 4, ofCompany: false });
  expect(await consume(1, limitClass)).toMatchObject({ policy: company, quota: 15, exceeded: true, ofCompany: true });
  const name = `truckroll:limit:{c}:${limitClass}`;
  expect([asked.keys[0], asked.quotas[0]]).toEqual([
    [`${name}:k`, name],
    ['5', '15'],
  ]);
  expect((await metrics.render()).body).toContain('gateway_limited_total{scope="company",component="test"} 1');
});

test('counts a caller over its own limit for the key', async () => {
  const { consume, metrics } = limitsWith([[1, 6, 9000]]);
  await consume();
  expect((await metrics.render()).body).toContain('gateway_limited_total{scope="key",component="test"} 1');
});

test('rejects from memory what is over the limit of the company only for that company and class', async () => {
  const far = [1, 1, 9000, 1, 9000];
  const { consume, asked } = limitsWith([[1, 5, 9000, 16, 9000], far, far]);
  await consume();
  expect(await consume(1, 'reads', { ...caller, key_id: 'another' })).toMatchObject({ exceeded: true, policy: 'company' });
  expect(asked.times).toBe(1);
  expect((await consume(1, 'writes')).exceeded).toBe(false);
  expect((await consume(1, 'reads', { ...caller, company_id: 'd' })).exceeded).toBe(false);
  expect(asked.times).toBe(3);
});

test.each([
  ['its key or user', [1, 6, 9000], 'More than 5 requests in a minute. Go on after the time in Retry-After.'],
  ['the company', [1, 1, 9000, 16, 9000], 'More than 15 requests in a minute by all keys and users of the company. Go on after the time in Retry-After.'],
])('says that a rejected request exceeds the limit of %s', async (_, counted, message) => {
  const state = await limitsWith([counted]).consume();
  const exchange = {} as Exchange;
  expect(() => refuseBeyond(exchange, state)).toThrow(expect.objectContaining({ code: 'RATE_LIMITED', status: 429, message }));
  expect(exchange.limit).toBe(state);
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
  jest.advanceTimersByTime(59_999);
  expect([await consume(), asked.times]).toEqual([expect.objectContaining({ exceeded: true, resetSeconds: 1 }), 1]);
  jest.advanceTimersByTime(1);
  expect([await consume(), asked.times]).toEqual([expect.objectContaining({ exceeded: false, remaining: 4, resetSeconds: 60 }), 2]);
});

test('remembers 10,000 callers over their limit, and forgets the caller whose last request is the oldest', async () => {
  const { consume, asked } = limitsWith(Array.from({ length: 10_002 }, () => [1, 6, 9000]));
  const times = async (...keys: number[]) => {
    for (const key of keys) expect((await consume(1, 'reads', { ...caller, key_id: `k${key}` })).exceeded).toBe(true);
    return asked.times;
  };
  expect(await times(...Array.from({ length: 10_000 }, (_, key) => key))).toBe(10_000);
  expect(await times(0)).toBe(10_000);
  expect([await times(10_000), await times(0), await times(1)]).toEqual([10_001, 10_001, 10_002]);
});

test('counts alone when Redis does not answer, without what was counted ahead before', async () => {
  const { consume, asked } = limitsWith([
    [4, 4, 60_000, 4, 60_000],
    [4, 4, 60_000, 4, 60_000],
  ]);
  await consume();
  asked.times = Infinity;
  // The requests that were counted ahead are used before any other is counted.
  for (const remaining of [3, 2, 1]) expect(await consume()).toMatchObject({ remaining });
  // Redis has no answer: the gateway counts alone, and forgets what it had counted ahead.
  expect(await consume()).toMatchObject({ exceeded: false, remaining: 4, resetSeconds: 60 });
});

describe('a busy caller', () => {
  const counted = (granted: number, consumed: number) => [granted, consumed, 60_000, consumed, 60_000];
  /** Consumes one request after another, a millisecond apart. */
  async function consumeEach(times: number, consume: () => Promise<unknown>): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      await consume();
      jest.advanceTimersByTime(1);
    }
  }

  test('is counted further ahead with each call, up to a hundredth of its limit', async () => {
    const { consume, asked } = limitsWith([counted(1, 1), counted(2, 3), counted(4, 7), counted(5, 12), counted(5, 17)], 500);
    await consumeEach(13, consume);
    expect(asked.requests).toEqual(['1', '2', '4', '5', '5']);
  });

  test('is counted ahead for a quarter of a second at most', async () => {
    const { consume, asked } = limitsWith([counted(1, 1), counted(1, 2), counted(2, 4)], 6000);
    await consume();
    jest.advanceTimersByTime(126);
    await consume();
    jest.advanceTimersByTime(125);
    await consume();
    expect(asked.requests).toEqual(['1', '1', '2']);
  });

  test('is counted one by one while a call for more is under way, which no other request awaits', async () => {
    const { consume, asked } = limitsWith([counted(1, 1), counted(2, 3), counted(1, 4), counted(3, 7)], 6000);
    await consumeEach(1, consume);
    await Promise.all([consume(), consume()]);
    jest.advanceTimersByTime(1);
    // The first of the two has counted one more than itself.
    expect(await consume()).toMatchObject({ exceeded: false });
    expect(asked.requests).toEqual(['1', '2', '1']);
  });

  test('is counted ahead again after a call for more has failed', async () => {
    const { consume, asked } = limitsWith([counted(1, 1), undefined, counted(1, 2), counted(2, 4)], 6000);
    await consumeEach(4, consume);
    expect(asked.requests).toEqual(['1', '2', '1', '2']);
  });
});

test('uses requests that were counted ahead only in the window in which they were counted', async () => {
  const { consume, asked } = limitsWith([
    [4, 4, 60_000, 4, 60_000],
    [1, 1, 60_000, 1, 60_000],
  ]);
  await consume();
  jest.advanceTimersByTime(59_999);
  expect([await consume(), asked.times]).toEqual([expect.objectContaining({ remaining: 3, resetSeconds: 1 }), 1]);
  jest.advanceTimersByTime(1);
  expect([await consume(), asked.times]).toEqual([expect.objectContaining({ remaining: 4, resetSeconds: 60 }), 2]);
});

test('counts in memory, for a minute, while Redis is unavailable', async () => {
  const { consume } = limitsWith();
  for (let i = 0; i < 5; i += 1) expect(await consume()).toMatchObject({ exceeded: false, remaining: 4 - i, resetSeconds: 60 });
  jest.advanceTimersByTime(59_999);
  expect(await consume()).toMatchObject({ exceeded: true, resetSeconds: 1 });
  jest.advanceTimersByTime(1);
  expect(await consume()).toMatchObject({ exceeded: false, remaining: 4, resetSeconds: 60 });
});

test('counts several requests at once in memory, too', async () => {
  const { consume } = limitsWith();
  expect(await consume(3)).toMatchObject({ exceeded: false, remaining: 2 });
  expect(await consume(2)).toMatchObject({ exceeded: false, remaining: 0 });
  expect(await consume()).toMatchObject({ exceeded: true, policy: 'default' });
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
  jest.advanceTimersByTime(ms);
  expect([counts.of('a'), counts.add('a')]).toEqual([1, { count: 2, resetSeconds }]);
});

test('has proof that no revocation was missed for less than a second after the last probe', () => {
  const servers = { kind: 'single', url: 'redis://127.0.0.1:1' } as const;
  const invalidations = subscribeInvalidations(servers, silentLog, createMetrics('test'));
  const ready = jest.spyOn(RedisLink.prototype, 'ready', 'get').mockReturnValue(true);
  jest.spyOn(RedisLink.prototype, 'provenAt', 'get').mockReturnValue(performance.now());
  jest.advanceTimersByTime(999);
  expect(invalidations.proven()).toBe(true);
  ready.mockReturnValue(false);
  expect(invalidations.proven()).toBe(false);
  ready.mockReturnValue(true);
  jest.advanceTimersByTime(1);
  expect(invalidations.proven()).toBe(false);
});
