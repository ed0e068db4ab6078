// The client behind a proxy that ends held polls and serves the API below a path prefix.
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { cuttingProxy, type CuttingProxy } from '../../../tools/testing/src/cutting-proxy.ts';
import { createClient } from '../src/index.ts';

const opened: (CuttingProxy | Server)[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) {
    if ('closeAllConnections' in each) each.closeAllConnections();
    await each.close();
  }
});

const LIMIT_MS = 1500;
const page = (nextCursor: string, hasMore: boolean, ...data: object[]) => ({ data, nextCursor, hasMore, asOf: '2026-03-02T15:04:05Z' });
const change = { kind: 'tags', id: '1', change: 'UPSERTED', changedAt: '2026-03-02T15:04:05Z', version: '7', record: { id: '1' } };

/** A feed that holds the first `holds` polls for ever, and answers the next with a change. The others are answered at once. */
async function feedBehind(answers504: boolean, holds: number) {
  const asked: string[] = [];
  let polls = 0;
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api');
    asked.push(`${pathname} ${searchParams.get('cursor')} ${searchParams.get('wait')}`);
    const isPoll = searchParams.get('wait') !== '0';
    if (isPoll && polls++ < holds) return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(isPoll ? page('b', false, change) : page('a', false)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(server);
  const proxy = await cuttingProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { limitMs: LIMIT_MS, answers504 });
  opened.push(proxy);
  return { asked, proxy };
}

test.each([
  ['answers 504', true],
  ['closes the connection', false],
])('follows the feed through a proxy that %s before a poll ends', async (_, answers504) => {
  const { asked, proxy } = await feedBehind(answers504, 2);
  const retried: unknown[] = [];
  const api = createClient({ baseUrl: proxy.url, token: 'trk_', retries: 0, onRetry: (retry) => void retried.push(retry) });
  for await (const { data } of api.changes({ follow: true })) if (data.length > 0) break;
  const path = '/api/v1/integrations/changes';
  expect(asked).toEqual([`${path} null 0`, `${path} a 20`, `${path} a 0`, `${path} a 20`, `${path} a 0`, `${path} a 20`]);
  expect(retried).toEqual([]);
});

test('waits as long as the caller chooses', async () => {
  const { asked, proxy } = await feedBehind(true, 0);
  for await (const { data } of createClient({ baseUrl: proxy.url, token: 'trk_' }).changes({ follow: true, waitSeconds: 7 })) if (data.length > 0) break;
  expect(asked.at(-1)).toMatch(/ 7$/);
});

test('rejects when the API is away after a poll was cut, and when a request that is not held is cut', async () => {
  const { proxy } = await feedBehind(false, 1);
  const api = createClient({ baseUrl: proxy.url, token: 'trk_', retries: 0 });
  const following = (async () => {
    for await (const { nextCursor } of api.changes({ follow: true })) if (nextCursor === 'a') void proxy.cut(1).then(() => proxy.close());
  })();
  await expect(following).rejects.toMatchObject({ name: 'ConnectionError' });
  opened.pop();
});

test('reads large pages through a proxy that compresses if asked to, and closes the connection after each answer', async () => {
  const record = () => ({ ...change, record: { id: randomBytes(250).toString('hex') } });
  const text = JSON.stringify(page('a', true, ...Array.from({ length: 1000 }, record)));
  const compressed = gzipSync(text);
  expect(compressed.length).toBeGreaterThan(128 * 1024);
  const server = createServer((request, response) => {
    const gzip = /gzip/.test(String(request.headers['accept-encoding']));
    const body = gzip ? compressed : Buffer.from(text);
    const headers = { 'content-type': 'application/json', 'content-length': body.length, connection: 'close' };
    response.writeHead(200, gzip ? { ...headers, 'content-encoding': 'gzip' } : headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(server);
  const api = createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'trk_', retries: 0 });
  let pages = 0;
  for await (const { data } of api.changes()) {
    expect(data).toHaveLength(1000);
    if ((pages += 1) === 10) break;
  }
});
