// What the log and the metrics say about a request.
import type { Operation } from '@truckroll/contract';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { createMetrics, type Logger } from '@truckroll/telemetry';
import { createRequestLog } from '../src/http/request-log.ts';
import type { Exchange } from '../src/http/exchange.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const KEY = { company_id: 'acme', user_id: 'ana', key_id: 'k-1' } as Principal;
const LIST = { route: '/v1/invoices' } as Operation;

/** The line and the counted series of a request, which by default is answered with 200. */
async function noted({ status = 200, finished = true, method = 'GET', ...more }: Partial<Exchange> & { status?: number; finished?: boolean; method?: string }) {
  const lines: [level: string, fields: Record<string, unknown>, message: string][] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push([level, fields as Record<string, unknown>, message]);
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } as unknown as Logger;
  const metrics = createMetrics('gateway');
  const exchange = {
    req: { method },
    res: { statusCode: status, writableFinished: finished },
    requestId: 'r-1',
    traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
    peer: '192.0.2.7',
    startedAt: performance.now() - 2500,
    path: '/v1/invoices',
    query: 'status=OPEN',
    errorHeaders: [],
    ...more,
  } as unknown as Exchange;
  createRequestLog(log, metrics).ended(exchange);
  const { body } = await metrics.render();
  const counted = /_count\{[^}]*http_request_method="([^"]*)",http_route="([^"]*)",http_response_status_code="([^"]*)"[^}]*\} 1$/m.exec(body)?.slice(1);
  const [sum] = /(?<=_sum\{.*\} )[\d.]+$/m.exec(body) ?? [];
  return { lines, line: lines[0], counted, seconds: Number(sum) };
}

test('a request of an operation has one line with its caller and its path, and is counted for its route', async () => {
  const { lines, counted, seconds } = await noted({ principal: KEY, operation: LIST, bytes: 12 });
  const line = {
    requestId: 'r-1',
    traceId: TRACE,
    method: 'GET',
    route: '/v1/invoices',
    path: '/v1/invoices',
    status: 200,
    ms: expect.any(Number) as number,
    bytes: 12,
    peer: '192.0.2.7',
    companyId: 'acme',
    keyId: 'k-1',
  };
  expect(lines).toEqual([['info', line, 'request']]);
  expect(lines[0]![1].ms).toBeGreaterThanOrEqual(2500);
  expect(seconds).toBeGreaterThanOrEqual(2.5);
  expect(counted).toEqual(['GET', '/v1/invoices', '200']);
});

test('names the user of a request without a key, and the code of an error', async () => {
  const { line } = await noted({ principal: { ...KEY, key_id: null }, operation: LIST, status: 404, errorCode: 'NOT_FOUND' });
  expect(line).toMatchObject(['info', { companyId: 'acme', userId: 'ana', code: 'NOT_FOUND', status: 404, bytes: 0 }, 'request']);
  expect(line![1]).not.toHaveProperty('keyId');
});

test.each<[string, Parameters<typeof noted>[0], string[]]>([
  ['a page', {}, ['_OTHER', 'public', '200']],
  ['a known caller at a path where nothing is', { principal: KEY, status: 404 }, ['_OTHER', 'none', '404']],
  ['an unknown method', { principal: KEY, method: 'BREW', status: 405 }, ['_OTHER', 'none', '405']],
  ['a write', { principal: KEY, operation: LIST, method: 'POST', status: 201 }, ['POST', '/v1/invoices', '201']],
  ['a client that went away before its answer was sent', { principal: KEY, operation: LIST, finished: false }, ['GET', '/v1/invoices', '499']],
])('counts %s', async (_, request, counted) => {
  const { counted: found, line } = await noted(request);
  expect([found, String(line![1].status)]).toEqual([counted, counted[2]]);
});

test('counts a shed request without a line, and as one without an operation', async () => {
  const shed = await noted({ principal: KEY, operation: LIST, shed: true, status: 200 });
  expect([shed.lines, shed.counted]).toEqual([[], ['_OTHER', 'none', '429']]);
});

test.each([
  ['debug', '/healthz', 200],
  ['debug', '/readyz', 503],
  ['info', '/healthz/', 404],
])('logs at level %s a request of %s that is answered with %i', async (level, path, status) => {
  expect((await noted({ path, status })).line).toMatchObject([level, { path, status }, 'request']);
});

test('cuts the path of a line after 200 characters', async () => {
  expect((await noted({ path: `/${'x'.repeat(200)}`, status: 404 })).line![1].path).toBe(`/${'x'.repeat(199)}`);
});

test('warns of a request that could not be served, with the innermost reason', async () => {
  const cause = new Error('14 UNAVAILABLE', { cause: new Error('read ECONNRESET') });
  expect((await noted({ operation: LIST, status: 503, cause })).line).toMatchObject([
    'warn',
    { reason: 'Error: read ECONNRESET' },
    'request could not be served',
  ]);
});

test('reports a defect with its error', async () => {
  const cause = new TypeError('x is undefined');
  expect((await noted({ operation: LIST, status: 500, cause })).line).toMatchObject(['error', { error: cause, status: 500 }, 'request failed']);
});
