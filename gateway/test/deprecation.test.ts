// How answers announce what will be removed (decisions §9). Nothing in the contract is deprecated, so these tests use their own.
import { checkDeprecation, operations, type Field, type Operation, type Shape } from '@truckroll/contract';
import { createGateway } from '../src/app.ts';
import { gatewayConfig } from '../src/config.ts';
import { compileDeprecation } from '../src/http/deprecation.ts';
import { buildDocument } from '../src/openapi/document.ts';
import { SECRETS, redisUrl, request } from './support/gateway.ts';
import { standInIdentities, standInInvoices } from './support/stand-ins.ts';

const soon = { since: '2027-01-01', sunset: '2028-01-01' };
const late = { since: '2027-01-01', sunset: '2030-06-30' };
const headers = (sunset: string, base = '') => [
  'Deprecation',
  '@1798761600',
  'Sunset',
  sunset,
  'Link',
  `<${base}/docs/changelog>; rel="deprecation"; type="text/html"`,
];
const SOON = headers('Sat, 01 Jan 2028 00:00:00 GMT');
const LATE = headers('Sun, 30 Jun 2030 00:00:00 GMT');

const named = (name: string): Operation => operations.find((operation) => operation.name === name) as Operation;
const invoices = named('ListInvoices');
const deprecated = (field: Field, deprecation = soon): Field => ({ ...field, deprecation });
/** A shape with one field deprecated. */
function going(shape: Shape, name: string, deprecation = soon): Shape {
  const fields = shape.fields.map((field) => (field.name === name ? deprecated(field, deprecation) : field));
  return { ...shape, fields, byName: new Map(fields.map((field) => [field.name, field])) };
}
const none = () => [];

test('announces nothing that is not deprecated', () => {
  for (const operation of operations) expect(compileDeprecation(operation, '')(() => operation.parameters.map(({ field }) => field))).toEqual([]);
});

test('announces a deprecated operation in every answer, in the forms of RFC 9745 and RFC 8594', () => {
  expect(compileDeprecation({ ...invoices, deprecation: soon }, '')(none)).toEqual(SOON);
  expect(compileDeprecation({ ...invoices, deprecation: soon }, 'https://api.example.com')(none).at(-1)).toMatch(
    /^<https:\/\/api\.example\.com\/docs\/changelog>;/,
  );
});

test('announces a field at any depth of an answer; of several, the one removed first', () => {
  const data = invoices.response.byName.get('data') as Field;
  const record = going(data.shape as Shape, 'tax', late);
  const response = { ...invoices.response, fields: invoices.response.fields.map((field) => (field === data ? { ...data, shape: record } : field)) };
  expect(compileDeprecation({ ...invoices, response }, '')(none)).toEqual(LATE);
  expect(compileDeprecation({ ...invoices, response, deprecation: soon }, '')(none)).toEqual(SOON);
});

test('announces a parameter only to clients that use it', () => {
  const parameters = invoices.parameters.map((each) => (each.name === 'status' ? { ...each, field: deprecated(each.field) } : each));
  const announce = compileDeprecation({ ...invoices, parameters }, '');
  expect(announce(none)).toEqual([]);
  expect(announce(() => parameters.filter(({ name }) => name === 'status').map(({ field }) => field))).toEqual(SOON);
});

test('rejects an announcement that is too late or is not in days', () => {
  expect(checkDeprecation('x', soon)).toEqual(soon);
  expect(() => checkDeprecation('x', { since: '2027-01-01', sunset: '2027-12-31' })).toThrow('12 months after 2027-01-01 at the earliest');
  expect(() => checkDeprecation('x', { since: '2027', sunset: '2029-01-01' })).toThrow('must be days');
});

test('marks deprecations in the description and the reference', () => {
  const document = buildDocument('/', [{ ...invoices, deprecation: soon }]);
  const described = document.paths['/v1/invoices']?.['get'];
  expect(described).toMatchObject({ deprecated: true, responses: { 200: { headers: { Deprecation: {}, Sunset: {}, Link: {} } } } });
  expect(described?.description).toContain('Deprecated since 2027-01-01; it may be gone from 2028-01-01 on.');
});

test('works over HTTP', async () => {
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
  const parameters = invoices.parameters.map((each) => (each.name === 'status' ? { ...each, field: deprecated(each.field) } : each));
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
