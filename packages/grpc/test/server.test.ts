// What a server logs, answers health checks, and does with calls that do not end.
import { EventEmitter, once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import { ApiError } from '@truckroll/contract';
import { createLog, createMetrics } from '@truckroll/telemetry';
import { testCallers } from '@truckroll/testing';
import { createGrpcServer, newCallCredential, newOperatorCredential, acceptanceOf, openChannel, parseCallerCredentials } from '../src/index.ts';
import { addHealth } from '../src/health-check.ts';
import { DEFAULT_DEADLINE_MS } from '../src/options.ts';
import { EchoService, collect, startEcho } from './echo.ts';

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(...args: Parameters<typeof startEcho>) {
  const echo = await startEcho(...args);
  ends.push(() => echo.stop());
  return echo;
}

async function sessionWith(port: number): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`);
  ends.push(() => session.destroy());
  await once(session, 'connect');
  return session;
}

function linesOf(level: 'debug' | 'info') {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: createLog('test', level, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }) };
}

test.each(['answered', 'refused', 'left'])('says when a call that is %s has closed, also to a handler that asks later', async (how) => {
  const [asked, again] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const leaving = new AbortController();
  const { client } = await start({
    async say(word, context) {
      context.onClosed(() => (asked.resolve(), context.onClosed(again.resolve)));
      if (how === 'refused') throw ApiError.notFound();
      if (how === 'left') leaving.abort();
      if (how === 'left') await again.promise;
      return word;
    },
  });
  await client.say({ text: 'a' }, { signal: leaving.signal }).catch(() => undefined);
  await Promise.all([asked.promise, again.promise]);
});

describe('the log', () => {
  test('warns of a dependency that is unavailable, and mentions refusals only for debugging', async () => {
    const { lines, log } = linesOf('debug');
    const { client } = await start(
      {
        say: ({ text }) => {
          throw text === 'away' ? ApiError.unavailable(new Error('PostgreSQL is away')) : ApiError.notFound();
        },
      },
      0,
      log,
    );
    for (const text of ['away', 'missing']) await client.say({ text }).catch(() => undefined);
    expect(lines.map(({ level, msg, method }) => [level, msg, method])).toEqual([
      ['warn', 'a call failed because a dependency is unavailable', '/test.Echo/Say'],
      ['debug', 'a call was refused', '/test.Echo/Say'],
    ]);
  });

  test('has each call of a public write and each rpc that operators may call, however the call is made', async () => {
    const { lines, log } = linesOf('info');
    const ana = newOperatorCredential('ana');
    const gateway = newCallCredential('gateway');
    const write = { ...EchoService.say, path: '/truckroll.scheduling.v1.AssignmentCommandService/AddAssignment' };
    const metrics = createMetrics('test');
    const mayCall = (rpc: string) => new Set(rpc.endsWith('/Split') ? (['operator', 'gateway'] as const) : (['gateway'] as const));
    const server = createGrpcServer({ log, metrics, callers: { accepted: parseCallerCredentials([gateway, ana].map(acceptanceOf).join())!, mayCall } });
    server.implement(
      { say: EchoService.say, split: EchoService.split },
      {
        say: (word) => word,
        split: async function* (word) {
          yield word;
        },
      },
    );
    server.implement({ write }, { write: (word) => word });
    const port = await server.listen(0, '127.0.0.1');
    ends.push(() => server.drain(100));
    const as = (credential: typeof ana) => {
      const channel = openChannel(`127.0.0.1:${port}`, { credentials: [credential] });
      ends.push(() => channel.close());
      return channel;
    };
    await as(gateway).client(EchoService).say({ text: 'a read' });
    await as(gateway).client({ write }).write({ text: 'a write' });
    for (const credential of [gateway, ana]) await collect(as(credential).client(EchoService).split({ text: 'x' }));
    const line = (method: string) => ({ level: 'info', msg: 'served a call', method, ms: expect.any(Number) as number });
    expect(lines).toMatchObject([line(write.path), line('/test.Echo/Split'), line('/test.Echo/Split')]);
  });
});

describe('the health service', () => {
  /** As the standard encodes the name of a service. */
  const named = (name: string): Buffer => Buffer.concat([Buffer.from([0x0a, name.length]), Buffer.from(name)]);
  const Health = {
    watch: {
      path: '/grpc.health.v1.Health/Watch',
      requestStream: false,
      responseStream: true,
      requestSerialize: (name: string) => (name === '' ? Buffer.alloc(0) : named(name)),
      requestDeserialize: (bytes: Buffer) => bytes.toString(),
      responseSerialize: (value: number) => Buffer.from([8, value]),
      responseDeserialize: (bytes: Buffer) => bytes[1]!,
    },
  } as const;

  test('sends a watcher the status at once and after each change, and nothing while it stays the same', async () => {
    const { server, channel } = await start();
    const statuses = channel.client(Health).watch('')[Symbol.asyncIterator]();
    const next = async () => (await statuses.next()).value;
    expect(await next()).toBe(2);
    server.setServing(false);
    server.setServing(true);
    server.setServing(true);
    expect(await next()).toBe(1);
    server.setServing(false);
    expect(await next()).toBe(2);
    await statuses.return?.(undefined);
    server.setServing(true);
    const later = channel.client(Health).watch('')[Symbol.asyncIterator]();
    expect((await later.next()).value).toBe(1);
    await later.return?.(undefined);
  });

  test('writes nothing to a watcher that has left', () => {
    type Watch = (call: EventEmitter) => void;
    let watch: Watch | undefined;
    const addService = (_: unknown, implementation: { watch: Watch }): void => void ({ watch } = implementation);
    const health = addHealth({ addService } as unknown as Parameters<typeof addHealth>[0]);
    const written: [string, unknown][] = [];
    const watching = (name: string) =>
      Object.assign(new EventEmitter(), { request: { value: '' }, write: (status: unknown) => void written.push([name, status]) });
    const [left, stays] = [watching('left'), watching('stays')];
    for (const call of [left, stays]) watch!(call);
    left.emit('cancelled');
    health.setServing(true);
    expect(written).toEqual([
      ['left', 2],
      ['stays', 2],
      ['stays', 1],
    ]);
  });

  test('knows the whole server only: it answers a watcher of anything else that it is unknown, and a check with NOT_FOUND', async () => {
    const { channel } = await start();
    const statuses = channel.client(Health).watch('billing')[Symbol.asyncIterator]();
    expect((await statuses.next()).value).toBe(3);
    await statuses.return?.(undefined);
    const check = channel.call('/grpc.health.v1.Health/Check', named('billing'));
    await expect(check).rejects.toMatchObject({ cause: { code: 5, details: 'there is no health of billing alone: ask for the server, by an empty name' } });
  });
});

test('ends a call without a deadline after the usual time', async () => {
  const never = new Promise<never>(() => undefined);
  const { port } = await start({ say: () => never });
  const session = await sessionWith(port);
  const timers = jest.spyOn(globalThis, 'setTimeout');
  try {
    const call = session.request({
      ':method': 'POST',
      ':path': '/test.Echo/Say',
      'content-type': 'application/grpc',
      te: 'trailers',
      'truckroll-credential': testCallers[0]!.text,
    });
    const ended = Promise.race([
      once(call, 'trailers'),
      once(call, 'response').then(async (head) => ('grpc-status' in head[0] ? head : once(call, 'trailers'))),
    ]);
    call.end(Buffer.from([0, 0, 0, 0, 1, 'x'.charCodeAt(0)]));
    const usual = () => timers.mock.calls.filter(([, ms]) => ms === DEFAULT_DEADLINE_MS);
    while (usual().length === 0) await new Promise(setImmediate);
    const began = timers.mock.results[timers.mock.calls.findIndex(([, ms]) => ms === DEFAULT_DEADLINE_MS)]!.value as NodeJS.Timeout;
    clearTimeout(began);
    for (const [late] of usual()) late();
    expect((await ended)[0]).toMatchObject({ 'grpc-status': '4' });
  } finally {
    timers.mockRestore();
  }
});

test('makes its clients reconnect elsewhere as soon as it drains, and still serves during the delay', async () => {
  const { server, port } = await start();
  const session = await sessionWith(port);
  const goaway = once(session, 'goaway');
  const gone = server.drain(100, 1000);
  await goaway;
  const channel = openChannel(`127.0.0.1:${port}`, { credentials: testCallers.slice(0, 1) });
  expect(await channel.client(EchoService).say({ text: 'still here' })).toEqual({ text: 'still here' });
  channel.close();
  await gone;
});
