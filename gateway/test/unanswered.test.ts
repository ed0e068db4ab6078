// Requests that a client sends without waiting for answers, over real connections. Only the pauses between them use a fake jest.
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { limitUnanswered } from '../src/http/unanswered.ts';

const SENT = 200;
/** More than the operating system takes for a connection that is not read. */
const LARGE = Buffer.alloc(16_000_000);
let server: Server;
let socket: Socket;
let received = '';
/** While true, requests are not answered. */
let isQuiet = false;

beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  server = createServer((req, res) => {
    count(req, res);
    req.resume();
    if (req.url === '/large') res.end(LARGE);
    else if (!isQuiet) res.end('x');
  });
  const count = limitUnanswered(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  received = '';
  isQuiet = false;
  socket = connect(port(), '127.0.0.1').on('data', (part) => (received += part.toString('latin1')));
  await once(socket, 'connect');
});

afterEach(async () => {
  jest.useRealTimers();
  socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const port = (): number => (server.address() as AddressInfo).port;
const answers = (): number => received.split('HTTP/1.1 200').length - 1;

async function other(): Promise<void> {
  const [response] = await once(request({ port: port(), agent: false }).end(), 'response');
  await once(response.resume(), 'end');
}

test('reads slowly what a client sends without waiting, while other clients get their answers', async () => {
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(SENT));
  for (let turn = 0; turn < 50; turn++) await other();
  expect(answers()).toBeLessThan(20);
  for (let pauses = 0; answers() < SENT && pauses < SENT; pauses++) {
    await jest.advanceTimersByTimeAsync(10);
    await other();
  }
  expect(answers()).toBe(SENT);
});

test('reads a client that waits for each answer without delay', async () => {
  for (let sent = 1; sent <= 50; sent++) {
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    while (answers() < sent) await once(socket, 'data');
  }
  expect(answers()).toBe(50);
});

test('reads another request while eight of the connection are unanswered', async () => {
  isQuiet = true;
  let begun = 0;
  server.on('request', () => (begun += 1));
  for (let sent = 1; sent <= 9; sent++) {
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    while (begun < sent) await once(server, 'request');
  }
  expect(begun).toBe(9);
}, 10_000);

test('reads no request of a client that does not read its answers, until it does', async () => {
  let begun = 0;
  server.on('request', ({ url }) => (begun += url === '/large' ? 1 : 0));
  socket.pause();
  socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  while (begun < 1) await once(server, 'request');
  socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  for (let turn = 0; turn < 50; turn++) await other();
  expect(begun).toBe(1);
  socket.resume();
  while (begun < 2) {
    await jest.advanceTimersByTimeAsync(10);
    await other();
  }
  expect(begun).toBe(2);
});
