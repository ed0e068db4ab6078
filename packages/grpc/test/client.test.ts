// What a client sends, counts and leaves behind.
import { getEventListeners, once } from 'node:events';
import { createServer, type Http2Server, type IncomingHttpHeaders } from 'node:http2';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { ApiError } from '@truckroll/contract';
import { createMetrics, onBehalfOf } from '@truckroll/telemetry';
import { testCallers } from '@truckroll/testing';
import { openChannel, type Channel } from '../src/index.ts';
import { EchoService, collect, deferred, startEcho, thrown, words, type EchoHandlers } from './echo.ts';

const REQUEST = '6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c11';
const OTHER = '7f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c11';
const [caller] = testCallers;
const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(own: Partial<EchoHandlers> = {}) {
  const echo = await startEcho(own);
  ends.push(() => echo.stop());
  return echo;
}

function open(port: number, settings: Parameters<typeof openChannel>[1] = {}): Channel {
  const channel = openChannel(`127.0.0.1:${port}`, { credentials: [caller!], ...settings });
  ends.push(() => channel.close());
  return channel;
}

describe('the headers of a call', () => {
  const received: IncomingHttpHeaders[] = [];
  let server: Http2Server;
  let port: number;

  beforeAll(async () => {
    server = createServer();
    server.on('stream', (stream, headers) => {
      received.push(headers);
      stream.respond({ 'content-type': 'application/grpc', 'x-answer': 'metadata' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.from([0, 0, 0, 0, 1, 'x'.charCodeAt(0)]));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => server.close());
  beforeEach(() => void received.splice(0));

  const options = { deadlineMs: 5000, requestId: REQUEST, metadata: { 'x-extra': 'more' } };
  const sent = { ':path': '/test.Echo/Say', ':method': 'POST', 'truckroll-credential': caller!.text, 'x-request-id': REQUEST, 'x-extra': 'more' };

  test.each([
    ['while the channel has no connection yet', false],
    ['on an open connection', true],
  ])('name the caller, the request and the deadline %s, and metadata of the answer arrives', async (_, connected) => {
    const channel = open(port);
    if (connected) await channel.check(5000);
    const answers: (string | undefined)[] = [];
    const onMetadata = (metadata: (name: string) => string | undefined): void => void answers.push(metadata('x-answer'), metadata('x-none'));
    expect((await channel.call('/test.Echo/Say', Buffer.alloc(0), { ...options, onMetadata })).toString()).toBe('x');
    expect(answers).toEqual(['metadata', undefined]);
    expect(received).toMatchObject([sent]);
    const [, number, unit] = /^(\d+)(m|S|u)$/.exec(String(received[0]!['grpc-timeout'])) ?? [];
    expect(Number(number) * { m: 1, S: 1000, u: 0.001 }[unit as 'm']).toBeGreaterThan(0);
    expect(Number(number) * { m: 1, S: 1000, u: 0.001 }[unit as 'm']).toBeLessThanOrEqual(5000);
    if (connected) expect(received[0]!['grpc-accept-encoding']).toBe('identity');
  });

  test('are those of a stream, too', async () => {
    const channel = open(port);
    expect(await collect(channel.client(EchoService).split({ text: '' }, options))).toEqual(['x']);
    expect(received).toMatchObject([{ ...sent, ':path': '/test.Echo/Split', 'grpc-timeout': expect.any(String) as string }]);
  });

  test('carry the request that is being served, unless the call names another, and nothing that is unknown', async () => {
    const channel = open(port, { credentials: [] });
    await channel.check(5000);
    const call = (more = {}) => channel.call('/test.Echo/Say', Buffer.alloc(0), more);
    await onBehalfOf({ requestId: OTHER, traceparent: undefined }, () => call());
    await onBehalfOf({ requestId: OTHER, traceparent: undefined }, () => call({ requestId: REQUEST }));
    await call();
    expect(received.map((headers) => [headers['x-request-id'], headers['truckroll-credential']])).toEqual([
      [OTHER, undefined],
      [REQUEST, undefined],
      [undefined, undefined],
    ]);
  });
});

test('counts each call once, by its rpc and how it ended', async () => {
  const echo = await start({
    say: ({ text }) => (text === 'missing' ? Promise.reject(ApiError.notFound()) : { text }),
    async *split({ text }) {
      yield { text: 'one' };
      if (text === 'broken') throw ApiError.notFound();
      yield { text: 'two' };
    },
  });
  const metrics = createMetrics('client');
  const client = open(echo.port, { metrics }).client(EchoService);
  await client.say({ text: 'a' });
  await client.say({ text: 'b' });
  await thrown(client.say({ text: 'missing' }));
  await collect(client.split({ text: 'all' }));
  await thrown(collect(client.split({ text: 'broken' })));
  for await (const { text } of client.split({ text: 'left' })) {
    expect(text).toBe('one');
    break;
  }
  await collect(client.each(words('a')));
  const { body } = await metrics.render();
  const counts = [...body.matchAll(/^rpc_client_call_duration_seconds_count\{.*rpc_method="(.*)",rpc_response_status_code="(.*)"\} (\d+)$/gm)];
  expect(counts.map(([, ...of]) => of.join(' ')).toSorted()).toEqual([
    'test.Echo/Each OK 1',
    'test.Echo/Say NOT_FOUND 1',
    'test.Echo/Say OK 2',
    'test.Echo/Split CANCELLED 1',
    'test.Echo/Split NOT_FOUND 1',
    'test.Echo/Split OK 1',
  ]);
});

describe('a signal', () => {
  test('that is aborted already ends a call of any kind, with or without a connection', async () => {
    const echo = await start();
    const signal = AbortSignal.abort();
    const kinds = (client: typeof echo.client): Promise<unknown>[] => [
      client.say({ text: 'a' }, { signal }),
      collect(client.split({ text: 'a' }, { signal })),
      collect(client.each(words('a'), { signal })),
    ];
    for (const call of [...kinds(echo.client), ...kinds(open(echo.port).client(EchoService))]) expect(await thrown(call)).toMatchObject({ status: 503 });
  });

  test('ends a call that waits for a connection', async () => {
    const silent = createTcpServer();
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const leaving = new AbortController();
    const call = thrown(
      open((silent.address() as AddressInfo).port)
        .client(EchoService)
        .say({ text: 'a' }, { signal: leaving.signal }),
    );
    leaving.abort();
    expect(await call).toMatchObject({ status: 503 });
    silent.close();
  });

  test('ends a stream in both directions while its caller has more to send', async () => {
    const { client } = await start();
    const leaving = new AbortController();
    const ended = deferred();
    async function* endless() {
      try {
        for (;;) yield { text: 'a'.repeat(100_000) };
      } finally {
        ended.resolve();
      }
    }
    const read = async (): Promise<void> => {
      for await (const { text } of client.each(endless(), { signal: leaving.signal })) {
        expect(text).toMatch(/^A+$/);
        leaving.abort();
      }
    };
    expect(await thrown(read())).toMatchObject({ status: 503 });
    await ended.promise;
  });

  test('has no listeners left when its calls are over', async () => {
    const { client } = await start({ say: ({ text }) => (text === 'missing' ? Promise.reject(ApiError.notFound()) : { text }) });
    const { signal } = new AbortController();
    await client.say({ text: 'a' }, { signal });
    await thrown(client.say({ text: 'missing' }, { signal }));
    await collect(client.split({ text: 'a b' }, { signal }));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

test('a stream ends at its deadline', async () => {
  const aborted = deferred();
  const { client } = await start({
    async *split(_, { signal }) {
      yield { text: 'one' };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      aborted.resolve();
    },
  });
  const seen: string[] = [];
  const read = async () => {
    for await (const { text } of client.split({ text: '' }, { deadlineMs: 200 })) seen.push(text);
  };
  expect(await thrown(read())).toMatchObject({ status: 503 });
  expect(seen).toEqual(['one']);
  await aborted.promise;
});

test.each([
  ['while the channel has no connection yet', false],
  ['on an open connection', true],
])('a message above 16 MiB is refused for good, as an answer and as a request, %s', async (_, connected) => {
  const { port } = await start({ say: ({ text }) => ({ text: text === '' ? 'x'.repeat(17 * 1024 * 1024) : '' }) });
  for (const text of ['', 'x'.repeat(17 * 1024 * 1024)]) {
    const channel = open(port);
    if (connected) await channel.check(5000);
    const failure = await thrown(channel.client(EchoService).say({ text }));
    expect(failure).toMatchObject({ status: 400, code: 'INVALID_REQUEST', retryAfterSeconds: undefined });
  }
});

test('an answer that cannot be decoded is a defect, not an outage', async () => {
  const { port } = await start();
  const channel = open(port);
  const unreadable = {
    ...EchoService.say,
    responseDeserialize: (): never => {
      throw new TypeError('not a word');
    },
  };
  for (let times = 0; times < 2; times += 1) {
    const { say } = channel.client({ say: unreadable });
    expect(await thrown(say({ text: 'x' }))).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' });
  }
});
