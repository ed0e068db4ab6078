import { createServer, type AddressInfo } from 'node:net';
import { ApiError } from '@truckroll/contract';
import { laterNames } from '@truckroll/testing';
import { createGateway, type GatewayOptions } from '../src/app.ts';
import { gatewayConfig } from '../src/config.ts';
import { SECRETS, redisUrl, request, type Answer } from './support/gateway.ts';
import { standInIdentities, standInInvoices, standInUnready, type Identities, type Invoices } from './support/stand-ins.ts';

type Line = Record<string, unknown>;

let identities: Identities;
let invoices: Invoices;
const ends: (() => Promise<void> | void)[] = [];

beforeEach(async () => {
  identities = await standInIdentities();
  invoices = await standInInvoices();
  ends.push(
    () => identities.stop().catch(() => undefined),
    () => invoices.stop(),
  );
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Starts a gateway without waiting for it. Services without a given address are stand-ins. */
async function begin(addresses: Record<string, string> = {}, options: Pick<GatewayOptions, 'firstAnswersMs'> = {}) {
  const { logged, log } = watchedLog();
  const port = await freePort();
  const gateway = createGateway({
    ...options,
    log,
    config: gatewayConfig({
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: '0',
      REDIS_URL: redisUrl(),
      ...SECRETS,
      BILLING_ADDRESS: `127.0.0.1:${invoices.port}`,
      SCHEDULING_ADDRESS: `127.0.0.1:${invoices.port}`,
      REPORTING_ADDRESS: `127.0.0.1:${invoices.port}`,
      INTEGRATIONS_ADDRESS: `127.0.0.1:${identities.port}`,
      ...addresses,
    }),
  });
  ends.push(() => gateway.destroy());
  const headers = { authorization: `Bearer ${identities.addKey().key}` };
  const get = (path: string): Promise<Answer> => request(`http://127.0.0.1:${port}${path}`, { headers });
  return { gateway, starting: gateway.start(), get, logged };
}

describe.each(['BILLING', 'SCHEDULING', 'REPORTING', 'INTEGRATIONS'])('a gateway that starts before %s', (name) => {
  test('becomes ready when the service has answered a call', async () => {
    const service = await standInUnready();
    ends.push(service.stop);
    const { starting, get, logged } = await begin({ [`${name}_ADDRESS`]: `127.0.0.1:${service.port}` });
    await logged(({ message, service: of }) => message === 'waiting for a service' && of === name.toLowerCase());
    expect((await get('/readyz')).status).toBe(503);
    service.serve();
    await starting;
    expect((await get('/readyz')).status).toBe(200);
  });
});

test('a gateway that starts before its services’ names resolve answers the first read of each once it is ready', async () => {
  const names = laterNames(4);
  ends.push(names.restore);
  const { starting, get } = await begin({
    BILLING_ADDRESS: `billing.later.test:${invoices.port}`,
    INTEGRATIONS_ADDRESS: `integrations.later.test:${identities.port}`,
  });
  await starting;
  expect((await get('/v1/invoices')).status).toBe(200);
});

test('a gateway that waits too long for a service becomes ready without it, and uses it as soon as it answers', async () => {
  const service = await standInUnready();
  ends.push(service.stop);
  const { starting, get, logged } = await begin({ REPORTING_ADDRESS: `127.0.0.1:${service.port}` }, { firstAnswersMs: 1 });
  await starting;
  await logged(({ message }) => message === 'serves without a service that has not answered yet');
  expect((await get('/readyz')).status).toBe(200);
  expect((await get('/v1/invoices')).status).toBe(200);
  service.serve();
  await logged(({ message, service: of }) => message === 'a service answers' && of === 'reporting');
});

test('a gateway that waits for a service can be stopped', async () => {
  const service = await standInUnready();
  ends.push(service.stop);
  const { gateway, starting, get, logged } = await begin({ REPORTING_ADDRESS: `127.0.0.1:${service.port}` });
  await logged(({ message }) => message === 'waiting for a service');
  await gateway.destroy();
  await starting;
  await expect(get('/readyz')).rejects.toThrow();
});

test('a gateway stays ready when a service goes away, and logs why it answers reads with 503', async () => {
  const { starting, get, logged } = await begin();
  await starting;
  await identities.stop();
  expect((await get('/v1/invoices')).status).toBe(503);
  const { reason } = await logged(({ status }) => status === 503);
  expect(reason).toMatch(/UNAVAILABLE: .*(ECONNREFUSED|onnection dropped|No connection)/);
  expect((await get('/readyz')).status).toBe(200);
});

test('logs a service’s 503 with the service’s reason', async () => {
  const { starting, get, logged } = await begin();
  await starting;
  invoices.failure = new ApiError('INTERNAL_ERROR', 'The filter is still being prepared.', { status: 503 });
  expect((await get('/v1/invoices')).status).toBe(503);
  expect((await logged(({ status }) => status === 503)).reason).toContain('The filter is still being prepared.');
});

/** `logged` resolves to the first line that matches, as soon as there is one. */
function watchedLog() {
  const lines: Line[] = [];
  const waiting: { matches: (line: Line) => boolean; resolve: (line: Line) => void }[] = [];
  const write = (fields: object, message: string): void => {
    const line = { ...fields, message };
    lines.push(line);
    for (const { matches, resolve } of waiting) if (matches(line)) resolve(line);
  };
  const log = { debug: write, info: write, warn: write, error: write, child: () => log };
  const logged = (matches: (line: Line) => boolean): Promise<Line> =>
    new Promise((resolve) => {
      const found = lines.find(matches);
      if (found) resolve(found);
      else waiting.push({ matches, resolve });
    });
  return { logged, log };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
