// Clients that could keep others from being served: the gateway spends little on them and serves the others.
import { once } from 'node:events';
import { generateApiKey } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { request, startGateway, untilMetric, type TestGateway } from './support/gateway.ts';
import { closeConnections, openConnection, type Connection } from './support/raw.ts';

afterEach(closeConnections);

let gateway: TestGateway;
afterEach(() => gateway.stop());

const open = (): Promise<Connection> => openConnection(Number(new URL(gateway.url).port));

/** Whether the gateway closes the connection without an answer. */
async function isRefused(socket: Connection): Promise<boolean> {
  socket.write(get('/healthz', 'Connection: close\r\n'));
  await socket.ended;
  return socket.received === '';
}

const browser = { accept: 'text/html' };
const statusesOf = ({ received }: { received: string }): number[] => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
const get = (target: string, headers = ''): string => `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

describe('a public page', () => {
  test('is the same at unknown paths of one depth', async () => {
    gateway = await startGateway();
    const pages = await Promise.all(['/a/b/c', '/docs/none/x', '/a//b'].map((path) => request(gateway.url + path, { headers: browser })));
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
    expect(new Set(pages.map(({ headers }) => headers.get('etag'))).size).toBe(1);
  });

  test.each([
    ['/a/a/a/a/a/a/a/a/a/a', 404, 'text/html; charset=utf-8'],
    ['/a/a/a/a/a/a/a/a/a/a/a', 401, 'application/json'],
    [`/${'a'.repeat(2047)}`, 404, 'text/html; charset=utf-8'],
    [`/${'a'.repeat(2048)}`, 401, 'application/json'],
    ['/'.repeat(60_000), 401, 'application/json'],
  ])('is sent to browsers if the path has at most ten segments and 2 KB (%#)', async (path, status, type) => {
    gateway = await startGateway();
    const answer = await request(gateway.url + path, { headers: browser });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type]);
    expect(answer.text.length).toBeLessThan(10_000);
  });

  test('does not break on GET *', async () => {
    gateway = await startGateway();
    const socket = await open();
    socket.write(get('*') + get('*', 'Accept: text/html\r\n'));
    await until('both answers', () => statusesOf(socket).length === 2);
    expect(statusesOf(socket)).toEqual([401, 404]);
  });

  test('is rejected for an address that requests too many, but not health, the API or other addresses', async () => {
    gateway = await startGateway({ PUBLIC_PAGES_PER_MINUTE: '3', TRUSTED_PROXIES: '1' });
    const from = (address: string, path: string) => request(gateway.url + path, { headers: { ...browser, 'x-forwarded-for': address } });
    const paths = ['/docs', '/nowhere', '/openapi.json', '/console'];
    for (const path of paths.slice(0, 3)) expect((await from('1.1.1.1', path)).status).not.toBe(429);
    for (const path of paths) {
      const refused = await from('1.1.1.1', path);
      expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    for (const path of ['/healthz', '/readyz']) expect((await from('1.1.1.1', path)).status).toBe(200);
    expect((await from('2.2.2.2', '/docs')).status).toBe(200);
    expect((await gateway.get('/v1/invoices', { headers: { 'x-forwarded-for': '1.1.1.1' } })).status).toBe(200);
  });
});

describe('a connection that sends requests without waiting for answers', () => {
  test('is not read while more than eight are unanswered, and gets every answer in the end', async () => {
    gateway = await startGateway();
    await gateway.get('/v1/invoices');
    const before = gateway.invoices.lists.length;
    const gate = Promise.withResolvers<void>();
    gateway.invoices.gate = gate.promise;
    const socket = await open();
    socket.write(get('/v1/invoices', `Authorization: Bearer ${gateway.key}\r\n`).repeat(40));
    await until('nine calls of the service', () => gateway.invoices.lists.length >= before + 9);
    for (let turn = 0; turn < 5; turn++) await request(`${gateway.url}/healthz`);
    expect(gateway.invoices.lists.length).toBeLessThan(before + 20);
    gate.resolve();
    await until('40 answers', () => statusesOf(socket).length === 40);
    expect(new Set(statusesOf(socket))).toEqual(new Set([200]));
  });

  test('does not keep another connection from being answered', async () => {
    gateway = await startGateway();
    const [flood, other] = [await open(), await open()];
    flood.write(get('/v1/invoices').repeat(150));
    other.write(get('/healthz'));
    await once(other, 'data');
    expect(statusesOf(flood).length).toBeLessThan(75);
    await until('150 answers', () => statusesOf(flood).length === 150);
    expect(new Set(statusesOf(flood))).toEqual(new Set([401]));
  });

  test('may send bodies, and its requests are served in order', async () => {
    gateway = await startGateway();
    const socket = await open();
    const sizes = Array.from({ length: 30 }, (_, index) => (index % 3 === 0 ? 100_000 : 5));
    for (const size of sizes) {
      const authorization = `Authorization: Bearer ${gateway.key}\r\n`;
      socket.write(`${get('/v1/invoices', `${authorization}Content-Length: ${size}\r\n`)}${'x'.repeat(size)}`);
    }
    await until('an answer to each body', () => statusesOf(socket).length === sizes.length);
    expect(statusesOf(socket)).toEqual(sizes.map((size) => (size > 65_536 ? 400 : 200)));
  });
});

describe('a client that continues after a rejection', () => {
  afterEach(() => void jest.useRealTimers());

  const AWAY = ['scheduling', 'billing', 'reporting', 'integrations'].map((service) => `west/${service}=127.0.0.1:1`).join();
  const madeUp = generateApiKey();
  const stranger = () => request(`${gateway.url}/v1/invoices`, { headers: { authorization: `Bearer ${madeUp}` } });

  test.each([
    ['without a credential', { UNKNOWN_KEYS_PER_MINUTE: '1' }, 401, () => request(`${gateway.url}/v1/invoices`)],
    ['with a key that may be of a cell that is away', { UNKNOWN_KEYS_PER_MINUTE: '1', CELL: 'home', CELLS: AWAY }, 503, stranger],
    ['beyond the limit of its key', { READS_PER_MINUTE: '1' }, 429, () => gateway.get('/v1/invoices')],
    ['beyond the limit of public pages', { PUBLIC_PAGES_PER_MINUTE: '1' }, 429, () => request(`${gateway.url}/docs`)],
  ])('%s is rejected a tenth of a second late', async (_, environment, status, send) => {
    gateway = await startGateway(environment);
    // Until its connection to Redis is open, a gateway counts alone.
    await until(`an answer ${status}`, async () => (await send()).status === status);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date', 'setInterval'] });
    let answered = false;
    const late = send().finally(() => (answered = true));
    for (let turn = 0; turn < 5; turn++) await request(`${gateway.url}/healthz`);
    expect(answered).toBe(false);
    await jest.advanceTimersByTimeAsync(100);
    expect((await late).status).toBe(status);
  });
});

describe('an address with too many unknown credentials', () => {
  test('is also one that sends malformed credentials', async () => {
    gateway = await startGateway({ UNKNOWN_KEYS_PER_MINUTE: '3' });
    const statuses = [];
    for (const authorization of ['Bearer trk_wrong', 'Basic YTpi', 'Bearer', 'Bearer trk_wrong']) {
      statuses.push((await request(`${gateway.url}/v1/invoices`, { headers: { authorization } })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await gateway.get('/v1/invoices')).status).toBe(200);
  });

  test('may have at most a hundred look-ups waiting; others are rejected at once', async () => {
    gateway = await startGateway({ UNKNOWN_KEYS_PER_MINUTE: '1' });
    const lookUp = () => gateway.get('/v1/invoices', { headers: { authorization: `Bearer ${unknownKey()}` } });
    const unknownKey = () => {
      const { key } = gateway.identities.addKey();
      gateway.identities.principals.clear();
      return key;
    };
    expect((await lookUp()).status).toBe(401);
    const gate = Promise.withResolvers<void>();
    gateway.identities.gate = gate.promise;
    let refused = 0;
    const crowd = Array.from({ length: 140 }, async () => {
      const { status, headers } = await lookUp();
      if (headers.get('retry-after') === '1') refused += 1;
      return status;
    });
    await until('38 rejections', () => refused === 38);
    await untilMetric(gateway, 'gateway_look_ups_waiting', 100);
    gate.resolve();
    expect(new Set(await Promise.all(crowd))).toEqual(new Set([429]));
  });
});

describe('connections', () => {
  test('beyond the limit of an address are closed, until one of its connections ends', async () => {
    gateway = await startGateway({ MAX_CONNECTIONS_PER_ADDRESS: '2' });
    const [first] = [await open(), await open()];
    expect(await isRefused(await open())).toBe(true);
    first.destroy();
    await untilMetric(gateway, 'gateway_connections_open', 1);
    expect(await isRefused(await open())).toBe(false);
  });

  test('of a trusted proxy count towards the total only', async () => {
    gateway = await startGateway({ MAX_CONNECTIONS_PER_ADDRESS: '1', MAX_CONNECTIONS: '3', TRUSTED_PROXIES: '127.0.0.0/8' });
    for (let count = 0; count < 3; count++) {
      const socket = await open();
      socket.write(get('/healthz'));
      await once(socket, 'data');
    }
    expect(await isRefused(await open())).toBe(true);
  });

  test('that got an error are closed even if the client does not close them', async () => {
    gateway = await startGateway();
    const [wrong, slow] = [await open(), await open()];
    wrong.write('no HTTP\r\n\r\n');
    slow.write('GET / HTTP/1.1\r\n');
    await until('answers to what is not HTTP and to a request that does not end', () => statusesOf(wrong)[0] === 400 && statusesOf(slow)[0] === 408);
    await untilMetric(gateway, 'gateway_connections_open', 0);
  }, 40_000);

  test('are closed after an answer if the body of the request does not end', async () => {
    gateway = await startGateway();
    const socket = await open();
    socket.write(`POST /v1/invoices HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n${'x'.repeat(1000)}`);
    await until('an answer 401', () => statusesOf(socket)[0] === 401);
    await untilMetric(gateway, 'gateway_connections_open', 0);
  }, 15_000);
});
