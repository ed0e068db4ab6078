// How the gateway calls the services: what it repeats, what it passes on, and what happens when a client leaves.
import { EventEmitter } from 'node:events';
import { ApiError } from '@truckroll/contract';
import { createGrpcServer, type Handlers } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { openProxy, testConfig } from '@truckroll/testing';
import { gatewayConfig } from '../src/config.ts';
import type { Exchange } from '../src/http/exchange.ts';
import { ClientGone, connectCells } from '../src/services.ts';
import { REQUIRED } from './support/gateway.ts';
import { operation } from './support/operation.ts';

const REQUEST = '6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c11';
const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const asIs = (bytes: Buffer): Buffer => bytes;
const bytes = { requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs };

type Serve = Handlers<ReturnType<typeof definitionOf>>['serve'];
const definitionOf = (path: string) => ({ serve: { path, requestStream: false, responseStream: false, ...bytes } }) as const;

/** A service behind a proxy that serves one operation, and how the gateway calls it. */
async function serving(name: string, serve: Serve, environment: Record<string, string> = {}) {
  const of = operation(name);
  const server = createGrpcServer({
    log: silentLog,
    metrics: createMetrics('test'),
    callers: { accepted: testConfig.callerCredentials, mayCall: () => new Set(['gateway'] as const) },
  });
  server.implement(definitionOf(of.rpc), { serve });
  const proxy = await openProxy({ host: '127.0.0.1', port: await server.listen(0, '127.0.0.1') });
  const config = gatewayConfig({ ...REQUIRED, [`${of.owner.toUpperCase()}_ADDRESS`]: `127.0.0.1:${proxy.port}`, ...environment });
  const services = connectCells(config, createMetrics('test')).get(undefined)!;
  ends.push(
    () => server.drain(100),
    () => proxy.close(),
    () => services.close(),
  );
  await services.channels[of.owner].check(5000);
  const res = new EventEmitter();
  const call = services.call(of);
  return { proxy, res, call: () => call(Buffer.from('request'), { requestId: REQUEST, res } as unknown as Exchange) };
}

test.each([
  ['a read', 'ListInvoices', 2],
  ['a write with an idempotency key', 'AddAssignment', 2],
  ['any other write', 'DeleteApiKey', 1],
])('sends %s (%s) %i times if its connection drops before the answer', async (_, name, times) => {
  let served = 0;
  const scene = await serving(name, () => {
    served += 1;
    if (served > 1) return Buffer.from('answer');
    scene.proxy.drop();
    return new Promise<never>(() => undefined);
  });
  const answer = await scene.call().then(
    (found) => found.bytes.toString(),
    (error: unknown) => (error as ApiError).status,
  );
  expect([answer, served]).toEqual([times === 2 ? 'answer' : 503, times]);
});

test.each([
  ['ListInvoices', undefined],
  ['AddAssignment', '201'],
])('passes on the request and its id; the metadata of the answer of %s is %s', async (name, status) => {
  const received: string[] = [];
  const { call } = await serving(name, (request, context) => {
    received.push(request.toString(), context.requestId);
    context.sendMetadata({ 'http-status': '201' });
    return Buffer.from('answer');
  });
  const { bytes: answer, metadata } = await call();
  expect([answer.toString(), metadata?.('http-status'), received]).toEqual(['answer', status, ['request', REQUEST]]);
});

test('gives up after the deadline of calls', async () => {
  const { call } = await serving('ListInvoices', () => new Promise<never>(() => undefined), { CALL_DEADLINE: '100ms' });
  await expect(call()).rejects.toMatchObject({ status: 503 });
});

test('cancels the call of a client that leaves, whatever the service answers', async () => {
  const begun = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const { call, res } = await serving('AddAssignment', (_, { signal }) => {
    signal.addEventListener('abort', () => cancelled.resolve());
    begun.resolve();
    return new Promise<never>(() => undefined);
  });
  const called = call();
  await begun.promise;
  res.emit('close');
  await expect(called).rejects.toBeInstanceOf(ClientGone);
  await cancelled.promise;
});

test.each([
  ['an answer', () => Buffer.from('answer')],
  ['a refusal', () => Promise.reject(ApiError.notFound())],
] as [string, Serve][])('listens no longer to the client after %s', async (_, serve) => {
  const { call, res } = await serving('ListInvoices', serve);
  const called = call();
  expect(res.listenerCount('close')).toBe(1);
  await called.catch(() => undefined);
  expect(res.listenerCount('close')).toBe(0);
});

test('rejects with the error of the service', async () => {
  const { call } = await serving('ListInvoices', () => Promise.reject(ApiError.unavailable(new Error('away'), 9)));
  await expect(call()).rejects.toMatchObject({ status: 503, retryAfterSeconds: 9 });
});
