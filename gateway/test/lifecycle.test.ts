import { connect } from 'node:net';
import { openProxy } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { createGateway } from '../src/app.ts';
import { gatewayConfig } from '../src/config.ts';
import { ADVERTISED_KEEP_ALIVE_MS } from '../src/http/server.ts';
import { invoice } from './support/invoice.ts';
import { REQUIRED, SECRETS, redisUrl, request, startGateway, untilMetric } from './support/gateway.ts';
import { standInIdentities, standInInvoices, type Invoices } from './support/stand-ins.ts';

/** Makes the stand-in wait with its answers until the returned function is called. */
function shut(invoices: Invoices): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  invoices.gate = promise;
  return resolve;
}

test('a stop lets requests finish, closes idle connections and accepts no new ones', async () => {
  const gateway = await startGateway({ DRAIN_DELAY: '300ms' });
  const port = Number(new URL(gateway.url).port);
  gateway.invoices.data = [invoice({ number: 'late' })];
  const open = shut(gateway.invoices);
  const idle = connect(port, '127.0.0.1');
  const idleEnded = new Promise((resolve) => idle.once('close', resolve));
  const running = gateway.get('/v1/invoices');
  await until('the call of the service', () => gateway.invoices.lists.length > 0);
  const stopping = gateway.stop();
  // Load balancers see 503 before connections are refused.
  expect((await request(`${gateway.url}/readyz`)).status).toBe(503);
  expect((await request(`${gateway.url}/healthz`)).status).toBe(200);
  open();
  const answer = await running;
  expect(answer.status).toBe(200);
  expect(answer.body.data[0].number).toBe('late');
  await stopping;
  await idleEnded;
  await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
});

test('answers during a stop close their connections', async () => {
  const gateway = await startGateway({ DRAIN_DELAY: '300ms' });
  const stopping = gateway.stop();
  expect((await request(`${gateway.url}/healthz`)).headers.get('connection')).toBe('close');
  await stopping;
});

test('a gateway has connected to integrations before it is ready', async () => {
  const identities = await standInIdentities();
  const between = await openProxy({ host: '127.0.0.1', port: identities.port });
  const gateway = await startGateway({ INTEGRATIONS_ADDRESS: `127.0.0.1:${between.port}` }, { identities });
  expect(between.accepted).toBe(1);
  expect((await gateway.get('/v1/invoices')).status).toBe(200);
  await gateway.stop();
  await identities.stop();
  await between.close();
});

test('a gateway that has stopped leaves no connection to Redis or its services open', async () => {
  const [identities, invoices] = [await standInIdentities(), await standInInvoices()];
  const redis = new URL(redisUrl());
  const [toIdentities, toInvoices, toRedis] = [
    await openProxy({ host: '127.0.0.1', port: identities.port }),
    await openProxy({ host: '127.0.0.1', port: invoices.port }),
    await openProxy({ host: redis.hostname, port: Number(redis.port) }),
  ];
  redis.host = `127.0.0.1:${toRedis.port}`;
  const gateway = await startGateway(
    { INTEGRATIONS_ADDRESS: `127.0.0.1:${toIdentities.port}`, BILLING_ADDRESS: `127.0.0.1:${toInvoices.port}`, REDIS_URL: redis.href },
    { identities, invoices },
  );
  await untilMetric(gateway, 'gateway_redis_up', 1);
  await untilMetric(gateway, 'gateway_revocations_proven', 1);
  expect((await gateway.get('/v1/invoices')).status).toBe(200);
  expect([toIdentities, toInvoices, toRedis].map(({ open }) => open)).toEqual([1, 1, 2]);
  await gateway.service.destroy();
  await until('all connections to close', () => [toIdentities, toInvoices, toRedis].every(({ open }) => open === 0));
  for (const { close } of [toIdentities, toInvoices, toRedis]) await close();
  await identities.stop();
  await invoices.stop();
});

test('announces a shorter keep-alive than a stopping gateway still answers', async () => {
  const gateway = await startGateway();
  const { headers } = await request(`${gateway.url}/healthz`);
  expect(headers.get('connection')).toBe('keep-alive');
  expect(headers.get('keep-alive')).toBe(`timeout=${ADVERTISED_KEEP_ALIVE_MS / 1000}`);
  await gateway.stop();
});

test('a stop does not wait forever', async () => {
  const gateway = await startGateway({ DRAIN_TIMEOUT: '300ms' });
  const open = shut(gateway.invoices);
  const running = gateway.get('/v1/invoices').then(
    () => 'answered',
    () => 'cut off',
  );
  await until('the call of the service', () => gateway.invoices.lists.length > 0);
  // Ends although the call never does.
  await gateway.service.destroy();
  expect(await running).toBe('cut off');
  open();
  await gateway.identities.stop();
  await gateway.invoices.stop();
});

test('answers 503 for a service that is unavailable, and uses it again soon after its return', async () => {
  const invoices = await standInInvoices();
  const gateway = await startGateway({}, { invoices });
  expect((await gateway.get('/v1/invoices')).status).toBe(200);
  await invoices.stop();
  const away = await gateway.get('/v1/invoices');
  expect(away.status).toBe(503);
  expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
  const back = await standInInvoices(invoices.port);
  await until('an answer from the service that is back', async () => (await gateway.get('/v1/invoices')).status === 200);
  await gateway.stop();
  await gateway.identities.stop();
  await back.stop();
}, 20_000);

test('answers 503 for a service that is too slow', async () => {
  const gateway = await startGateway({ CALL_DEADLINE: '200ms' });
  const open = shut(gateway.invoices);
  const answer = await gateway.get('/v1/invoices');
  expect(answer.status).toBe(503);
  expect(answer.headers.has('retry-after')).toBe(true);
  open();
  await gateway.stop();
});

test('answers 503 after three seconds if the caller cannot be looked up, however long calls may take', async () => {
  const gateway = await startGateway({ CALL_DEADLINE: '60s' });
  const gate = Promise.withResolvers<void>();
  gateway.identities.gate = gate.promise;
  const answer = await gateway.get('/v1/invoices');
  expect(answer.status).toBe(503);
  expect(answer.headers.has('retry-after')).toBe(true);
  gate.resolve();
  await gateway.stop();
}, 30_000);

test('cancels the call to a service when the client goes away', async () => {
  const gateway = await startGateway();
  const open = shut(gateway.invoices);
  const gone = new AbortController();
  const running = gateway.get('/v1/invoices', { signal: gone.signal }).catch(() => undefined);
  await until('the call of the service', () => gateway.invoices.lists.length > 0);
  gone.abort();
  await running;
  await until('a request counted as 499', async () =>
    (await request(`http://127.0.0.1:${gateway.metricsPort}/metrics`)).text.includes('http_response_status_code="499"'),
  );
  open();
  expect((await gateway.get('/v1/invoices')).status).toBe(200);
  await gateway.stop();
});

test('many concurrent answers of different sizes are all complete', async () => {
  const gateway = await startGateway();
  gateway.invoices.data = Array.from({ length: 100 }, (_, index) => invoice({ number: `${index} ${'ü"\\\n'.repeat(200)}` }));
  const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => gateway.get(index % 3 === 0 ? '/v1/company' : `/v1/invoices?limit=${index + 1}`)));
  for (const [index, { status, body, headers }] of answers.entries()) {
    expect(status).toBe(200);
    expect(body.meta.request_id).toBe(headers.get('x-request-id'));
    if (index % 3 !== 0) expect(body.data.map(({ number }: { number: string }) => number)).toEqual(gateway.invoices.data.map(({ number }) => number));
  }
  await gateway.stop();
});

test('logs a request once, without its credential or query', async () => {
  const lines: Record<string, unknown>[] = [];
  const level = (fields: object, message: string): void => void lines.push({ ...fields, message });
  const log = { debug: level, info: level, warn: level, error: level, child: () => log };
  const inner = await startGateway();
  const config = gatewayConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    REDIS_URL: 'redis://127.0.0.1:1',
    ...SECRETS,
    BILLING_ADDRESS: `127.0.0.1:${inner.invoices.port}`,
    SCHEDULING_ADDRESS: `127.0.0.1:${inner.invoices.port}`,
    REPORTING_ADDRESS: `127.0.0.1:${inner.invoices.port}`,
    INTEGRATIONS_ADDRESS: `127.0.0.1:${inner.identities.port}`,
  });
  const gateway = createGateway({ config, log });
  const { port } = await gateway.start();
  const { headers } = await request(`http://127.0.0.1:${port}/v1/invoices?status=OPEN`, { headers: { authorization: `Bearer ${inner.key}` } });
  await request(`http://127.0.0.1:${port}/v1/invoices?status=OPEN`, { headers: { authorization: 'Bearer trk_wrong' } });
  await until('a log line for each request', () => lines.filter(({ message }) => message === 'request').length === 2);
  const [line] = lines.filter(({ message }) => message === 'request');
  expect(line).toMatchObject({ requestId: headers.get('x-request-id'), method: 'GET', path: '/v1/invoices', status: 200, companyId: inner.companyId });
  const all = JSON.stringify(lines);
  for (const secret of [inner.key, 'trk_', 'OPEN', 'authorization']) expect(all).not.toContain(secret);
  await gateway.destroy();
  await inner.stop();
});

describe('the environment', () => {
  test('is rejected with a list of everything that is missing', () => {
    expect(() => gatewayConfig({})).toThrow(/REDIS_URL[^]*INTEGRATIONS_ADDRESS[^]*BILLING_ADDRESS[^]*CURSOR_KEYS[^]*IDENTITY_KEYS/);
  });

  test.each([
    { TOKEN_JWKS_URL: 'https://id.example.com/jwks' },
    { TOKEN_JWKS_FILE: '/etc/jwks.json', TOKEN_ISSUER: 'https://id.example.com' },
    { TOKEN_JWKS_FILE: '/etc/jwks.json', TOKEN_AUDIENCE: 'truckroll' },
  ])('is rejected with the keys of user tokens but without the issuer or the audience to check: %j', (tokens) => {
    expect(() => gatewayConfig({ ...REQUIRED, ...tokens })).toThrow('TOKEN_ISSUER and TOKEN_AUDIENCE are missing');
  });

  test('never shows a key', () => {
    const read = () => gatewayConfig({ CURSOR_KEYS: 'k1:hunter2', IDENTITY_KEYS: 'hunter2', CALL_CREDENTIAL: 'operator.hunter2' });
    expect(read).toThrow(/CALL_CREDENTIAL is invalid[^]*CURSOR_KEYS is invalid[^]*IDENTITY_KEYS is invalid/);
    expect(read).not.toThrow(/hunter2/);
  });
});
