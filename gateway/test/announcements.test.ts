// Deprecation headers over HTTP. Nothing in the contract is deprecated, so this test changes two operations. deprecation.test.ts tests the rules.
import { operations, type Operation } from '@truckroll/contract';
import { createGateway } from '../src/app.ts';
import { gatewayConfig } from '../src/config.ts';
import { SECRETS, redisUrl, request } from './support/gateway.ts';
import { standInIdentities, standInInvoices } from './support/stand-ins.ts';

const soon = { since: '2027-01-01', sunset: '2028-01-01' };
const late = { since: '2027-01-01', sunset: '2030-06-30' };
const headers = (sunset: string) => ['Deprecation', '@1798761600', 'Sunset', sunset, 'Link', '<../docs/changelog>; rel="deprecation"; type="text/html"'];
const SOON = headers('Sat, 01 Jan 2028 00:00:00 GMT');
const LATE = headers('Sun, 30 Jun 2030 00:00:00 GMT');
const named = (name: string): Operation => operations.find((operation) => operation.name === name) as Operation;
const invoices = named('ListInvoices');

test('announces a deprecation only in answers to requests that use what is deprecated', async () => {
  const [identities, billing] = [await standInIdentities(), await standInInvoices()];
  const config = gatewayConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'silent',
    REDIS_URL: redisUrl(),
    ...SECRETS,
    DRAIN_TIMEOUT: '2s',
    BILLING_ADDRESS: `127.0.0.1:${billing.port}`,
    SCHEDULING_ADDRESS: `127.0.0.1:${billing.port}`,
    REPORTING_ADDRESS: `127.0.0.1:${billing.port}`,
    INTEGRATIONS_ADDRESS: `127.0.0.1:${identities.port}`,
  });
  const parameters = invoices.parameters.map((each) => (each.name === 'status' ? { ...each, field: { ...each.field, deprecation: soon } } : each));
  const gateway = createGateway({
    config,
    operations: [
      { ...invoices, parameters },
      { ...named('GetCompany'), deprecation: late },
    ],
  });
  const { port } = await gateway.start();
  const authorization = `Bearer ${identities.addKey().key}`;
  const announced = async (path: string) => {
    const answer = await request(`http://127.0.0.1:${port}${path}`, { headers: { authorization } });
    expect(answer.status).toBe(200);
    return ['Deprecation', 'Sunset', 'Link'].flatMap((name) => (answer.headers.has(name) ? [name, answer.headers.get(name)] : []));
  };
  try {
    expect(await announced('/v1/company')).toEqual(LATE);
    expect(await announced('/v1/invoices')).toEqual([]);
    expect(await announced('/v1/invoices?status=OPEN')).toEqual(SOON);
    expect(await announced('/docs')).toEqual([]);
  } finally {
    await gateway.destroy();
    await identities.stop();
    await billing.stop();
  }
});
