// Answers that clients do not read, over real connections.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { until } from '@truckroll/testing/until';
import type { Exchange } from '../src/http/exchange.ts';
import { UnsentAnswers } from '../src/http/unsent.ts';
import { request, startGateway, type TestGateway } from './support/gateway.ts';
import { invoice } from './support/invoice.ts';

/** More than the operating system takes for a connection that is not read. */
const LARGE = 7_500_000;
const sockets: Socket[] = [];
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const end of ends.splice(0)) await end();
});

async function unread(port: number, ...requests: string[]): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  sockets.push(socket.on('error', () => undefined));
  await once(socket, 'connect');
  for (const each of requests) socket.write(each);
  return socket;
}

describe('a gateway whose clients read no answers', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startGateway({ CALL_DEADLINE: '60s' });
    ends.push(() => gateway.stop());
    gateway.invoices.data = [invoice({ number: 'x'.repeat(LARGE) })];
  });
  const list = (key = gateway.key): string => `GET /v1/invoices HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const statusOf = async (key = gateway.key) => (await request(`${gateway.url}/v1/invoices`, { headers: { authorization: `Bearer ${key}` } })).status;

  /** Requests answers that are not read, until the company's requests are rejected. */
  async function fill(): Promise<void> {
    do await unread(Number(new URL(gateway.url).port), list());
    while ((await statusOf()) !== 429 && sockets.length < 30);
  }

  test('rejects further requests of their company only, until they have read or left', async () => {
    const { key: stranger } = gateway.identities.addKey();
    await fill();
    expect(await statusOf(stranger)).toBe(200);
    for (const socket of sockets) socket.resume();
    await until('an answer after they have been read', async () => (await statusOf()) === 200);
  });

  test('gives up answers that arrive when the budget is full', async () => {
    const answer = Promise.withResolvers<void>();
    gateway.invoices.gate = answer.promise;
    const late = statusOf();
    await until('the request to arrive', () => gateway.invoices.lists.length === 1);
    gateway.invoices.gate = undefined;
    await fill();
    answer.resolve();
    expect(await late).toBe(429);
  });
});

describe('answers that are not read', () => {
  let server: Server;
  let unsent: UnsentAnswers;
  const accepted: Socket[] = [];

  async function start(unreadMs?: number): Promise<number> {
    accepted.length = 0;
    unsent = new UnsentAnswers(unreadMs);
    server = createServer((req, res) => {
      res.end(Buffer.alloc(LARGE));
      unsent.note({ res, principal: { company_id: req.url } as Principal, bytes: LARGE } as unknown as Exchange);
    });
    server.on('connection', (socket) => accepted.push(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ends.push(() => new Promise((resolve) => server.close(resolve)));
    return (server.address() as AddressInfo).port;
  }
  const get = (company: string): string => `GET ${company} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const isOver = (company: string): boolean => {
    try {
      unsent.check(company);
      return false;
    } catch {
      return true;
    }
  };

  test('close their connection after a time', async () => {
    const port = await start(200);
    await unread(port, get('/acme'));
    const [socket] = accepted.length > 0 ? [accepted[0]!] : ((await once(server, 'connection')) as [Socket]);
    if (!socket.destroyed) await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });

  test('count for their company, also behind others, until their connection is closed', async () => {
    const port = await start();
    await unread(port, ...Array.from({ length: 5 }, () => get('/acme')), get('/other'));
    await until('five answers', () => isOver('/acme'));
    expect(isOver('/other')).toBe(false);
    sockets.pop()!.destroy();
    await until('the connection to be closed', () => !isOver('/acme'));
  });

  test('count no more once they are read', async () => {
    const port = await start();
    const socket = await unread(port, ...Array.from({ length: 5 }, () => get('/acme')));
    await until('five answers', () => isOver('/acme'));
    socket.resume();
    await until('the answers to be read', () => !isOver('/acme'));
  });
});
