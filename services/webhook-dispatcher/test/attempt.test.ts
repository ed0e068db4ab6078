import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import type { LeasedDelivery } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { attempt } from '../src/send/attempt.ts';
import { Connections } from '../src/send/connections.ts';
import { createDial } from '../src/send/dial.ts';
import { closeOpened, closing, listening, receiver } from './support/opened.ts';
import { startReceiver } from './support/receiver.ts';
import { leased } from './support/worker.ts';

afterEach(closeOpened);

function attempts(allowed: readonly string[], bodyLimit = 100) {
  const policy = { allowHttp: false, allowedTargets: [...allowed], deniedTargets: [] };
  const resolve = () => Promise.reject(new Error('nothing is resolved'));
  const connections = closing(new Connections({ dial: createDial({ policy, resolve }), mostPerAddress: 10 }));
  const charged: number[] = [];
  const run = (delivery: LeasedDelivery) => attempt({ connections, policy, timeoutMs: 15_000, bodyLimit }, delivery, (ms) => void charged.push(ms));
  return { run, charged };
}

const delivery = (url: string, fields: Partial<LeasedDelivery> = {}): LeasedDelivery => ({
  ...leased('endpoint'),
  url,
  secrets: [randomBytes(32), randomBytes(32)],
  body: Buffer.from('{"n":1}'),
  ...fields,
});

test('sends headers of the endpoint, none of which replaces the content type or the signature', async () => {
  const there = await receiver();
  const own = ['Content-Type', 'Webhook-Id', 'webhook-timestamp', 'Webhook-Signature', 'X-Api-Key', 'Authorization', 'User-Agent'].map((name) => ({
    name,
    value: 'of the endpoint',
  }));
  const sent = delivery(there.url, { headers: own, event_id: randomUUID() });
  const report = await attempts([there.target]).run(sent);
  const { headers } = there.received[0]!;
  expect(headers).toMatchObject({
    'x-api-key': 'of the endpoint',
    authorization: 'of the endpoint',
    'user-agent': 'of the endpoint',
    'content-type': 'application/json',
  });
  expect(headers).toMatchObject({ 'webhook-id': sent.event_id, 'webhook-timestamp': expect.stringMatching(/^\d{10}$/) });
  expect(headers['webhook-signature']!.split(' ').map((signature) => signature.slice(0, 3))).toEqual(['v1,', 'v1,']);
  expect(report?.request_headers).toContainEqual({ name: 'x-api-key', value: '(hidden)' });
  expect(JSON.stringify(report)).not.toContain('of the endpoint');
});

test('hides the values of headers that the receiver repeats in headers, body and malformed names, also where the log cuts them', async () => {
  const value = 'Bearer sk-live-0123456789';
  const headers = [{ name: 'Authorization', value }];
  const echoing = await receiver((response) => response.writeHead(200, { 'x-echo': `of ${value}` }).end(`{"authorization":"${value}"}`.padEnd(91) + value));
  const report = (await attempts([echoing.target]).run(delivery(echoing.url, { headers })))!;
  expect(echoing.received[0]!.headers).toMatchObject({ authorization: value });
  expect(report.response_headers).toContainEqual({ name: 'x-echo', value: 'of (hidden)' });
  expect(Buffer.from(report.response_body).toString()).toMatch(/^\{"authorization":"\(hidden\)"\} +\(hidden\)$/);
  const server = createServer((socket) => void socket.on('error', () => undefined).once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${value}: 1\r\n\r\n`)));
  const target = `127.0.0.1:${await listening(server)}`;
  const failed = (await attempts([target]).run(delivery(`http://${target}/`, { headers })))!;
  expect(failed.error_message).toContain('the header name "(hidden)"');
});

test('keeps 16 KB of the headers of an answer, and heeds all of them', async () => {
  const KB16 = 16 * 1024;
  const there = await receiver((response) => {
    response.sendDate = false;
    response.writeHead(503, { 'x-long': 'x'.repeat(20_000), 'retry-after': '7' }).end();
  });
  const report = (await attempts([there.target]).run(delivery(there.url)))!;
  expect(report.response_headers).toEqual([{ name: 'x-long', value: `${'x'.repeat(KB16 - 'x-long'.length)}… (cut)` }]);
  expect(report.retry_after_seconds).toBe(7);
});

test.each([
  [true, 'true'],
  [false, undefined],
  [null, undefined],
])('marks a test by the header Webhook-Test, and nothing else (%p)', async (isTest, value) => {
  const there = await receiver();
  await attempts([there.target]).run(delivery(there.url, { test: isTest }));
  expect(there.received[0]!.headers).toMatchObject({ 'user-agent': 'Truckroll-Webhooks/1.0' });
  expect(there.received[0]!.headers['webhook-test']).toBe(value);
});

test('reports the answer with its lease, its times in microseconds, and when to try again', async () => {
  const there = await receiver((response) => response.writeHead(503, { 'retry-after': '7', 'x-one': '1' }).end('x'.repeat(101)));
  const before = Date.now() * 1000;
  const sent = delivery(there.url);
  const { run, charged } = attempts([there.target]);
  const report = (await run(sent))!;
  expect(report).toMatchObject({
    delivery_id: sent.delivery_id,
    lease_token: sent.lease_token,
    response_status: 503,
    error: 'ATTEMPT_ERROR_UNSPECIFIED',
    error_message: '',
    response_truncated: true,
    retry_after_seconds: 7,
    resolved_address: '127.0.0.1',
  });
  expect(report.started_at).toBeGreaterThanOrEqual(before);
  expect(report.ended_at).toBeLessThanOrEqual(Date.now() * 1000);
  expect(Buffer.from(report.response_body).toString()).toBe('x'.repeat(100));
  expect(report.response_headers).toContainEqual({ name: 'x-one', value: '1' });
  expect(charged).toEqual([expect.any(Number)]);
});

test('reports why there is no answer, without a status and without a time to try again', async () => {
  const gone = await startReceiver();
  await gone.close();
  const report = await attempts([gone.target]).run(delivery(gone.url));
  expect(report).toMatchObject({
    response_status: null,
    error: 'ATTEMPT_ERROR_CONNECT',
    error_message: 'The connection was refused.',
    resolved_address: '127.0.0.1',
    retry_after_seconds: null,
    response_truncated: false,
    response_headers: [],
  });
  const forbidden = await attempts([]).run(delivery(gone.url));
  expect(forbidden).toMatchObject({ error: 'ATTEMPT_ERROR_FORBIDDEN_TARGET', resolved_address: null, request_headers: [] });
});
