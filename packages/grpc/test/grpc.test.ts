import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { ApiError } from '@truckroll/contract';
import { createLog, createMetrics, silentLog } from '@truckroll/telemetry';
import { laterNames, openProxy, testCallers, testConfig } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { createGrpcServer, openChannel } from '../src/index.ts';
import { EchoService, collect, deferred, echoCallers, startEcho, thrown, words } from './echo.ts';

const REQUEST = '6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c11';

type Echo = Awaited<ReturnType<typeof startEcho>>;
const started: Echo[] = [];
const start = async (...args: Parameters<typeof startEcho>): Promise<Echo> => {
  const echo = await startEcho(...args);
  started.push(echo);
  return echo;
};
afterEach(() => Promise.all(started.splice(0).map((echo) => echo.stop())));

const isServing = async (echo: Echo) => [...(await echo.channel.call('/grpc.health.v1.Health/Check', Buffer.alloc(0)))];
const SERVING = [8, 1];
const NOT_SERVING = [8, 2];

test('each of the three kinds of call carries messages both ways', async () => {
  const { client } = await start();
  expect(await client.say({ text: 'hello' })).toEqual({ text: 'hello' });
  expect(await collect(client.split({ text: 'a b c' }))).toEqual(['a', 'b', 'c']);
  expect(await collect(client.each(words('a', 'b')))).toEqual(['A', 'B']);
});

test('a handler may answer with bytes, and a caller may request bytes', async () => {
  const { client, channel } = await start({ say: (word) => Buffer.from(`<${word.text}>`) });
  expect(await client.say({ text: 'x' })).toEqual({ text: '<x>' });
  expect((await channel.call('/test.Echo/Say', Buffer.from('y'))).toString()).toBe('<y>');
});

test('a call has one answer: none and two of them are errors', async () => {
  const message = Buffer.from([0, 0, 0, 0, 1, 'x'.charCodeAt(0)]);
  const server = createServer();
  server.on('stream', (stream, { ':path': path }) => {
    stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.concat(Array.from({ length: Number(path?.slice(-1)) }, () => message)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const channel = openChannel(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    await channel.check(5000);
    expect((await channel.call('/answers/1', Buffer.alloc(0))).toString()).toBe('x');
    for (const count of [0, 2]) await expect(channel.call(`/answers/${count}`, Buffer.alloc(0))).rejects.toBeInstanceOf(ApiError);
  } finally {
    channel.close();
    server.close();
  }
});

test('an error arrives unchanged, with details and Retry-After', async () => {
  const detail = { location: 'query', field: 'limit', code: 'OUT_OF_RANGE', message: 'at most 200' } as const;
  const { client } = await start({
    say: ({ text }) => {
      throw text === 'bad' ? ApiError.invalid([detail]) : ApiError.unavailable(new Error('secret'), 7);
    },
  });
  expect(await thrown(client.say({ text: 'bad' }))).toMatchObject({ code: 'INVALID_REQUEST', status: 400, details: [detail] });
  const away = await thrown(client.say({ text: 'away' }));
  expect(away).toMatchObject({ code: 'INTERNAL_ERROR', status: 503, retryAfterSeconds: 7 });
  expect(away?.message).not.toMatch(/secret/);
});

test.each(['say', 'split', 'each'] as const)('a defect in %s is a 500 that reveals nothing, and is logged with its request id', async (name) => {
  const lines: string[] = [];
  const log = createLog('test', 'error', { write: (line) => lines.push(line) });
  const broken = () => {
    throw new TypeError('select secret from table');
  };
  const { client } = await start({ [name]: broken }, 0, log);
  const options = { requestId: REQUEST };
  const calls = {
    say: () => client.say({ text: '' }, options),
    split: () => collect(client.split({ text: '' }, options)),
    each: () => collect(client.each(words('a'), options)),
  };
  const error = await thrown(calls[name]());
  expect(error).toMatchObject({ code: 'INTERNAL_ERROR', status: 500 });
  expect(error?.message).not.toMatch(/secret/);
  expect(JSON.parse(lines[0]!)).toMatchObject({ requestId: REQUEST, error: { message: 'select secret from table' } });
});

test('a stream that fails half-way delivers the earlier messages and then the error', async () => {
  const { client } = await start({
    async *split() {
      yield { text: 'one' };
      throw ApiError.notFound();
    },
  });
  const seen: string[] = [];
  const read = async () => {
    for await (const word of client.split({ text: '' })) seen.push(word.text);
  };
  expect(await thrown(read())).toMatchObject({ status: 404 });
  expect(seen).toEqual(['one']);
});

test.each(['cancelled', 'too late'] as const)('the work of a call that is %s is aborted', async (how) => {
  const aborted = deferred();
  const begun = deferred();
  const { client } = await start({
    say: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.resolve();
          reject(signal.reason as Error);
        });
        begun.resolve();
      }),
  });
  const abort = new AbortController();
  const call = thrown(client.say({ text: '' }, how === 'cancelled' ? { signal: abort.signal } : { deadlineMs: 100 }));
  await begun.promise;
  abort.abort();
  expect(await call).toMatchObject({ status: 503 });
  await aborted.promise;
});

test('a caller that stops reading a stream stops the handler', async () => {
  const stopped = deferred();
  const { client } = await start({
    async *split() {
      try {
        for (;;) yield { text: 'again'.repeat(1000) };
      } finally {
        stopped.resolve();
      }
    },
  });
  for await (const word of client.split({ text: '' })) {
    expect(word.text).toContain('again');
    break;
  }
  await stopped.promise;
});

test('a stream whose caller has left counts as cancelled, not as failed, whatever its handler throws then', async () => {
  const lines: string[] = [];
  const log = createLog('test', 'error', { write: (line) => lines.push(line) });
  const late = async function* (_: unknown, { signal }: { signal: AbortSignal }) {
    const left = new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield { text: 'one' };
    await left;
    throw new TypeError('too late');
  };
  const { client, metrics } = await start({ split: late }, 0, log);
  for await (const { text } of client.split({ text: '' })) {
    expect(text).toBe('one');
    break;
  }
  const isCounted = async () => /_count\{.*rpc_method="test.Echo\/Split",rpc_response_status_code=/.test((await metrics.render()).body);
  await until('the call to be counted', isCounted);
  expect((await metrics.render()).body).toContain('rpc_method="test.Echo/Split",rpc_response_status_code="CANCELLED"} 1');
  expect(lines).toEqual([]);
});

test('a stream is sent no faster than it is read', async () => {
  let made = 0;
  const text = 'x'.repeat(100_000);
  const { client } = await start({
    async *split() {
      for (; made < 1000; made += 1) yield { text };
    },
  });
  const answers = client.split({ text: '' })[Symbol.asyncIterator]();
  await answers.next();
  // 100 MB in all; the flow-control windows of both sides hold a few.
  expect(made).toBeLessThan(500);
  await answers.return?.(undefined);
});

test('the health service answers NOT_SERVING until setServing is called', async () => {
  const echo = await start();
  expect(await isServing(echo)).toEqual(NOT_SERVING);
  echo.server.setServing(true);
  expect(await isServing(echo)).toEqual(SERVING);
});

test('draining lets a running call finish and refuses new ones', async () => {
  const begun = deferred();
  const release = deferred();
  const echo = await start({
    say: async (word) => {
      begun.resolve();
      await release.promise;
      return word;
    },
  });
  const running = echo.client.say({ text: 'done' });
  await begun.promise;
  const drained = echo.server.drain(5000);
  expect(await thrown(echo.client.say({ text: 'late' }))).toMatchObject({ status: 503, retryAfterSeconds: expect.any(Number) });
  release.resolve();
  expect(await running).toEqual({ text: 'done' });
  await drained;
});

test('draining cuts off calls that take too long', async () => {
  const begun = deferred();
  const echo = await start({
    say: () => {
      begun.resolve();
      return new Promise(() => undefined);
    },
  });
  const running = thrown(echo.client.say({ text: '' }));
  await begun.promise;
  await echo.server.drain(50);
  expect((await running)?.status).toBe(503);
});

test('an unreachable service is a 503, and is used again when it returns', async () => {
  const first = await start();
  expect(await first.client.say({ text: 'a' })).toEqual({ text: 'a' });
  await first.server.drain(100);
  expect(await thrown(first.client.say({ text: 'b' }))).toMatchObject({ code: 'INTERNAL_ERROR', status: 503, retryAfterSeconds: expect.any(Number) });
  await start({}, first.port);
  await first.channel.check(5000);
  expect(await first.client.say({ text: 'c' })).toEqual({ text: 'c' });
});

test('an unknown name is looked up again without a call, so that the first call after it becomes known succeeds', async () => {
  const { port } = await start();
  const [begun, ended] = [jest.spyOn(globalThis, 'setInterval'), jest.spyOn(globalThis, 'clearInterval')];
  const names = laterNames(4);
  const channel = openChannel(`echo.later.test:${port}`, { credentials: testCallers.slice(0, 1) });
  try {
    await expect(channel.client(EchoService).say({ text: 'a' })).rejects.toMatchObject({ status: 503 });
    await names.found;
    expect(await channel.client(EchoService).say({ text: 'a' })).toEqual({ text: 'a' });
    // With a connection, no look-ups follow.
    const lookUps = begun.mock.results.filter((_, index) => begun.mock.calls[index]![1] === 1000).map(({ value }) => value);
    expect(lookUps.length).toBeGreaterThan(0);
    expect(ended.mock.calls.map(([timer]) => timer)).toEqual(expect.arrayContaining(lookUps));
  } finally {
    jest.restoreAllMocks();
    channel.close();
    names.restore();
  }
});

describe('a call whose connection drops before its answer', () => {
  /** A server behind a proxy that drops all connections during each of the first `drops` calls. */
  async function scene(drops: number) {
    const said: string[] = [];
    const echo = await start({
      say: async (word) => {
        said.push(word.text);
        if (said.length > drops) return word;
        proxy.drop();
        return new Promise<never>(() => undefined);
      },
    });
    const proxy = await openProxy({ host: '127.0.0.1', port: echo.port });
    const channel = openChannel(`127.0.0.1:${proxy.port}`, { deadlineMs: 5000, credentials: testCallers.slice(0, 1) });
    await channel.check(5000);
    const say = (options: { repeatable?: boolean } = {}) => channel.client(EchoService).say({ text: 'x' }, options);
    const stop = (): Promise<void> => {
      channel.close();
      return proxy.close();
    };
    return { said, say, stop };
  }

  test('is retried if it is repeatable', async () => {
    const { said, say, stop } = await scene(1);
    expect(await say({ repeatable: true })).toEqual({ text: 'x' });
    expect(said).toHaveLength(2);
    await stop();
  });

  test('is retried only once', async () => {
    const { said, say, stop } = await scene(2);
    expect(await thrown(say({ repeatable: true }))).toMatchObject({ status: 503, retryAfterSeconds: expect.any(Number) });
    expect(said).toHaveLength(2);
    await stop();
  });

  test('is retried only once, however many replicas are connected', async () => {
    const said: number[] = [];
    const proxies = await Promise.all(
      [0, 1].map(async (place) => {
        const echo = await start({
          say: async ({ text }) => {
            if (text === 'who') return { text: String(place) };
            said.push(place);
            proxy.drop();
            return new Promise<never>(() => undefined);
          },
        });
        const proxy = await openProxy({ host: '127.0.0.1', port: echo.port });
        return proxy;
      }),
    );
    const channel = openChannel(`ipv4:${proxies.map(({ port }) => `127.0.0.1:${port}`).join()}`, { deadlineMs: 5000, credentials: testCallers.slice(0, 1) });
    const client = channel.client(EchoService);
    const answering = new Set<string>();
    while (answering.size < 2) answering.add((await client.say({ text: 'who' })).text);
    expect(await thrown(client.say({ text: 'x' }, { repeatable: true }))).toMatchObject({ status: 503 });
    expect(said.toSorted()).toEqual([0, 1]);
    channel.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  });

  test('is a 503 if it may have been done and is not repeatable', async () => {
    const { said, say, stop } = await scene(1);
    expect(await thrown(say())).toMatchObject({ status: 503, retryAfterSeconds: expect.any(Number) });
    expect(said).toHaveLength(1);
    await stop();
  });
});

test('an address where no server listens is a 503', async () => {
  const channel = openChannel('127.0.0.1:1', { deadlineMs: 2000 });
  await expect(channel.call('/test.Echo/Say', Buffer.alloc(0))).rejects.toMatchObject({ status: 503 });
  await expect(channel.check(100)).rejects.toMatchObject({ status: 503 });
  channel.close();
});

test('a service without a handler for one of its rpcs cannot be built', async () => {
  await expect(start({ say: undefined } as never)).rejects.toThrow('/test.Echo/Say has no handler');
});

test('calls are counted by method and code', async () => {
  const { client, metrics } = await start({ say: ({ text }) => (text === 'missing' ? Promise.reject(ApiError.notFound()) : { text }) });
  await client.say({ text: '' });
  await thrown(client.say({ text: 'missing' }));
  const { body } = await metrics.render();
  expect(body).toContain('rpc_server_call_duration_seconds_count{component="echo",rpc_method="test.Echo/Say",rpc_response_status_code="OK"} 1');
  expect(body).toContain('rpc_server_call_duration_seconds_count{component="echo",rpc_method="test.Echo/Say",rpc_response_status_code="NOT_FOUND"} 1');
});

test('no call fails while a server shuts down if the client knows another replica', async () => {
  const leaving = await start();
  const other = await start({ say: () => ({ text: 'other' }) });
  const channel = openChannel(`ipv4:127.0.0.1:${leaving.port},127.0.0.1:${other.port}`, { credentials: testCallers.slice(0, 1) });
  const say = async (from: typeof channel): Promise<string> => (await from.client(EchoService).say({ text: 'leaving' })).text;
  const answering = new Set<string>();
  while (answering.size < 2) answering.add(await say(channel));

  const gone = leaving.server.drain(1000, 500);
  let over = false;
  void gone.then(() => (over = true));
  const answers: string[] = [];
  while (!over) answers.push(await say(channel));
  expect(answers.at(-1)).toBe('other');
  channel.close();
});

test('no call fails while servers make their clients reconnect', async () => {
  const server = createGrpcServer({
    log: silentLog,
    metrics: createMetrics('aging'),
    maxConnectionAgeMs: 50,
    callers: { accepted: testConfig.callerCredentials, mayCall: echoCallers },
  });
  const none = () => {
    throw new Error('not used');
  };
  server.implement(EchoService, { say: (word) => word, split: none, each: none });
  const port = await server.listen(0, '127.0.0.1');
  const channel = openChannel(`127.0.0.1:${port}`, { credentials: testCallers.slice(0, 1) });
  const { say } = channel.client(EchoService);
  const callers = Array.from({ length: 20 }, async () => {
    for (let left = 30; left > 0; left -= 1) await say({ text: 'x' });
  });
  await Promise.all(callers);
  channel.close();
  await server.drain(100);
});
