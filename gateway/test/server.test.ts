// The HTTP server by itself: its limits of time, its answers to what is not HTTP, and the caps of connections.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createMetrics } from '@truckroll/telemetry';
import { until } from '@truckroll/testing/until';
import express from 'express';
import { createHttpServer, type HttpServerOptions } from '../src/http/server.ts';
import { answerTo, closeConnections, openConnection } from './support/raw.ts';

afterEach(closeConnections);

const drains: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(drains.splice(0).map((drain) => drain())));

async function start(options: Partial<HttpServerOptions> = {}) {
  const metrics = createMetrics('test');
  const app = express().use((_req, res) => void res.end('served'));
  const server = createHttpServer(app, { keepAliveMs: 65_000, total: 100, perAddress: 100, isProxy: () => false, ...options }, metrics);
  const port = await server.listen(0, '127.0.0.1');
  drains.push(() => server.drain(1000, 0));
  const metric = async (name: string): Promise<number> => {
    const line = (await metrics.render()).body.split('\n').find((each) => each.startsWith(name));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  const untilMetric = (name: string, value: number) =>
    until(
      `${name} to be ${value}`,
      () => metric(name),
      (found) => found === value,
    );
  return { port, metric, untilMetric };
}

test('gives up on slow and silent clients in time', async () => {
  const { port } = await start();
  const servers: Server[] = [];
  const note = (message: unknown): void => void servers.push((message as { server: Server }).server);
  subscribe('http.server.request.start', note);
  try {
    await answerTo(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  } finally {
    unsubscribe('http.server.request.start', note);
  }
  const { headersTimeout, requestTimeout, timeout, keepAliveTimeout } = servers[0]!;
  expect({ headersTimeout, requestTimeout, timeout, keepAliveTimeout }).toEqual({
    headersTimeout: 10_000,
    requestTimeout: 20_000,
    timeout: 75_000,
    keepAliveTimeout: 4000,
  });
});

test.each([5000, 620_000])('lets a connection be idle between two requests for %i ms, whatever the other limits are', async (keepAliveMs) => {
  const sockets: Socket[] = [];
  const note = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
  subscribe('http.server.request.start', note);
  try {
    const { port } = await start({ keepAliveMs });
    const connection = await openConnection(port);
    for (let requests = 1; requests <= 2; requests += 1) {
      connection.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(connection, 'data');
      expect(sockets).toHaveLength(requests);
      // A socket's limit without traffic, in ms.
      expect(sockets[0]!.timeout).toBe(keepAliveMs);
    }
    connection.destroy();
  } finally {
    unsubscribe('http.server.request.start', note);
  }
});

test.each([
  ['GET / HTTP/1.1\r\nX: ' + 'y'.repeat(70_000), 'Path, query and headers together are too large. Ask for fewer values at once.'],
  ['get / HTTP/1.1\r\n\r\n', 'The method is not known. Methods are in capitals: GET, POST, PATCH, DELETE.'],
  ['garbage\r\n\r\n', 'The method is not known. Methods are in capitals: GET, POST, PATCH, DELETE.'],
  ['GET / HTTP/1.1\r\nno header\r\n\r\n', 'This is not HTTP/1.1 as RFC 9112 defines it.'],
  ['CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 'This server is no proxy: it does not know CONNECT.'],
])('answers what is not HTTP with the reason, and closes the connection (%#)', async (text, message) => {
  const { port } = await start();
  const [head = '', body = ''] = (await answerTo(port, text)).split('\r\n\r\n');
  const { error } = JSON.parse(body) as { error: { request_id: string } };
  expect(error).toEqual({ code: 'INVALID_REQUEST', message, request_id: expect.any(String) as string, details: [] });
  expect(head.split('\r\n')).toEqual([
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Cache-Control: private, no-store',
    `X-Request-Id: ${error.request_id}`,
    'Connection: close',
  ]);
});

test('serves a request that expects something else than to continue', async () => {
  const { port } = await start();
  expect(await answerTo(port, 'GET / HTTP/1.1\r\nHost: x\r\nExpect: a wonder\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*served$/);
});

test('does not listen at a port that is taken', async () => {
  const { port } = await start();
  const second = createHttpServer(express(), { keepAliveMs: 65_000, total: 1, perAddress: 1, isProxy: () => false }, createMetrics('test'));
  await expect(second.listen(port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

describe('connections', () => {
  test('beyond the cap of an address are closed and counted, and make room when they end', async () => {
    const { port, metric, untilMetric } = await start({ perAddress: 2 });
    const [first] = [await openConnection(port), await openConnection(port)];
    const refused = await openConnection(port);
    await refused.ended;
    expect(refused.received).toBe('');
    await untilMetric('gateway_connections_open', 2);
    expect([await metric('gateway_connections_refused_total{cap="address"'), await metric('gateway_connections_refused_total{cap="total"')]).toEqual([1, 0]);
    // A refused connection frees no place when it closes: the next one is refused, too.
    await (await openConnection(port)).ended;
    first.destroy();
    await untilMetric('gateway_connections_open', 1);
    expect(await answerTo(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(/served$/);
    expect(await metric('gateway_connections_refused_total{cap="address"')).toBe(2);
  });

  test('beyond the total are closed and counted, also those of a proxy, for which only the total counts', async () => {
    const { port, metric, untilMetric } = await start({ total: 3, perAddress: 1, isProxy: (address) => address === '127.0.0.1' });
    for (let count = 0; count < 3; count += 1) await openConnection(port);
    await untilMetric('gateway_connections_open', 3);
    await (await openConnection(port)).ended;
    await untilMetric('gateway_connections_refused_total{cap="total"', 1);
    expect(await metric('gateway_connections_refused_total{cap="address"')).toBe(0);
  });
});
