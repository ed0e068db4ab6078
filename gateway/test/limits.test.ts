import { request, startGateway, type TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
afterEach(() => gateway.stop());

async function read(key: string, at = gateway): Promise<{ status: number; limit: string | null; policy: string | null; retryAfter: string | null; code?: string }> {
  const { status, headers, body } = await request(`${at.url}/v1/invoices`, { headers: { authorization: `Bearer ${key}` } });
  return { status, limit: headers.get('ratelimit'), policy: headers.get('ratelimit-policy'), retryAfter: headers.get('retry-after'), code: body.error?.code };
}

test('every request of a key counts, wrong ones too, and one too many is a 429 with Retry-After', async () => {
  gateway = await startGateway({ READS_PER_MINUTE: '5' });
  expect((await read(gateway.key)).limit).toMatch(/^"default";r=4;t=60$/);
  for (const path of ['/v1/nope', '/v1/invoices?x=1', '/v1/invoices/abc']) await gateway.get(path);
  expect((await read(gateway.key)).limit).toMatch(/^"default";r=0;t=/);
  for (let i = 0; i < 3; i++) {
    const refused = await read(gateway.key);
    expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED', policy: '"default";q=5;w=60' });
    expect(refused.limit).toMatch(/^"default";r=0;t=(60|[1-5]?\d)$/);
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
    expect(Number(refused.retryAfter)).toBeLessThanOrEqual(60);
  }
});

test('gateways count together, and each key for itself', async () => {
  gateway = await startGateway({ READS_PER_MINUTE: '4' });
  const other = await startGateway({ READS_PER_MINUTE: '4' }, { identities: gateway.identities, invoices: gateway.invoices });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { key } = gateway.identities.addKey();
  const statuses = [];
  for (const at of [gateway, other, gateway, other, gateway]) statuses.push((await read(key, at)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 429]);
  expect((await read(gateway.identities.addKey().key)).status).toBe(200);
  await other.stop();
});

test('a key can have limits of its own', async () => {
  gateway = await startGateway();
  const { key } = gateway.identities.addKey({ limits: { reads: 2, reports: null, writes: null } });
  expect(await read(key)).toMatchObject({ status: 200, policy: '"default";q=2;w=60' });
  expect((await read(key)).status).toBe(200);
  expect((await read(key)).status).toBe(429);
});

test('without Redis each gateway counts alone', async () => {
  gateway = await startGateway({ READS_PER_MINUTE: '2', REDIS_URL: 'redis://127.0.0.1:1' });
  const { key } = gateway.identities.addKey();
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await read(key)).status);
  expect(statuses).toEqual([200, 200, 429]);
});
