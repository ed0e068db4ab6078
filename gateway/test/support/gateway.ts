import { randomBytes } from 'node:crypto';
import { createClient } from '@redis/client';
import type { Service } from '@truckroll/process';
import { testCaller } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { createGateway } from '../../src/app.ts';
import { gatewayConfig } from '../../src/config.ts';
import { standInIdentities, standInInvoices, type Identities, type Invoices } from './stand-ins.ts';

export interface TestGateway {
  url: string;
  metricsPort: number;
  service: Service;
  identities: Identities;
  invoices: Invoices;
  key: string;
  companyId: string;
  /** GET with the key of this gateway, unless headers override it. */
  get(path: string, init?: RequestInit): Promise<Answer>;
  stop(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: any;
}

export const SECRETS = {
  CALL_CREDENTIAL: testCaller('gateway').text,
  CURSOR_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  IDENTITY_KEYS: `k1:${randomBytes(32).toString('base64')}`,
};

/** What every gateway needs, with addresses at which nothing answers. */
export const REQUIRED = {
  REDIS_URL: 'redis://127.0.0.1:1',
  BILLING_ADDRESS: '127.0.0.1:1',
  SCHEDULING_ADDRESS: '127.0.0.1:1',
  REPORTING_ADDRESS: '127.0.0.1:1',
  INTEGRATIONS_ADDRESS: '127.0.0.1:1',
  ...SECRETS,
};

/** URL of the test run's Redis, with a separate database for each test file. */
export function redisUrl(): string {
  const url = process.env['REDIS_URL'];
  if (url === undefined) throw new Error('REDIS_URL is not set: run tests by npm test, which starts the servers');
  return url;
}

export async function startGateway(
  environment: Record<string, string> = {},
  given: Partial<Pick<TestGateway, 'identities' | 'invoices'>> = {},
): Promise<TestGateway> {
  const identities = given.identities ?? (await standInIdentities());
  const invoices = given.invoices ?? (await standInInvoices());
  const config = gatewayConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
    REDIS_URL: redisUrl(),
    BILLING_ADDRESS: `127.0.0.1:${invoices.port}`,
    // The stand-in of billing passes the health checks of these services, but implements none of their rpcs.
    SCHEDULING_ADDRESS: `127.0.0.1:${invoices.port}`,
    REPORTING_ADDRESS: `127.0.0.1:${invoices.port}`,
    INTEGRATIONS_ADDRESS: `127.0.0.1:${identities.port}`,
    ...SECRETS,
    DRAIN_TIMEOUT: '2s',
    ...environment,
  });
  const service = createGateway({ config });
  const { port, metricsPort } = await service.start();
  const url = `http://127.0.0.1:${port}`;
  const { key, principal } = identities.addKey();
  return {
    url,
    metricsPort,
    service,
    identities,
    invoices,
    key,
    companyId: principal.company_id,
    get: (path, init = {}) => request(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } }),
    async stop() {
      await service.destroy();
      if (given.identities === undefined) await identities.stop();
      if (given.invoices === undefined) await invoices.stop();
    },
  };
}

export async function request(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') === true && text !== '';
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined };
}

/** Publishes what integrations publishes after a revocation (identity.proto). */
export async function publishInvalidation(message: string): Promise<void> {
  const client = createClient({ url: redisUrl() });
  await client.connect();
  try {
    await client.multi().set('truckroll:identity:epoch', randomBytes(8).toString('hex')).publish('truckroll:invalidations', message).exec();
  } finally {
    client.destroy();
  }
}

/** Resolves when a metric of a gateway has the value: `gateway_redis_up 1`. */
export async function untilMetric({ metricsPort }: Pick<TestGateway, 'metricsPort'>, name: string, value: number): Promise<void> {
  const holds = async () => (await request(`http://127.0.0.1:${metricsPort}/metrics`)).text.includes(`${name}{component="gateway"} ${value}\n`);
  await until(`${name} to be ${value}`, holds);
}
