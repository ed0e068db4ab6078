// What a company is charged for requests that no operation has handled.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError, type Operation } from '@truckroll/contract';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { Baseline, Limiter } from '../src/admission/limiter.ts';
import { HeldCallers } from '../src/auth/held-callers.ts';
import { Strangers } from '../src/auth/strangers.ts';
import { createRequestLog } from '../src/http/request-log.ts';
import { createApi } from '../src/routes/api.ts';
import type { CompiledOperation, Held } from '../src/routes/operation.ts';
import { request } from './support/gateway.ts';
import { standInIdentities } from './support/stand-ins.ts';

/** Milliseconds that a check of these tests takes. */
const SLOW_MS = 20;
const POST = { route: '/v1/unknown', verb: 'POST' } as Operation;

const compile = (operation: Operation): CompiledOperation =>
  ({
    operation,
    limitClass: 'writes',
    headers: [],
    checkAccess() {
      for (const since = performance.now(); performance.now() - since < SLOW_MS; );
      throw new ApiError('UNAUTHENTICATED', 'Not with a key.');
    },
  }) as unknown as CompiledOperation;

/** An operation that every caller may use. */
const handledBy =
  (handle: CompiledOperation['handle']): typeof compile =>
  (operation) => ({ ...compile(operation), baseline: new Baseline(), checkAccess: () => undefined, handle });

test.each<[string, { method?: string; operations?: readonly Operation[]; exceeded?: boolean }, number, number]>([
  ['to an unknown path', {}, 404, 0],
  ['by a method that the path lacks', { operations: [POST] }, 405, 0],
  ['beyond its limit', { exceeded: true }, 429, 0],
  ['with a credential that the operation refuses, by the time that this took', { operations: [POST], method: 'POST' }, 401, SLOW_MS],
])('charges a company once for a request %s', async (_, { method = 'GET', operations = [], exceeded = false }, status, atLeast) => {
  const charges: [string, number][] = [];
  const api = await serve({ operations, compile, exceeded });
  api.limiter.charge = (company, milliseconds) => void charges.push([company, milliseconds]);
  expect((await request(api.url, { method })).status).toBe(status);
  expect(charges).toEqual([[api.companyId, expect.any(Number)]]);
  expect(charges[0]![1]).toBeGreaterThanOrEqual(atLeast);
  await api.stop();
});

describe('the order of the checks of a request', () => {
  /** What happened to a request of a company that is over its limit, or fills the queue, or has no access. */
  async function checked({ sheds = false, exceeded = false }, operation = POST) {
    let looked = 0;
    const refusing = (of: Operation): CompiledOperation => ({
      ...compile(of),
      checkAccess() {
        looked += 1;
        throw new ApiError('UNAUTHENTICATED', 'Not with a key.');
      },
    });
    const api = await serve({ operations: [operation], compile: refusing, exceeded });
    if (sheds) api.limiter.sheds = () => true;
    const { status } = await request(api.url, { method: operation.verb });
    await api.stop();
    return { status, counted: api.counted.length, looked, shed: api.noted.shed };
  }
  const LIST = { ...POST, verb: 'GET', kind: 'list' } as Operation;

  test.each([
    ['of the router', POST],
    ['of the fast path', LIST],
  ])('sheds before it counts, counts before it looks at the access, in an operation %s', async (_, operation) => {
    expect(await checked({ sheds: true, exceeded: true }, operation)).toEqual({ status: 429, counted: 0, looked: 0, shed: 1 });
    expect(await checked({ exceeded: true }, operation)).toEqual({ status: 429, counted: 1, looked: 0, shed: 0 });
    expect(await checked({}, operation)).toEqual({ status: 401, counted: 1, looked: 1, shed: 0 });
  });
});

test('answers a shed request without the delay of requests beyond a limit, and charges its company as for a request', async () => {
  const real = globalThis.setTimeout;
  const delayed: (() => void)[] = [];
  const api = await serve({ operations: [POST], compile });
  // With a delay, the answer would not come. Other timers of this worker that last as long end late.
  const timers = jest.spyOn(globalThis, 'setTimeout').mockImplementation(((work: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => {
    if (ms !== 100) return real(work, ms, ...given);
    delayed.push(() => work(...given));
    return real(() => undefined);
  }) as typeof setTimeout);
  const charged: string[] = [];
  api.limiter.sheds = () => true;
  api.limiter.chargeShed = (company) => void charged.push(`shed ${company}`);
  api.limiter.charge = (company) => void charged.push(company);
  try {
    expect((await request(api.url, { method: 'POST' })).status).toBe(429);
    expect(charged).toEqual([`shed ${api.companyId}`]);
  } finally {
    timers.mockRestore();
    for (const work of delayed) work();
    await api.stop();
  }
});

test('charges nothing more for a request that had a slot, also if it failed', async () => {
  const api = await serve({ operations: [POST], compile: handledBy(() => Promise.reject(ApiError.notFound())) });
  const charged: string[] = [];
  api.limiter.charge = (company) => void charged.push(company);
  expect((await request(api.url, { method: 'POST' })).status).toBe(404);
  expect([charged, api.left]).toEqual([[], [false]]);
  await api.stop();
});

test.each([
  [200, true],
  [399, true],
  [400, false],
])('compares the latency of an answer with %i with others of its operation: %s', async (status, isRight) => {
  const api = await serve({ operations: [POST], compile: handledBy(async ({ res }) => void res.writeHead(status).end()) });
  expect((await request(api.url, { method: 'POST' })).status).toBe(status);
  expect(api.left).toEqual([isRight]);
  await api.stop();
});

test('counts a request once, for the class of the operation that answers it, and no step follows the answer', async () => {
  const api = await serve({ operations: [POST], compile: handledBy(async ({ res }) => void res.end()) });
  expect((await request(api.url, { method: 'POST' })).status).toBe(200);
  // What Express calls after the answer, it calls in the same turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(api.counted).toEqual(['writes']);
  await api.stop();
});

test('a request that was held, and then has no answer after all, takes a slot again to go on', async () => {
  const held: Held = { over: Promise.resolve(() => Promise.resolve(false as const)), again: () => Promise.reject(ApiError.notFound()) };
  const api = await serve({ operations: [POST], compile: handledBy(async () => held) });
  expect((await request(api.url, { method: 'POST' })).status).toBe(404);
  expect(api.left).toHaveLength(2);
  await api.stop();
});

test('a request holds the slots that its operation says', async () => {
  const weighed: typeof compile = (operation) => ({ ...handledBy(async ({ res }) => void res.end())(operation), weight: 0.25 });
  const api = await serve({ operations: [POST], compile: weighed });
  const enter = api.limiter.enter.bind(api.limiter);
  const weights: unknown[] = [];
  api.limiter.enter = (company, weight) => (weights.push(weight), enter(company, weight));
  await request(api.url, { method: 'POST' });
  expect(weights).toEqual([0.25]);
  await api.stop();
});

async function serve({ operations, compile: of, exceeded = false }: { operations: readonly Operation[]; compile: typeof compile; exceeded?: boolean }) {
  const metrics = createMetrics('test');
  const identities = await standInIdentities();
  const { principal } = identities.addKey();
  const limiter = new Limiter();
  /** Whether the latency of each request that had a slot counts. */
  const left: boolean[] = [];
  const leave = limiter.leave.bind(limiter);
  limiter.leave = (call, baseline, isRight) => {
    left.push(isRight);
    leave(call, baseline, isRight);
  };
  const counted: string[] = [];
  const noted = { shed: 0 };
  const draining = { active: false };
  const authentication = { authenticate: () => principal, known: () => undefined, again: () => principal, renew: async () => principal, endOf: () => ({}) };
  const api = createApi({
    authentication,
    heldCallers: new HeldCallers(authentication),
    strangers: new Strangers({ perMinute: 60, metrics }),
    limits: {
      consume(_principal, limitClass) {
        counted.push(limitClass);
        return { policy: 'default', quota: 9, remaining: 8, resetSeconds: 60, ofCompany: false, exceeded };
      },
    },
    keyUses: { note: () => undefined },
    limiter,
    noteShed: () => void (noted.shed += 1),
    operations,
    compile: of,
    cors: undefined,
    preflights: (_req, _res, next) => next(),
    publicPages: (_req, _res, next) => next(),
    mcp: { path: '/mcp', challenge: 'Bearer', serve: () => () => undefined },
    requestLog: createRequestLog(silentLog, metrics),
    draining,
    trustedProxies: [],
  });
  const server = createServer(api).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/unknown`,
    companyId: principal.company_id,
    limiter,
    left,
    counted,
    noted,
    async stop() {
      server.close();
      server.closeAllConnections();
      await identities.stop();
    },
  };
}
