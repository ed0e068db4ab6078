// Which connection an exchange uses, and what becomes of it: opened, kept, closed for another exchange, or replaced.
import type { ServerResponse } from 'node:http';
import { spawn } from 'node:child_process';
import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { createServer as createTlsServer } from 'node:tls';
import { Connections, type ReceiverConnection } from '../src/send/connections.ts';
import { createDial } from '../src/send/dial.ts';
import { exchange } from '../src/send/exchange.ts';
import { certificate, privateKey } from './support/certificate.ts';
import { closeOpened, closing, listening, receiver, sender } from './support/opened.ts';

afterEach(closeOpened);

/** Connections that are noted as exchanges take them. */
function noted(allowed: string) {
  const policy = { allowHttp: false, allowedTargets: [allowed], deniedTargets: [] };
  const taken: ReceiverConnection[] = [];
  class Noted extends Connections {
    override take(...given: Parameters<Connections['take']>): ReceiverConnection {
      const connection = super.take(...given);
      taken.push(connection);
      return connection;
    }
  }
  const connections = closing(new Noted({ dial: createDial({ policy, resolve: async () => [] }), mostPerAddress: 10 }));
  const options = { connections, policy, timeoutMs: 15_000, bodyLimit: 1000 };
  const send = (url: string) => exchange(options, { companyId: 'company', endpointId: 'endpoint', url, headers: {}, body: Buffer.from('{}') });
  return { send, taken };
}

test('closes the connection of an exchange whose answer was incomplete, and keeps the one of a whole answer', async () => {
  const bodies = [gzipSync('thanks').subarray(0, -3), gzipSync('thanks')];
  const there = await receiver((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bodies.shift()));
  const { send, taken } = noted(there.target);
  for (let times = 0; times < 2; times += 1) await send(there.url);
  expect(taken.map(({ client }) => client.destroyed)).toEqual([true, false]);
});

test('forgets an idle connection that the receiver closes', async () => {
  const sockets: (Socket | null)[] = [];
  const there = await receiver((response) => (sockets.push(response.socket), response.end()));
  const { send, taken } = noted(there.target);
  await send(there.url);
  const closed = once(taken[0]!.client, 'disconnect');
  sockets[0]!.destroy();
  await closed;
  expect(taken[0]!.client.destroyed).toBe(true);
  await send(there.url);
  expect([taken[1] === taken[0], there.connections]).toEqual([false, 2]);
});

test('closes an idle connection to the address that is needed, none to another', async () => {
  const held: ServerResponse[] = [];
  const there = await receiver((response) => void held.push(response));
  const other = await receiver(undefined, { host: '127.0.0.2' });
  const elsewhere = `127.0.0.2:${other.port}`;
  const { send } = sender({ allowed: [there.target, elsewhere], mostPerAddress: 2 });
  await send(`http://${elsewhere}/`, 'idle');
  const hanging = ['a', 'b'].map((endpoint) => send(there.url, endpoint));
  await there.until(1);
  await send(`http://${elsewhere}/`, 'idle');
  expect(other.connections).toBe(1);
  held[0]!.end();
  await there.until(2);
  held[1]!.end();
  await Promise.all(hanging);
});

test('keeps the idle connection of one company when another company needs a connection', async () => {
  const held: ServerResponse[] = [];
  const there = await receiver((response, { path }) => void (path === '/hangs' ? held.push(response) : response.end()));
  const { send } = sender({ allowed: [there.target], mostPerAddress: 4 });
  await send(there.url, 'idle', 'modest');
  const hanging = ['a', 'b', 'c'].map((endpoint) => send(`http://${there.target}/hangs`, endpoint, 'greedy'));
  await there.until(3);
  // The third exchange waits, because one of four connections must be left for a third company.
  await send(there.url, 'idle', 'modest');
  expect([there.connections, held.length]).toEqual([3, 2]);
  for (const response of held) response.end();
  await there.until(5);
  held[2]!.end();
  await Promise.all(hanging);
});

/** A receiver that answers its first requests together, so that as many connections are kept, and later ones as given. */
async function keeping(count: number, later: (response: ServerResponse, request: number) => void) {
  let requests = 0;
  const held: ServerResponse[] = [];
  return await receiver((response) => {
    requests += 1;
    if (requests > count) later(response, requests);
    else if (held.push(response) === count) for (const each of held) each.end();
  });
}

test('sends once more, and no more than once, if kept connections end before an answer', async () => {
  const there = await keeping(3, (response) => response.socket?.destroy());
  const { send } = sender({ allowed: [there.target] });
  await Promise.all([1, 2, 3].map(() => send(there.url)));
  const result = await send(there.url);
  expect([result.status, result.failure?.kind, there.received.length]).toEqual([undefined, 'ATTEMPT_ERROR_EXCHANGE', 5]);
});

test('takes no other kept connection for an exchange whose time is up', async () => {
  const there = await keeping(2, (response, request) => {
    if (request === 4) response.end();
  });
  const { send } = sender({ allowed: [there.target], timeoutMs: 200 });
  await Promise.all([1, 2].map(() => send(there.url)));
  expect((await send(there.url)).failure?.kind).toBe('ATTEMPT_ERROR_TIMEOUT');
  expect([(await send(there.url)).status, there.connections]).toEqual([200, 2]);
});

test('limits each answer by itself where the receiver closes the connection after each', async () => {
  const lengths = [900_000, 1_200_000];
  const there = await receiver((response) => response.setHeader('connection', 'close').end(Buffer.alloc(lengths.shift()!)));
  const { send } = sender({ allowed: [there.target] });
  expect((await send(there.url)).failure).toBeUndefined();
  expect((await send(there.url)).failure?.message).toBe('The answer was longer than 1 MB.');
});

test('names no address for an exchange whose lookup failed, although an earlier one had a connection', async () => {
  const there = await receiver((response) => response.setHeader('connection', 'close').end());
  let known = true;
  const resolve = async () => {
    if (!known) throw new Error('the name server is down');
    return ['127.0.0.1'];
  };
  const { send } = sender({ allowed: [there.target], allowHttp: true, resolve });
  expect(await send(`http://receiver.test:${there.port}/`)).toMatchObject({ status: 200, address: '127.0.0.1' });
  known = false;
  const result = await send(`http://receiver.test:${there.port}/`);
  expect([result.failure?.kind, result.address]).toEqual(['ATTEMPT_ERROR_EXCHANGE', undefined]);
});

test('sends to the path and the query of the URL', async () => {
  const there = await receiver();
  const result = await sender({ allowed: [there.target] }).send(`${there.url}/x?key=1&y=%20`);
  expect([result.status, there.received[0]!.path]).toEqual([200, '/hooks/x?key=1&y=%20']);
});

test.each(['localhost', 'hooks.localhost'])('connects to %s without a lookup, at its allowed address', async (host) => {
  const there = await receiver();
  expect(await sender({ allowed: [there.target] }).send(`http://${host}:${there.port}/`)).toMatchObject({ status: 200, address: '127.0.0.1' });
});

test('looks a name with a dot at its end up, and asks for its certificate, without the dot', async () => {
  const names: unknown[] = [];
  const server = createTlsServer({ cert: certificate, key: privateKey }, (socket) => {
    names.push(socket.servername);
    socket.on('error', () => undefined).once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  });
  const port = await listening(server);
  const { send } = sender({ allowed: [`127.0.0.1:${port}`], resolve: async (name) => (names.push(name), ['127.0.0.1']) });
  expect([(await send(`https://receiver.test.:${port}/`)).status, names]).toEqual([204, ['receiver.test', 'receiver.test']]);
});

/** A process that listens on 127.0.0.2 and accepts nothing, so that the kernel drops further connections, as a firewall does. */
async function dropping(port: number): Promise<void> {
  const listen = `require('node:net').createServer().listen({ port: ${port}, host: '127.0.0.2', backlog: 1 }, () => {
    require('node:fs').writeSync(1, 'listening');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  })`;
  const child = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] });
  closing({ close: async () => void child.kill('SIGKILL') });
  await once(child.stdout, 'data');
  // A backlog of 1 takes two connections.
  for (let place = 0; place < 2; place += 1) {
    const filling = connect(port, '127.0.0.2').on('error', () => undefined);
    await once(filling, 'connect');
    closing({ close: async () => filling.destroy() });
  }
}

test('tries the next address when the first drops packets', async () => {
  const there = await receiver();
  await dropping(there.port);
  const options = { allowed: [there.target, `127.0.0.2:${there.port}`], allowHttp: true, timeoutMs: 10_000 };
  const { send } = sender({ ...options, resolve: async () => ['127.0.0.2', '127.0.0.1'] });
  expect(await send(`http://receiver.test:${there.port}/`)).toMatchObject({ status: 200, address: '127.0.0.1' });
});

test('gives the last address all the time that is left', async () => {
  const there = await receiver();
  await dropping(there.port);
  const options = { allowed: [`127.0.0.2:${there.port}`], allowHttp: true, timeoutMs: 2800 };
  const result = await sender({ ...options, resolve: async () => ['127.0.0.2'] }).send(`http://receiver.test:${there.port}/`);
  expect(result.failure?.kind).toBe('ATTEMPT_ERROR_TIMEOUT');
});

test('tries no other address once the time is up', async () => {
  const there = await receiver();
  await dropping(there.port);
  const options = { allowed: [there.target, `127.0.0.2:${there.port}`], allowHttp: true, timeoutMs: 200 };
  const { send } = sender({ ...options, resolve: async () => ['127.0.0.2', '127.0.0.1'] });
  expect(await send(`http://receiver.test:${there.port}/`)).toMatchObject({ failure: { kind: 'ATTEMPT_ERROR_TIMEOUT' }, address: '127.0.0.2' });
  expect([(await send(there.url)).status, there.connections]).toEqual([200, 1]);
});

test('reports a name that resolves to no address as a failed lookup', async () => {
  const result = await sender({ resolve: async () => [] }).send('https://receiver.test/');
  expect(result).toMatchObject({ failure: { kind: 'ATTEMPT_ERROR_NAME', message: 'The host has no address.' } });
});

test('does not try the next address after a TLS handshake that failed', async () => {
  const there = await receiver(undefined, { tls: true });
  const plain = createServer((socket) => void socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await listening(plain, there.port, '127.0.0.2');
  const allowed = [there.target, `127.0.0.2:${there.port}`];
  const result = await sender({ allowed, resolve: async () => ['127.0.0.2', '127.0.0.1'] }).send(`https://receiver.test:${there.port}/`);
  expect(result).toMatchObject({ failure: { kind: 'ATTEMPT_ERROR_TLS' }, address: '127.0.0.2' });
  expect(there.connections).toBe(0);
});

test.each([
  [4, 200],
  [5, undefined],
])('tries four addresses at most: one that answers in place %i gives %p', async (place, status) => {
  const there = await receiver();
  const addresses = [...Array.from({ length: place - 1 }, (_, index) => `127.0.0.${index + 2}`), '127.0.0.1'];
  const allowed = addresses.map((address) => `${address}:${there.port}`);
  const { send } = sender({ allowed, allowHttp: true, mostPerAddress: 1, resolve: async () => addresses });
  // The second exchange finds the connections of the refused ones free again.
  for (let times = 0; times < 2; times += 1) {
    const result = await send(`http://receiver.test:${there.port}/`);
    expect([result.status, result.address]).toEqual([status, addresses[3]]);
  }
});
