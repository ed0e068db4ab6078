import { ApiError, type ErrorDetail } from '@truckroll/contract';
import { LoggedRequests, type LoggedRequest, type RequestChunk } from '@truckroll/contract/gen/integrations/v1/requests';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { until } from '@truckroll/testing/until';
import type { Exchange } from '../src/http/exchange.ts';
import { RequestHistory } from '../src/http/request-history.ts';
import { startGateway } from './support/gateway.ts';

afterEach(() => void jest.useRealTimers());

const exchangeOf = (keyId: string | null, more: Partial<Exchange> = {}): Exchange =>
  ({
    req: { method: 'GET' },
    requestId: 'r-1',
    peer: '192.0.2.7',
    principal: { company_id: 'acme', key_id: keyId },
    operation: { route: '/v1/invoices/{id}' },
    ...more,
  }) as unknown as Exchange;

const requestsIn = ({ requests }: RequestChunk): LoggedRequest[] => LoggedRequests.decode(requests).requests;

function recorder(store: (chunks: RequestChunk[]) => Promise<unknown> | void = () => undefined) {
  const calls: RequestChunk[][] = [];
  const metrics = createMetrics('gateway');
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) };
  const history = new RequestHistory(
    async (chunks) => {
      calls.push(chunks);
      await store(chunks);
    },
    log,
    metrics,
  );
  const dropped = async (reason: string): Promise<number> =>
    Number(new RegExp(`gateway_request_history_dropped_total\\{[^}]*reason="${reason}"[^}]*\\} (\\d+)`).exec((await metrics.render()).body)?.[1] ?? 0);
  return { history, calls, warnings, dropped };
}

test('sends what each key asked in one call, failed requests apart from others', async () => {
  jest.useFakeTimers({ now: 1_000 });
  const { history, calls } = recorder();
  history.note(exchangeOf('k-1'), 200, 12.4);
  jest.advanceTimersByTime(1);
  history.note(exchangeOf('k-1'), 404, 3);
  history.note(exchangeOf('k-2', { operation: undefined, route: '/mcp', peer: undefined } as never), 200, 1);
  history.note(exchangeOf('k-1', { operation: undefined, req: { method: 'POST' } } as never), 200, 1);
  await history.flush();
  expect(calls).toHaveLength(1);
  expect(calls[0]!.map(({ key_id, failed, count, first_at, last_at }) => [key_id, failed, count, first_at, last_at])).toEqual([
    ['k-1', false, 2, 1_000_000, 1_001_000],
    ['k-1', true, 1, 1_001_000, 1_001_000],
    ['k-2', false, 1, 1_001_000, 1_001_000],
  ]);
  const [first, second] = requestsIn(calls[0]![0]!);
  const common = { id: 'r-1', error_code: null, details: [], key: null };
  expect(first).toEqual({ ...common, at: 1_000_000, method: 'GET', route: '/v1/invoices/{id}', status: 200, duration_ms: 12, address: '192.0.2.7' });
  expect(second).toMatchObject({ method: 'POST', route: null });
  expect(requestsIn(calls[0]![2]!)).toMatchObject([{ route: '/mcp', address: null }]);
  await history.flush();
  expect(calls).toHaveLength(1);
});

test('notes nothing of callers without a key', async () => {
  const { history, calls } = recorder();
  history.note(exchangeOf(null), 200, 1);
  history.note(exchangeOf('k-1', { principal: undefined } as never), 401, 1);
  await history.flush();
  expect(calls).toEqual([]);
});

test('keeps of an error its code, and of its details where they were, without what may be a value', async () => {
  const { history, calls } = recorder();
  const detail = (field: string, location: ErrorDetail['location'] = 'query'): ErrorDetail => ({
    location,
    field,
    code: 'UNKNOWN_PARAMETER',
    message: 'value-1',
  });
  const names = ['created_from', 'filter.business_unit.id.$in', 'headers[2].value', 'ana@example.com', 'x_trk_secret', 'x'.repeat(65)];
  for (const field of names) history.note(exchangeOf('k-1', { errorCode: 'INVALID_REQUEST', details: [detail(field)] }), 400, 1);
  history.note(exchangeOf('k-1', { details: Array.from({ length: 12 }, () => detail('x', 'body')) }), 400, 1);
  await history.flush();
  const found = requestsIn(calls[0]![0]!);
  expect(found.map(({ details }) => details[0]!.field)).toEqual([...names.slice(0, 3), null, null, null, 'x']);
  expect(found[0]).toMatchObject({ error_code: 'INVALID_REQUEST', details: [{ location: 'query', field: 'created_from', code: 'UNKNOWN_PARAMETER' }] });
  expect(found.at(-1)!.details).toHaveLength(10);
  expect(JSON.stringify(found)).not.toContain('value-1');
});

test('divides many requests of a key into chunks', async () => {
  const { history, calls } = recorder();
  for (let i = 0; i < 600; i += 1) history.note(exchangeOf('k-1', { requestId: `r-${i}` }), 200, 1);
  await history.flush();
  expect(calls[0]!.map(({ count }) => count)).toEqual([250, 250, 100]);
  expect(calls[0]!.flatMap(requestsIn).map(({ id }) => id)).toEqual(Array.from({ length: 600 }, (_, i) => `r-${i}`));
});

test('a key that floods leaves room for others, and what it loses is counted', async () => {
  const { history, calls, dropped } = recorder();
  const details: ErrorDetail[] = Array.from({ length: 10 }, () => ({ location: 'query', field: 'x', code: 'UNKNOWN_PARAMETER', message: '' }));
  for (let i = 0; i < 20_000; i += 1) history.note(exchangeOf('flood'), 200, 1);
  for (let i = 0; i < 500; i += 1) history.note(exchangeOf('calm', { details }), 400, 1);
  for (let i = 0; i < 2000; i += 1) history.note(exchangeOf('late'), 200, 1);
  await history.flush();
  const kept = (key: string): number => calls[0]!.filter(({ key_id }) => key_id === key).reduce((sum, { count }) => sum + count, 0);
  expect([kept('flood'), kept('calm'), kept('late')]).toEqual([8000, 500, 2000]);
  expect(await dropped('full')).toBe(12_000);
  for (let i = 0; i < 8000; i += 1) history.note(exchangeOf('flood'), 200, 1);
  expect(await dropped('full')).toBe(12_000);
});

test('never keeps more than its room, however many keys there are', async () => {
  const { history, calls, dropped } = recorder();
  for (let key = 0; key < 200; key += 1) for (let i = 0; i < 200; i += 1) history.note(exchangeOf(`k-${key}`), 200, 1);
  await history.flush();
  const count = calls[0]!.reduce((sum, chunk) => sum + chunk.count, 0);
  expect(count).toBeLessThanOrEqual(16_000);
  expect((await dropped('full')) + count).toBe(40_000);
});

test('while integrations is away or older, requests are dropped and counted, with few lines in the log', async () => {
  jest.useFakeTimers();
  let away = true;
  const { history, calls, dropped, warnings } = recorder(() => {
    if (away) throw ApiError.internal(new Error('12 UNIMPLEMENTED'));
  });
  history.start();
  for (let second = 0; second < 20; second += 1) {
    history.note(exchangeOf('k-1'), 200, 1);
    history.note(exchangeOf('k-1'), 400, 1);
    await jest.advanceTimersByTimeAsync(1000);
  }
  expect(await dropped('refused')).toBeGreaterThanOrEqual(38);
  expect(warnings).toEqual(Array.from({ length: 2 }, () => 'requests are missing in the history of their keys'));
  away = false;
  history.note(exchangeOf('k-2'), 200, 1);
  await history.stop();
  expect(calls.at(-1)!.at(-1)).toMatchObject({ key_id: 'k-2' });
  const sent = calls.length;
  await jest.advanceTimersByTimeAsync(5000);
  expect(calls).toHaveLength(sent);
});

test('requests are answered, and counted as missing in the history, if integrations has a release that keeps none', async () => {
  const gateway = await startGateway();
  try {
    expect((await gateway.get('/v1/invoices')).status).toBe(200);
    const missing = async (): Promise<boolean> =>
      /gateway_request_history_dropped_total\{[^}]*"refused"[^}]*\} 1$/m.test((await gateway.service.metrics.render()).body);
    await until('the request to be counted', missing);
    expect((await gateway.get('/v1/invoices')).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
