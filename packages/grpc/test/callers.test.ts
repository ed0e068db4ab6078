import { ApiError, isRefusedCaller } from '@truckroll/contract';
import { createLog } from '@truckroll/telemetry';
import {
  acceptanceOf,
  newCallCredential,
  newOperatorCredential,
  openChannel,
  parseCallerCredentials,
  type CallCredential,
  type CallerCheck,
} from '../src/index.ts';
import { EchoService, collect, startEcho, thrown, words, type EchoHandlers } from './echo.ts';

const gateway = newCallCredential('gateway');
const dispatcher = newCallCredential('webhook-dispatcher');
const accepted = parseCallerCredentials([gateway, dispatcher].map(acceptanceOf).join())!;
const onlyGateway = () => new Set(['gateway'] as const);
const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(check: Partial<CallerCheck> = {}, own: Partial<EchoHandlers> = {}) {
  const lines: string[] = [];
  const log = createLog('test', 'warn', { write: (line) => lines.push(line) });
  const echo = await startEcho(own, 0, log, { accepted, mayCall: onlyGateway, ...check });
  open.push(() => echo.stop());
  return {
    echo,
    lines: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    as(...credentials: CallCredential[]) {
      const channel = openChannel(`127.0.0.1:${echo.port}`, { credentials });
      open.push(() => channel.close());
      return channel.client(EchoService);
    },
  };
}

const codeOf = async (promise: Promise<unknown>) => ((await thrown(promise))?.cause as { code?: number } | undefined)?.code;
const UNAUTHENTICATED = 16;
const PERMISSION_DENIED = 7;

test.each([
  ['no credential', [], 'unknown', UNAUTHENTICATED, 'no credential'],
  ['a credential that was never given out', [newCallCredential('gateway')], 'gateway', UNAUTHENTICATED, 'wrong credential'],
  [
    'a right secret under another name',
    [{ caller: 'gateway', text: dispatcher.text.replace('webhook-dispatcher.', 'gateway.') }],
    'gateway',
    UNAUTHENTICATED,
    'wrong credential',
  ],
  ['an unknown name', [{ caller: 'gateway', text: gateway.text.replace('gateway.', 'root.') }], 'unknown', UNAUTHENTICATED, 'wrong credential'],
  ['the credential of a component that may not call it', [dispatcher], 'webhook-dispatcher', PERMISSION_DENIED, 'not allowed'],
] as [string, CallCredential[], string, number, string][])(
  'with %s nothing is served, and the log line and metric name the caller and rpc',
  async (_, credentials, claimed, code, reason) => {
    let served = 0;
    const { as, lines, echo } = await start({}, { say: (word) => ((served += 1), word) });
    const client = as(...credentials);
    expect(await codeOf(client.say({ text: 'x' }))).toBe(code);
    expect(await codeOf(collect(client.split({ text: 'a b' })))).toBe(code);
    expect(await codeOf(collect(client.each(words('a', 'b'))))).toBe(code);
    expect(served).toBe(0);
    expect(lines()).toMatchObject(
      ['Say', 'Split', 'Each'].map((rpc) => ({
        level: 'warn',
        caller: claimed,
        method: `/test.Echo/${rpc}`,
        reason,
        peer: expect.stringContaining('127.0.0.1') as string,
      })),
    );
    const { body } = await echo.metrics.render();
    expect(body).toMatch(new RegExp(`grpc_server_refused_total{caller="${claimed}",method="/test.Echo/Say",reason="${reason}",component="echo"} 1`));
    for (const { text } of [...credentials, gateway, dispatcher]) {
      const secret = text.slice(text.indexOf('.') + 1);
      expect(JSON.stringify(lines()) + body).not.toContain(secret);
    }
  },
);

test('callers see a refusal as a 503, never as a 401 or 403, because the installation is at fault', async () => {
  const { as } = await start();
  const refusal = await thrown(as(dispatcher).say({ text: 'x' }));
  expect(refusal).toMatchObject({ status: 503, retryAfterSeconds: expect.any(Number) });
  expect(isRefusedCaller(refusal)).toBe(true);
  expect(isRefusedCaller(ApiError.unavailable(new Error('away')))).toBe(false);
});

test('a refusal says who may not call which rpc, or what is missing', async () => {
  const { as } = await start();
  const refusals = await Promise.all([as(dispatcher), as()].map((client) => thrown(client.say({ text: 'x' }))));
  expect(refusals.map((refusal) => (refusal!.cause as { details?: string }).details)).toEqual([
    'webhook-dispatcher may not call /test.Echo/Say',
    '/test.Echo/Say needs the credential of a component that may call it',
  ]);
});

test('a call is refused before its message is read', async () => {
  const { as, echo } = await start();
  expect(await codeOf(as().say({ text: 'x'.repeat(15_000_000) }))).toBe(UNAUTHENTICATED);
  expect((await echo.metrics.render()).body).not.toContain('rpc_server_call_duration_seconds_count');
});

describe('operators', () => {
  const onlyOperator = () => new Set(['operator'] as const);
  const ana = newOperatorCredential('ana');
  const unnamed = newCallCredential('operator');

  async function namesSeen(check: Partial<CallerCheck>, ...credentials: CallCredential[]): Promise<(string | undefined)[]> {
    const seen: (string | undefined)[] = [];
    const { as } = await start({ mayCall: onlyOperator, ...check }, { say: (word, context) => (seen.push(context.operator), word) });
    for (const credential of credentials) await thrown(as(credential).say({ text: 'x' }));
    return seen;
  }

  test('passes the name in a credential to the handler only if the credential is proven', async () => {
    const both = parseCallerCredentials([ana, unnamed].map(acceptanceOf).join())!;
    expect(await namesSeen({ accepted: both }, ana, unnamed, newOperatorCredential('ana'))).toEqual(['ana', 'operator']);
  });

  test('ignores a name that a caller sends as metadata', async () => {
    const seen: (string | undefined)[] = [];
    const check = { accepted: parseCallerCredentials(acceptanceOf(unnamed))!, mayCall: onlyOperator };
    const { as } = await start(check, { say: (word, context) => (seen.push(context.operator), word) });
    await as(unnamed).say({ text: 'x' }, { metadata: { 'truckroll-operator': 'ana' } });
    expect(seen).toEqual(['operator']);
  });

  test("records each operator's call before serving it, and fails a call that it cannot record", async () => {
    const seen: string[] = [];
    const { as, echo } = await start(
      { accepted: parseCallerCredentials([gateway, ana].map(acceptanceOf).join())!, mayCall: () => new Set(['gateway', 'operator']) },
      { say: (word) => (seen.push(`served ${word.text}`), word) },
    );
    echo.server.recordOperators(async (rpc, request) => {
      await new Promise(setImmediate);
      const { text } = (request ?? { text: 'a stream' }) as { text: string };
      if (text === 'unlucky') throw new Error('the database is away');
      seen.push(`recorded ${rpc} with ${text}`);
    });
    await as(ana).say({ text: 'a' });
    await collect(as(ana).split({ text: 'b' }));
    expect(await collect(as(ana).each(words('c', 'd')))).toEqual(['C', 'D']);
    await as(gateway).say({ text: 'e' });
    await thrown(as(ana).say({ text: 'unlucky' }));
    await thrown(collect(as(ana).split({ text: 'unlucky' })));
    expect(seen).toEqual([
      'recorded /test.Echo/Say with a',
      'served a',
      'recorded /test.Echo/Split with b',
      'recorded /test.Echo/Each with a stream',
      'served e',
    ]);
  });
});

test('an rpc without callers in the contract is not served to any caller', async () => {
  const { as } = await start({ mayCall: undefined });
  expect(await codeOf(as(gateway).say({ text: 'x' }))).toBe(PERMISSION_DENIED);
});

test('only the health service is open to every caller', async () => {
  const { echo } = await start();
  const channel = openChannel(`127.0.0.1:${echo.port}`);
  open.push(() => channel.close());
  expect((await channel.call('/grpc.health.v1.Health/Check', Buffer.alloc(0))).length).toBeGreaterThan(0);
});

test('refusals of a caller are logged once a second for each rpc and reason', async () => {
  const { as, lines } = await start();
  const [unnamed, wrong] = [as(), as(newCallCredential('gateway'))];
  const clock = jest.spyOn(performance, 'now');
  const at = performance.now();
  try {
    for (const ms of [0, 999, 1000, 1999]) {
      clock.mockReturnValue(at + ms);
      for (const client of [unnamed, wrong]) await thrown(client.say({ text: 'x' }));
    }
  } finally {
    clock.mockRestore();
  }
  expect(lines().map(({ caller, reason }) => `${String(caller)} ${String(reason)}`)).toEqual([
    'unknown no credential',
    'gateway wrong credential',
    'unknown no credential',
    'gateway wrong credential',
  ]);
});
