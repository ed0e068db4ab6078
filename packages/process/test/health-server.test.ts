import { createMetrics } from '@truckroll/telemetry';
import { startHealthServer, type HealthServer, type ReadinessCheck } from '../src/health-server.ts';

let server: HealthServer;
const checks = new Map<string, ReadinessCheck>();
beforeAll(async () => void (server = await startHealthServer({ port: 0, host: '127.0.0.1', metrics: createMetrics('trial'), checks })));
afterEach(() => checks.clear());
afterAll(() => server.close());

async function get(path: string) {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  return [response.status, await response.text()] as const;
}

const works = (): void => undefined;
const fails = (): void => {
  throw new Error('secret');
};
const rejects = () => Promise.reject(new Error('secret'));
const hangs = () => new Promise<void>(() => undefined);

test.each<[string, Record<string, ReadinessCheck>, number, Record<string, string>]>([
  ['no check', {}, 200, {}],
  ['checks that pass', { a: works, b: async () => undefined }, 200, { a: 'ok', b: 'ok' }],
  ['one of two checks that throws', { a: works, b: fails }, 503, { a: 'ok', b: 'failed' }],
  ['one of two checks that rejects', { a: rejects, b: works }, 503, { a: 'failed', b: 'ok' }],
  ['one of two checks that hangs', { a: works, b: hangs }, 503, { a: 'ok', b: 'failed' }],
])('answers /readyz with %s by its status, and names the checks without their errors', async (_, added, status, results) => {
  for (const [name, check] of Object.entries(added)) checks.set(name, check);
  expect(await get('/readyz')).toEqual([status, `${JSON.stringify({ ready: status === 200, checks: results })}\n`]);
});

test('answers /healthz whatever the checks say, and knows no other path', async () => {
  checks.set('a', fails);
  expect(await get('/healthz?x=1')).toEqual([200, 'ok\n']);
  expect((await get('/other'))[0]).toBe(404);
});

test('answers /metrics in Prometheus form, and no answer may be cached', async () => {
  for (const [path, type] of [
    ['/metrics', 'text/plain; version=0.0.4; charset=utf-8'],
    ['/healthz', 'text/plain'],
    ['/readyz', 'application/json'],
  ]) {
    const { status, headers } = await fetch(`http://127.0.0.1:${server.port}${path}`);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, 'no-store']);
  }
});

test('answers 500 if the metrics cannot be read, without the reason, and rejects if its port is taken', async () => {
  const metrics = createMetrics('trial');
  metrics.observedGauge('broken', 'Always fails', () => {
    throw new Error('secret');
  });
  const broken = await startHealthServer({ port: 0, host: '127.0.0.1', metrics, checks });
  const response = await fetch(`http://127.0.0.1:${broken.port}/metrics`);
  expect([response.status, await response.text()]).toEqual([500, 'failed\n']);
  await expect(startHealthServer({ port: broken.port, host: '127.0.0.1', metrics, checks })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await broken.close();
});
