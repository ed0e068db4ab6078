// Unknown keys count against the address that they come from, and never against a valid key.
import { generateApiKey } from '@truckroll/contract';
import { createMetrics } from '@truckroll/telemetry';
import { Strangers } from '../src/auth/strangers.ts';
import { networkOf } from '../src/http/addresses.ts';
import { request, startGateway, type TestGateway } from './support/gateway.ts';

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

const from = async (address: string, key = generateApiKey()) =>
  request(`${gateway?.url}/v1/invoices`, { headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': address } });
const statuses = async (count: number, address: string) => {
  const seen = [];
  for (let i = 0; i < count; i++) seen.push((await from(address)).status);
  return seen;
};

test('rejects unknown keys of an address that sent too many, and serves its valid keys, cached or not', async () => {
  gateway = await startGateway({ UNKNOWN_KEYS_PER_MINUTE: '3' });
  expect((await gateway.get('/v1/invoices')).status).toBe(200);
  expect(await statuses(3, '')).toEqual([401, 401, 401]);
  const refused = await from('');
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED', details: [], request_id: refused.headers.get('x-request-id') } } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.headers.get('ratelimit')).toBeNull();
  expect((await gateway.get('/v1/invoices')).status).toBe(200);
  gateway.identities.slowMs = 50;
  const crowd = Array.from({ length: 30 }, () => from(''));
  expect((await from('', gateway.identities.addKey().key)).status).toBe(200);
  expect(new Set((await Promise.all(crowd)).map(({ status }) => status))).toEqual(new Set([429]));
  const { body } = await request(`http://127.0.0.1:${gateway.metricsPort}/metrics`).then(({ text }) => ({ body: text }));
  expect(body).toMatch(/gateway_unknown_keys_total\{[^}]*answer="401"[^}]*\} 3\n/);
  expect(body).toMatch(/gateway_unknown_keys_total\{[^}]*answer="429"[^}]*\} 31\n/);
});

test.each([
  ['ignored, unless a proxy is trusted', {}, ['1.1.1.1', '2.2.2.2'], 429],
  ['that of the hop that a number of proxies leaves', { TRUSTED_PROXIES: '1' }, ['9.9.9.9, 1.1.1.1', '9.9.9.9, 2.2.2.2'], 401],
  ['not one that the caller has put in front', { TRUSTED_PROXIES: '1' }, ['1.1.1.1, 5.5.5.5', '2.2.2.2, 5.5.5.5'], 429],
  ['that before the networks that are trusted', { TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8' }, ['1.1.1.1, 10.1.2.3', '2.2.2.2, 10.1.2.3'], 401],
])('takes the client’s address from X-Forwarded-For: %s', async (_, environment, [first, second], status) => {
  gateway = await startGateway({ UNKNOWN_KEYS_PER_MINUTE: '2', ...environment });
  expect(await statuses(3, first as string)).toEqual([401, 401, 429]);
  expect((await from(second as string)).status).toBe(status);
});

test('queues the look-ups of an address, of whichever credentials, once it has sent as many unknown or missing ones as it may', () => {
  const strangers = new Strangers({ perMinute: 2, metrics: createMetrics('test') });
  const over = [];
  for (const note of [() => strangers.refuse('1.1.1.1'), () => strangers.noteMissing('1.1.1.1')]) {
    over.push(strangers.isOver(() => '1.1.1.1'));
    note();
  }
  expect([...over, strangers.isOver(() => '1.1.1.1'), strangers.isOver(() => '2.2.2.2')]).toEqual([false, false, true, false]);
});

describe('look-ups of addresses over their limit', () => {
  const begun: { address: string; end: (error?: Error) => void }[] = [];
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  afterEach(async () => {
    jest.useRealTimers();
    while (begun.length > 0) {
      for (const { end } of begun.splice(0)) end();
      await settled();
    }
  });

  /** Look-ups that end when the test says so. */
  function lookUps() {
    const strangers = new Strangers({ perMinute: 1, metrics: createMetrics('test') });
    return (address: string): Promise<string | Error> =>
      strangers
        .inTurn(
          address,
          () =>
            new Promise<string>((resolve, reject) => {
              begun.push({ address, end: (error) => (error === undefined ? resolve(address) : reject(error)) });
            }),
        )
        .catch((error: unknown) => error as Error);
  }

  test('run two at a time for an address, and eight for all', async () => {
    const look = lookUps();
    for (const address of ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4', '5.5.5.5']) for (let n = 0; n < 3; n += 1) void look(address);
    await settled();
    const running = () => begun.map(({ address }) => address).toSorted();
    expect(running()).toEqual(['1.1.1.1', '1.1.1.1', '2.2.2.2', '2.2.2.2', '3.3.3.3', '3.3.3.3', '4.4.4.4', '4.4.4.4']);
    begun[0]!.end();
    begun[1]!.end();
    await settled();
    expect(running()).toHaveLength(10);
    expect(running()).toContain('5.5.5.5');
  });

  test('share the two of an address with all addresses of its subscriber', async () => {
    const look = lookUps();
    for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::3']) void look(address);
    await settled();
    expect(begun).toHaveLength(2);
  });

  test.each([
    ['when they end', undefined],
    ['when they fail', new Error('integrations is away')],
  ])('give their place to the next %s', async (_, error) => {
    const look = lookUps();
    const ends = [look('1.1.1.1'), look('1.1.1.1'), look('1.1.1.1')];
    await settled();
    begun[0]!.end(error);
    await settled();
    expect([begun.length, await ends[0]]).toEqual([3, error ?? '1.1.1.1']);
  });

  test('wait for ten seconds at most, and are then answered 503', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const look = lookUps();
    const [, , late] = [look('1.1.1.1'), look('1.1.1.1'), look('1.1.1.1')];
    let over = false;
    void late.then(() => (over = true));
    await jest.advanceTimersByTimeAsync(9999);
    expect(over).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(await late).toMatchObject({ status: 503 });
  });
});

test('answers the unknown credentials of a subscriber with 429 after as many as allowed, until the minute is over', () => {
  const strangers = new Strangers({ perMinute: 2, metrics: createMetrics('test') });
  expect(['2001:db8::1', '2001:db8::2'].map((address) => strangers.refuse(address))).toEqual([undefined, undefined]);
  expect(strangers.refuse('2001:db8::3')).toMatchObject({ code: 'RATE_LIMITED', status: 429, retryAfterSeconds: 60 });
  expect(strangers.refuse('2001:db8:1::1')).toBeUndefined();
  strangers.noteMissing('2001:db8:1::2');
  expect(['2001:db8::9', '2001:db8:1::9', '2001:db8:2::9'].map((address) => strangers.isOver(() => address))).toEqual([true, true, false]);
});

test('counts the addresses of one subscriber as one', () => {
  const alike = [
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:0:1::1', '2001:db8:0:1:ffff::9'],
    ['2001:db8::1', '2001:db8:0:0:7::'],
    ['fe80::1%eth0', 'fe80::2'],
    ['1.2.3.4', '1.2.3.4'],
  ];
  for (const [a, b] of alike) expect(networkOf(a as string)).toBe(networkOf(b as string));
  expect(networkOf('2001:db8::1')).not.toBe(networkOf('2001:db8:0:1::1'));
});
