import { randomBytes, randomUUID } from 'node:crypto';
import type { LeasedDelivery } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { attempt } from '../src/send/attempt.ts';
import { Connections } from '../src/send/connections.ts';
import { createDial } from '../src/send/dial.ts';
import { closing, receiver } from './support/opened.ts';
import { startReceiver } from './support/receiver.ts';
import { leased } from './support/worker.ts';

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
  const own = ['Content-Type', 'Webhook-Id', 'webhook-timestamp', 'Webhook-Signature', 'X-Api-Key', 'Authorization'].map((name) => ({
    name,
    value: 'of the endpoint',
  }));
  const sent = delivery(there.url, { headers: own, event_id: randomUUID() });
  const report = await attempts([there.target]).run(sent);
  const { headers } = there.received[0]!;
  expect(headers).toMatchObject({
    'x-api-key': 'of the endpoint',
    authorization: 'of the endpoint',
    'user-agent': 'Truckroll-Webhooks/1.0',
    'content-type': 'application/json',
  });
  expect(headers).toMatchObject({ 'webhook-id': sent.event_id, 'webhook-timestamp': expect.stringMatching(/^\d{10}$/) });
  expect(headers['webhook-signature']!.split(' ').map((signature) => signature.slice(0, 3))).toEqual(['v1,', 'v1,']);
  expect(JSON.stringify(report)).not.toContain('of the endpoint');
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
    retry_after_seconds: null,
    response_truncated: false,
    response_headers: [],
  });
  const forbidden = await attempts([]).run(delivery(gone.url));
  expect(forbidden).toMatchObject({ error: 'ATTEMPT_ERROR_FORBIDDEN_TARGET', resolved_address: null, request_headers: [] });
});
