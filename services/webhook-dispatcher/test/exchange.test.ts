import type { ServerResponse } from 'node:http';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { AnswerBody } from '../src/send/answer-body.ts';
import { closeOpened, listening, receiver, sender } from './support/opened.ts';

afterEach(closeOpened);

const LIMIT = 64 * 1024;

test('logs the request as sent and the answer as received', async () => {
  const there = await receiver((response) => response.writeHead(202, { 'x-served-by': ['a', 'b'] }).end('thanks'));
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result).toMatchObject({ status: 202, truncated: false, address: '127.0.0.1' });
  expect(result.failure).toBeUndefined();
  expect(result.responseBody.toString()).toBe('thanks');
  expect(
    result.responseHeaders
      .filter(({ name }) => name === 'x-served-by')
      .map(({ value }) => value)
      .join(),
  ).toMatch(/^a, ?b$/);
  const [got] = there.received;
  expect(got).toMatchObject({ path: '/hooks', body: '{"hello":"world"}' });
  const sent = Object.fromEntries(result.requestHeaders.map(({ name, value }) => [name, value]));
  expect(got!.headers).toMatchObject(sent);
  expect(sent).toMatchObject({ 'content-type': 'application/json', 'content-length': '17', host: `127.0.0.1:${there.port}` });
});

test.each([
  ['identity', (bytes: Buffer) => bytes],
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const)('keeps the first 64 KB of a long answer after decompression (%s)', async (encoding, encode) => {
  const there = await receiver((response) => response.writeHead(200, { 'content-encoding': encoding }).end(encode(Buffer.alloc(10 * LIMIT, 'x'))));
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result).toMatchObject({ status: 200, truncated: true });
  expect(result.failure).toBeUndefined();
  expect(result.responseBody.equals(Buffer.alloc(LIMIT, 'x'))).toBe(true);
});

test('does not truncate an answer of exactly 64 KB', async () => {
  const there = await receiver((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(LIMIT, 'x'))));
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect([result.responseBody.length, result.truncated]).toEqual([LIMIT, false]);
});

test('keeps an answer with two content codings undecoded', async () => {
  const sent = brotliCompressSync(gzipSync(Buffer.alloc(20 * LIMIT, 'x')));
  const there = await receiver((response) => response.writeHead(200, { 'content-encoding': 'gzip, br' }).end(sent));
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result).toMatchObject({ status: 200, truncated: false });
  expect(result.responseBody.equals(sent)).toBe(true);
});

test('stops decompressing data that is twice as long as the text it could give', async () => {
  // Empty deflate blocks: they cost time and yield no text.
  const sent = Buffer.concat([gzipSync('').subarray(0, 10), Buffer.from('000000ffff'.repeat(40_000), 'hex'), gzipSync('').subarray(10)]);
  const there = await receiver((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(sent));
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result.failure).toBeUndefined();
  expect([result.responseBody.length, result.truncated]).toEqual([0, true]);
});

test('fails an exchange whose answer does not end', async () => {
  const there = await receiver((response) => {
    const more = () => void (response.write(Buffer.alloc(16_384, 'x')) ? setImmediate(more) : response.once('drain', more));
    response.on('error', () => undefined);
    more();
  });
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result).toMatchObject({ status: 200, failure: { kind: 'ATTEMPT_ERROR_EXCHANGE', message: 'The answer was longer than 1 MB.' } });
});

/** A server that answers every request with these bytes. */
async function rawReceiver(answer: Buffer | string): Promise<{ target: string; url: string }> {
  const server = createServer((socket) => void socket.on('error', () => undefined).on('data', () => socket.write(answer)));
  const target = `127.0.0.1:${await listening(server)}`;
  return { target, url: `http://${target}/` };
}

test.each([
  ['exactly 1 MB', 1024 * 1024, undefined],
  ['1 MB and a byte', 1024 * 1024 + 1, 'The answer was longer than 1 MB.'],
] as const)('reads %s of an answer, its head included, or fails the exchange', async (_, size, message) => {
  const head = (length: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`;
  const length = size - head(size).length;
  const there = await rawReceiver(head(length).padEnd(size, 'x'));
  const { send } = sender({ allowed: [there.target] });
  // The second exchange reuses the connection; its limit starts at zero.
  for (let times = 0; times < 2; times += 1) expect((await send(there.url)).failure?.message).toBe(message);
});

test('counts the framing of an answer towards its limit', async () => {
  const chunk = `1;${'x'.repeat(8000)}\r\nx\r\n`;
  const there = await rawReceiver(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(150)}0\r\n\r\n`);
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result.failure?.message).toBe('The answer was longer than 1 MB.');
});

test.each([
  [5, undefined],
  [6, 'More than 5 1xx answers came before the final one.'],
] as const)('accepts at most five 1xx answers: %i', async (count, message) => {
  const there = await receiver((response) => {
    for (let times = 0; times < count; times += 1) response.writeProcessing();
    response.end();
  });
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result.failure?.message).toBe(message);
});

const noise = randomBytes(200_000);

test.each([
  ['compressed', 'gzip', gzipSync(noise.subarray(0, 40_000)), 20_000],
  ['longer than what is kept', 'identity', noise, 100_000],
  ['short', 'identity', noise.subarray(0, 9), 5],
])('fails an exchange whose connection ends within an answer that is %s, and keeps what arrived', async (_, encoding, body, sent) => {
  const there = await receiver((response) => {
    response.writeHead(200, { 'content-encoding': encoding, 'content-length': body.length });
    response.write(body.subarray(0, sent), () => response.socket?.end());
  });
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result).toMatchObject({ status: 200, failure: { kind: 'ATTEMPT_ERROR_EXCHANGE' } });
  expect(result.responseBody.length).toBeGreaterThan(0);
  expect(result.responseBody).toEqual(noise.subarray(0, result.responseBody.length));
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const)('fails an exchange whose compressed data (%s) is incomplete, not one with trailing bytes or an empty body', async (encoding, encode) => {
  const whole = encode(Buffer.from('thanks'));
  const failureOf = async (body: Buffer) => {
    const there = await receiver((response) => response.writeHead(200, { 'content-encoding': encoding }).end(body));
    return (await sender({ allowed: [there.target] }).send(there.url)).failure?.message;
  };
  expect(await failureOf(whole.subarray(0, -3))).toBe('The compressed answer ended before it was complete.');
  expect(await failureOf(whole)).toBeUndefined();
  expect(await failureOf(Buffer.concat([whole, Buffer.alloc(9)]))).toBeUndefined();
  expect(await failureOf(Buffer.alloc(0))).toBeUndefined();
});

test('reads an answer longer than what it keeps to the end, and reuses the connection', async () => {
  const there = await receiver((response) => response.end(noise));
  const { send } = sender({ allowed: [there.target] });
  for (let times = 0; times < 2; times += 1) {
    const result = await send(there.url);
    expect([result.failure, result.truncated, result.responseBody.equals(noise.subarray(0, LIMIT))]).toEqual([undefined, true, true]);
  }
  expect(there.connections).toBe(1);
});

test('reports the processor time spent on an answer, that of decompression separately', async () => {
  const there = await receiver((response) => response.end('x'.repeat(5000)));
  expect((await sender({ allowed: [there.target] }).send(there.url)).processorMs).toBeGreaterThan(0);
  const decompressionOf = async (bytes: Buffer, encoding: string) => {
    const body = new AnswerBody(encoding, LIMIT);
    body.add(bytes);
    return (await body.read(true)).processorMs;
  };
  expect(await decompressionOf(noise, '')).toBe(0);
  expect(await decompressionOf(gzipSync('thanks'), 'gzip')).toBeGreaterThan(0);
});

test('reports no processor time for short answers that come in one read, however many one connection has had', async () => {
  const there = await receiver((response) => response.end('thanks'));
  const { send } = sender({ allowed: [there.target] });
  for (let n = 0; n < 3; n++) expect((await send(there.url)).processorMs).toBe(0);
  expect(there.connections).toBe(1);
});

test('reports the processor time of a short answer that comes in pieces', async () => {
  // The receiver runs in this process, so the sender reads between two turns of the event loop.
  const go = (response: ServerResponse, pieces: number): unknown =>
    pieces === 0 ? response.end() : (response.write('x'), setImmediate(go, response, pieces - 1));
  const there = await receiver((response) => void go(response, 100));
  expect((await sender({ allowed: [there.target] }).send(there.url)).processorMs).toBeGreaterThan(0);
});

test('accepts an answer that cannot be decompressed', async () => {
  const there = await receiver((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('this is not gzip'));
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result.status).toBe(200);
  expect(result.failure).toBeUndefined();
});

test.each([
  ['the headers', '', () => undefined],
  ['the end of the body', 'so far', (response: ServerResponse) => void response.writeHead(200).write('so far')],
])('ends an exchange that waits for %s when its time is up, and keeps the body %j', async (_, body, answer) => {
  const there = await receiver(answer);
  const result = await sender({ allowed: [there.target], timeoutMs: 200 }).send(there.url);
  expect(result.failure?.kind).toBe('ATTEMPT_ERROR_TIMEOUT');
  expect([result.address, result.responseBody.toString()]).toEqual(['127.0.0.1', body]);
});

test('includes name resolution in the time limit', async () => {
  const result = await sender({ resolve: () => new Promise(() => undefined), timeoutMs: 100 }).send('https://receiver.test/');
  expect(result.failure?.kind).toBe('ATTEMPT_ERROR_TIMEOUT');
  expect(result.address).toBeUndefined();
});

test('includes the TLS handshake in the time limit', async () => {
  const mute = createServer((socket) => void socket.on('error', () => undefined));
  const port = await listening(mute);
  const result = await sender({ allowed: [`127.0.0.1:${port}`], timeoutMs: 200 }).send(`https://127.0.0.1:${port}/`);
  expect(result.failure?.kind).toBe('ATTEMPT_ERROR_TIMEOUT');
});

test('trusts a certificate for the name of the receiver, and none for another name', async () => {
  const there = await receiver(undefined, { tls: true });
  const send = (name: string) => sender({ allowed: [there.target], resolve: async () => ['127.0.0.1'] }).send(`https://${name}:${there.port}/`);
  expect(await send('receiver.test')).toMatchObject({ status: 200, address: '127.0.0.1' });
  const wrong = await send('another.test');
  expect(wrong.failure).toMatchObject({
    kind: 'ATTEMPT_ERROR_TLS',
    message: 'The TLS handshake failed: the certificate is for other host names (ERR_TLS_CERT_ALTNAME_INVALID).',
  });
});

test('reports a receiver that does not speak TLS by code, without the text of OpenSSL', async () => {
  const plain = createServer((socket) => void socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const port = await listening(plain);
  const { failure } = await sender({ allowed: [`127.0.0.1:${port}`] }).send(`https://127.0.0.1:${port}/`);
  expect(failure?.kind).toBe('ATTEMPT_ERROR_TLS');
  expect(failure?.message).toMatch(/^The TLS handshake failed \(ERR_SSL_[A-Z0-9_]+\)\.$/);
});

test('reuses a connection only for the same endpoint', async () => {
  const there = await receiver();
  const { send } = sender({ allowed: [there.target] });
  await send(there.url, 'one');
  await send(there.url, 'one');
  expect(there.connections).toBe(1);
  await send(there.url, 'two');
  expect(there.connections).toBe(2);
});

test('looks a name up again once its connection is a minute old', async () => {
  const others = [
    'hrtime',
    'nextTick',
    'performance',
    'queueMicrotask',
    'setImmediate',
    'clearImmediate',
    'setInterval',
    'clearInterval',
    'setTimeout',
    'clearTimeout',
  ];
  jest.useFakeTimers({ doNotFake: others as never, now: 0 });
  try {
    const there = await receiver();
    const { send } = sender({ allowed: [there.target] });
    for (const [at, connections] of [
      [0, 1],
      [59_999, 1],
      [60_000, 2],
    ] as const) {
      jest.setSystemTime(at);
      await send(there.url);
      expect(there.connections).toBe(connections);
    }
  } finally {
    jest.useRealTimers();
  }
});

test('replaces an idle connection that the receiver has closed, within the same exchange', async () => {
  let requests = 0;
  const there = await receiver((response) => {
    requests += 1;
    // The second request uses a connection that is being closed.
    if (requests === 2) response.socket?.destroy();
    else response.end();
  });
  const { send } = sender({ allowed: [there.target] });
  await send(there.url);
  const result = await send(there.url);
  expect(result.status).toBe(200);
  expect(there.connections).toBe(2);
});

test('does not send again if a kept connection ends after the answer has begun', async () => {
  let requests = 0;
  const there = await receiver((response) => {
    requests += 1;
    if (requests === 1) response.end();
    else response.write('half', () => response.socket?.destroy());
  });
  const { send } = sender({ allowed: [there.target] });
  await send(there.url);
  expect(await send(there.url)).toMatchObject({ status: 200, failure: { kind: 'ATTEMPT_ERROR_EXCHANGE' } });
  expect(requests).toBe(2);
});

test('does not send again if a new connection ends before an answer', async () => {
  let requests = 0;
  const there = await receiver((response) => {
    requests += 1;
    response.socket?.destroy();
  });
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect([result.status, result.failure?.kind]).toEqual([undefined, 'ATTEMPT_ERROR_EXCHANGE']);
  expect(requests).toBe(1);
});
