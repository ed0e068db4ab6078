// The spans of requests, as a collector receives them.
import { startTracing, silentLog } from '@truckroll/telemetry';
import { startCollector, type CollectedSpan } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { request, startGateway, type TestGateway } from './support/gateway.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
let gateway: TestGateway;
let spans: CollectedSpan[];
let gone: string;

beforeAll(async () => {
  process.env['OTEL_TRACES_SAMPLER'] = 'parentbased_always_on';
  const collector = await startCollector();
  const stop = await startTracing('gateway', { otlpEndpoint: collector.url }, silentLog);
  gateway = await startGateway();
  try {
    const traced = (path: string, init: RequestInit = {}) =>
      gateway.get(path, { ...init, headers: { ...init.headers, traceparent: `00-${TRACE}-${PARENT}-01` } });
    await traced('/v1/invoices?status=OPEN');
    await gateway.get(`/v1/invoices/${ID}`);
    await request(`${gateway.url}/healthz`);
    gateway.invoices.failure = new Error('a defect');
    await gateway.get('/v1/invoices?limit=1');
    const gate = Promise.withResolvers<void>();
    gateway.invoices.gate = gate.promise;
    const asked = gateway.invoices.lists.length;
    const client = new AbortController();
    const left = gateway.get('/v1/invoices?limit=2', { signal: client.signal }).catch(() => undefined);
    await until('the call of the service', () => gateway.invoices.lists.length > asked);
    client.abort();
    await left;
    gate.resolve();
    gone = gateway.invoices.requestIds.at(-1)!;
  } finally {
    await gateway.stop();
    await stop();
    collector.close();
  }
  ({ spans } = collector);
});

const SERVER = 2;
const attributesOf = ({ attributes }: CollectedSpan) =>
  Object.fromEntries((attributes as { key: string; value: Record<string, unknown> }[]).map(({ key, value }) => [key, Object.values(value)[0]]));
const served = (matches: (attributes: Record<string, unknown>) => boolean): CollectedSpan =>
  spans.find((span) => span.kind === SERVER && 'url.path' in attributesOf(span) && matches(attributesOf(span)))!;

test('a list is named by its route, in the trace of its caller, with its company and its status', () => {
  const list = spans.find(({ parentSpanId }) => parentSpanId === PARENT)!;
  expect([list.name, list.traceId]).toEqual(['GET /v1/invoices', TRACE]);
  expect(attributesOf(list)).toMatchObject({
    'http.request.method': 'GET',
    'url.path': '/v1/invoices',
    'http.route': '/v1/invoices',
    'truckroll.company_id': gateway.companyId,
  });
  expect(Number(attributesOf(list)['http.response.status_code'])).toBe(200);
  expect(list.status?.code ?? 0).toBe(0);
});

test.each([
  ['of a missing record is no failure', (path: unknown) => path === `/v1/invoices/${ID}`, 404, 0, 'GET /v1/invoices/{id}'],
  ['of a page has no route', (path: unknown) => path === '/healthz', 200, 0, 'GET'],
])('the span %s', (_, matches, status, code, name) => {
  const span = served((attributes) => matches(attributes['url.path']));
  expect([Number(attributesOf(span)['http.response.status_code']), span.status?.code ?? 0, span.name]).toEqual([status, code, name]);
});

test('a defect fails the span of its request', () => {
  const span = served((attributes) => Number(attributes['http.response.status_code']) === 500);
  expect(span.status?.code).toBe(2);
});

test('a request whose client went away has the status 499', () => {
  const span = served((attributes) => attributes['truckroll.request_id'] === gone);
  expect(Number(attributesOf(span)['http.response.status_code'])).toBe(499);
});
