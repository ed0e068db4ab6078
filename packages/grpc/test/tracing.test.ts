import { randomUUID } from 'node:crypto';
import { ApiError } from '@truckroll/contract';
import { Database } from '@truckroll/postgres';
import { activeTraceparent, createLog, currentRequest, onBehalfOf, silentLog, startTracing, traceIdOf, withBatchSpan, withSpan } from '@truckroll/telemetry';
import { freshDatabase, startCollector } from '@truckroll/testing';
import { startEcho } from './echo.ts';

const requestId = '6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c11';
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const OTHER = '4bf92f3577b34da6a3ce929d0e0e4736';
const other = (flags: string) => traceparent.replace(/-.*-/, `-${OTHER}-b7ad6b7169203331-`).replace(/01$/, flags);

beforeAll(() => void (process.env['OTEL_TRACES_SAMPLER'] = 'parentbased_always_on'));

test('without an endpoint no spans are created, and an existing trace is passed on', async () => {
  const stop = await startTracing('trial', {}, silentLog);
  await withSpan('work', 'INTERNAL', {}, async () => expect(activeTraceparent()).toBeUndefined());
  onBehalfOf({ requestId, traceparent: undefined }, () => expect(activeTraceparent()).toBeUndefined());
  onBehalfOf({ requestId, traceparent }, () => expect(activeTraceparent()).toBe(traceparent));
  await stop();
});

test('a request id and trace reach the called service, its own calls and its log, whether spans are exported or not', async () => {
  const lines: string[] = [];
  const seen: unknown[] = [];
  const echo = await startEcho(
    {
      say: (word, { log }) => {
        seen.push(currentRequest()?.requestId);
        log.warn({}, 'served');
        return word;
      },
    },
    0,
    createLog('echo', 'warn', { write: (line) => void lines.push(line) }),
  );
  await onBehalfOf({ requestId, traceparent: undefined }, () => echo.client.say({ text: 'x' }));
  await onBehalfOf({ requestId, traceparent }, () => echo.client.say({ text: 'x' }));
  await echo.client.say({ text: 'x' }, { requestId: 'none' });
  await echo.stop();
  const logged = lines.map((line) => JSON.parse(line) as { requestId: string; traceId: string });
  expect(seen.slice(0, 2)).toEqual([requestId, requestId]);
  expect(logged.map((line) => [line.requestId, line.traceId]).slice(0, 2)).toEqual([
    [requestId, requestId.replaceAll('-', '')],
    [requestId, traceparent.slice(3, 35)],
  ]);
  expect(logged[2]!.requestId).toMatch(/^[0-9a-f-]{36}$/);
  for (const line of lines) expect(line.match(/"requestId"/g)).toHaveLength(1);
});

test('spans of a request are in the trace that its log lines name, and only faults are errors', async () => {
  const collector = await startCollector();
  const stop = await startTracing('trial', { otlpEndpoint: collector.url }, silentLog);
  const request = { requestId, traceparent: undefined };
  const failing = (name: string, error: Error) => onBehalfOf(request, () => withSpan(name, 'SERVER', {}, () => Promise.reject(error))).catch(() => undefined);
  await failing('missing', ApiError.notFound('invoice'));
  await failing('conflict', new ApiError('STALE_REVISION', 'Read it again.'));
  await failing('defect', new Error('a defect'));
  await failing('away', ApiError.unavailable(new Error('PostgreSQL is away')));
  await withBatchSpan([traceparent], 'one', 'CONSUMER', {}, async () => undefined);
  await withBatchSpan([traceparent, undefined, other('00')], 'several', 'CONSUMER', {}, async () => undefined);
  await stop();
  collector.close();
  const byName = (name: string) => collector.spans.find((span) => span.name === name)!;
  expect(['missing', 'conflict', 'defect', 'away'].map((name) => byName(name).status?.code ?? 0)).toEqual([0, 0, 2, 2]);
  for (const name of ['missing', 'away']) {
    expect(byName(name).traceId).toBe(traceIdOf(request));
    expect(byName(name).attributes).toContainEqual({ key: 'truckroll.request_id', value: { stringValue: requestId } });
  }
  expect([byName('one').traceId, byName('one').parentSpanId]).toEqual([traceparent.slice(3, 35), traceparent.slice(36, 52)]);
  expect(byName('several').traceId).not.toBe(traceparent.slice(3, 35));
  expect(byName('several').links).toEqual([expect.objectContaining({ traceId: traceparent.slice(3, 35) })]);
});

test('work on behalf of a request is in its trace, not in that of the request that started the work, and work on behalf of none is in neither', async () => {
  const collector = await startCollector();
  process.env['OTEL_TRACES_SAMPLER'] = 'parentbased_always_off';
  const stop = await startTracing('trial', { otlpEndpoint: collector.url }, silentLog);
  const nothing = async () => undefined;
  const others: unknown[] = [];
  await onBehalfOf({ requestId, traceparent }, () =>
    withSpan('starter', 'SERVER', {}, async () => {
      await onBehalfOf({ requestId: randomUUID(), traceparent: other('01') }, () => withSpan('sampled', 'CLIENT', {}, nothing));
      await onBehalfOf({ requestId: randomUUID(), traceparent: other('00') }, () => withSpan('not sampled', 'CLIENT', {}, nothing));
      await onBehalfOf(undefined, () => withSpan('none', 'CLIENT', {}, async () => void others.push(activeTraceparent())));
    }),
  );
  await stop();
  collector.close();
  process.env['OTEL_TRACES_SAMPLER'] = 'parentbased_always_on';
  expect(collector.spans.map(({ name, traceId, parentSpanId }) => [name, traceId, parentSpanId])).toEqual([
    ['sampled', OTHER, traceparent.slice(36, 52)],
    ['starter', traceparent.slice(3, 35), traceparent.slice(36, 52)],
  ]);
  expect(others).toEqual([expect.stringMatching(/^00-(?!0af76519)[0-9a-f]{32}-[0-9a-f]{16}-00$/)]);
});

test('one trace leads from the caller over gRPC to the SQL statement', async () => {
  const collector = await startCollector();
  const stop = await startTracing('trial', { otlpEndpoint: collector.url }, silentLog);
  const server = await freshDatabase({});
  const database = new Database({ url: server.url });
  const echo = await startEcho({
    say: async (word) => {
      await database.query({ name: 'one', text: 'select 1' });
      return word;
    },
  });
  await withSpan('request', 'SERVER', {}, () => echo.client.say({ text: 'x' }));
  await echo.stop();
  await database.close();
  await server.drop();
  await stop();
  collector.close();
  const byName = (name: string, kind: number) => collector.spans.find((span) => span.name === name && span.kind === kind)!;
  const chain = [byName('request', 2), byName('/test.Echo/Say', 3), byName('/test.Echo/Say', 2), byName('sql one', 3)];
  expect(new Set(chain.map((span) => span.traceId)).size).toBe(1);
  expect(chain.slice(1).map((span) => span.parentSpanId)).toEqual(chain.slice(0, -1).map((span) => span.spanId));
});
