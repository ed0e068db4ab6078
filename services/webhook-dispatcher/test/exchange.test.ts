import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { exchanges, type Exchanges } from './support/exchanges.ts';
import { startReceiver, type Answer, type Receiver } from './support/receiver.ts';

const LIMIT = 64 * 1024;
const open: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

async function receiver(answer?: Answer, options?: Parameters<typeof startReceiver>[1]): Promise<Receiver> {
  const started = await startReceiver(answer, options);
  open.push(started);
  return started;
}

function sender(options: Parameters<typeof exchanges>[0]): Exchanges {
  const made = exchanges(options);
  open.push(made);
  return made;
}

test('what is sent is what the log says, and so is the answer', async () => {
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
  ['gzip, br', (bytes: Buffer) => brotliCompressSync(gzipSync(bytes))],
] as const)('of an answer that is long after decompression (%s), the first 64 KB are kept', async (encoding, encode) => {
  const there = await receiver((response) => response.writeHead(200, { 'content-encoding': encoding }).end(encode(Buffer.alloc(20 * LIMIT, 'x'))));
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result).toMatchObject({ status: 200, truncated: true });
  expect(result.failure).toBeUndefined();
  expect(result.responseBody.equals(Buffer.alloc(LIMIT, 'x'))).toBe(true);
});

test('an answer of exactly 64 KB is not cut off', async () => {
  const there = await receiver((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(LIMIT, 'x'))));
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect([result.responseBody.length, result.truncated]).toEqual([LIMIT, false]);
});

test('an endless answer is cut off and the delivery has succeeded', async () => {
  const there = await receiver((response) => {
    const more = () => void (response.write(Buffer.alloc(16_384, 'x')) ? setImmediate(more) : response.once('drain', more));
    response.on('error', () => undefined);
    more();
  });
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result).toMatchObject({ status: 200, truncated: true });
  expect(result.failure).toBeUndefined();
});

test('an answer that cannot be decompressed is still an answer', async () => {
  const there = await receiver((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('this is not gzip'));
  const result = await sender({ allowed: [there.target] }).send(there.url);
  expect(result.status).toBe(200);
  expect(result.failure).toBeUndefined();
});

test('a redirect is reported and not followed', async () => {
  const elsewhere = await receiver();
  const there = await receiver((response) => response.writeHead(307, { location: elsewhere.url }).end());
  const result = await sender({ allowed: [there.target, elsewhere.target] }).send(there.url);
  expect(result.status).toBe(307);
  expect(elsewhere.connections).toBe(0);
});

test.each([
  ['the headers', () => undefined],
  ['the end of the body', (response: ServerResponse) => void response.writeHead(200).write('so far')],
])('an exchange that waits for %s ends when its time is up', async (_, answer) => {
  const there = await receiver(answer);
  const result = await sender({ allowed: [there.target], timeoutMs: 200 }).send(there.url);
  expect(result.failure?.kind).toBe('ATTEMPT_ERROR_TIMEOUT');
  expect(result.address).toBe('127.0.0.1');
});

test('the time of a name counts, however long its servers take', async () => {
  const result = await sender({ resolve: () => new Promise(() => undefined), timeoutMs: 100 }).send('https://receiver.test/');
  expect(result.failure?.kind).toBe('ATTEMPT_ERROR_TIMEOUT');
  expect(result.address).toBeUndefined();
});

test('the time of the TLS handshake counts', async () => {
  const mute = createServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const sockets = new Set<{ destroy(): void }>();
  mute.on('connection', (socket) => sockets.add(socket));
  open.push({
    close: async () => {
      mute.close();
      for (const socket of sockets) socket.destroy();
    },
  });
  const { port } = mute.address() as AddressInfo;
  const result = await sender({ allowed: [`127.0.0.1:${port}`], timeoutMs: 200 }).send(`https://127.0.0.1:${port}/`);
  expect(result.failure?.kind).toBe('ATTEMPT_ERROR_TIMEOUT');
});

test.each([
  ['nothing', (_: string) => ''],
  ['what is not HTTP', () => 'SMTP 220 hello\r\n\r\n'],
  ['half an answer', () => 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
])('a connection that ends with %s is a failed exchange', async (_, text) => {
  const rude = createServer((socket) => void socket.on('error', () => undefined).once('data', () => socket.end(text('')))).listen(0, '127.0.0.1');
  await once(rude, 'listening');
  open.push({ close: async () => rude.close() });
  const { port } = rude.address() as AddressInfo;
  const result = await sender({ allowed: [`127.0.0.1:${port}`] }).send(`http://127.0.0.1:${port}/`);
  expect(result.failure?.kind).toBe('ATTEMPT_ERROR_EXCHANGE');
});

test('a closed port is a failed connection', async () => {
  const gone = await startReceiver();
  await gone.close();
  const result = await sender({ allowed: [gone.target] }).send(gone.url);
  expect(result.failure).toMatchObject({ kind: 'ATTEMPT_ERROR_CONNECT', message: 'The connection was refused.' });
  expect(result.address).toBe('127.0.0.1');
});

test('a name without an address is told apart', async () => {
  const { createResolve } = await import('../src/http/resolve.ts');
  const result = await sender({ resolve: createResolve() }).send('https://receiver.invalid/');
  expect(['ATTEMPT_ERROR_NAME', 'ATTEMPT_ERROR_TIMEOUT']).toContain(result.failure?.kind);
  expect(result.address).toBeUndefined();
});

test('a receiver with a certificate for its name is trusted, one for another name is not', async () => {
  const there = await receiver(undefined, { tls: true });
  const send = (name: string) => sender({ allowed: [there.target], resolve: async () => ['127.0.0.1'] }).send(`https://${name}:${there.port}/`);
  expect(await send('receiver.test')).toMatchObject({ status: 200, address: '127.0.0.1' });
  const wrong = await send('another.test');
  expect(wrong.failure).toMatchObject({
    kind: 'ATTEMPT_ERROR_TLS',
    message: 'The TLS handshake failed: the certificate is for other host names (ERR_TLS_CERT_ALTNAME_INVALID).',
  });
});

test('a receiver that does not speak TLS is reported by code, without the text of OpenSSL', async () => {
  const plain = createServer((socket) => void socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  open.push({ close: async () => plain.close() });
  const { port } = plain.address() as AddressInfo;
  const { failure } = await sender({ allowed: [`127.0.0.1:${port}`] }).send(`https://127.0.0.1:${port}/`);
  expect(failure?.kind).toBe('ATTEMPT_ERROR_TLS');
  expect(failure?.message).toMatch(/^The TLS handshake failed \(ERR_SSL_[A-Z0-9_]+\)\.$/);
});

test('the next address is tried where the first refuses', async () => {
  const there = await receiver();
  const allowed = [there.target, `127.0.0.2:${there.port}`];
  const result = await sender({ allowed, allowHttp: true, resolve: async () => ['127.0.0.2', '127.0.0.1'] }).send(`http://receiver.test:${there.port}/`);
  expect(result).toMatchObject({ status: 200, address: '127.0.0.1' });
});

test('a connection is used again by its own endpoint and by no other', async () => {
  const there = await receiver();
  const { send } = sender({ allowed: [there.target] });
  await send(there.url, 'one');
  await send(there.url, 'one');
  expect(there.connections).toBe(1);
  await send(there.url, 'two');
  expect(there.connections).toBe(2);
});

test('a kept connection that the receiver has closed is replaced within the same exchange', async () => {
  let requests = 0;
  const there = await receiver((response) => {
    requests += 1;
    // The second request meets a connection that is being closed.
    if (requests === 2) response.socket?.destroy();
    else response.end();
  });
  const { send } = sender({ allowed: [there.target] });
  await send(there.url);
  const result = await send(there.url);
  expect(result.status).toBe(200);
  expect(there.connections).toBe(2);
});
