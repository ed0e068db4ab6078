// What an answer of the text-message provider, or its lack, says about a message: whether it may be sent again.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createLog, silentLog } from '@truckroll/telemetry';
import { chooseProviders } from '../src/notifications/providers.ts';
import { smsProvider } from '../src/notifications/providers/sms.ts';
import { startSmsServer, type SmsServer } from './providers.ts';

const MESSAGE = { id: 'n-1', address: '+15125550142', subject: '', text: 'On our way' };
const LONG_MS = 60_000;

let server: SmsServer;
beforeAll(async () => void (server = await startSmsServer()));
afterAll(() => server.stop());

const send = (url = server.url, { token = 'secret', timeoutMs = LONG_MS } = {}) => smsProvider({ url, token, timeoutMs }).send(MESSAGE);

test.each([
  [200, 'SENT'],
  [202, 'SENT'],
  [299, 'SENT'],
  [302, 'UNKNOWN'],
  [399, 'UNKNOWN'],
  [400, 'FAILED'],
  [404, 'FAILED'],
  [499, 'FAILED'],
  [500, 'UNKNOWN'],
  [503, 'UNKNOWN'],
])('an answer %i means %s', async (status, outcome) => {
  server.answer(status);
  expect(await send()).toEqual({ outcome, detail: `HTTP ${status}` });
});

test('sends the token only if there is one, and follows no redirect', async () => {
  server.answer(302);
  server.requests.length = 0;
  await send();
  await send(server.url, { token: '' });
  expect(
    server.requests.map(({ method, headers, body }) => [method, headers.authorization, headers['content-type'], headers['idempotency-key'], body]),
  ).toEqual(['Bearer secret', undefined].map((token) => ['POST', token, 'application/json', 'n-1', { id: 'n-1', to: '+15125550142', text: 'On our way' }]));
});

test('a connection that is lost after the request leaves the outcome UNKNOWN', async () => {
  server.answer('hang up');
  expect(await send()).toMatchObject({ outcome: 'UNKNOWN' });
});

test('no answer in time leaves the outcome UNKNOWN', async () => {
  server.answer('nothing');
  expect(await send(server.url, { timeoutMs: 100 })).toMatchObject({ outcome: 'UNKNOWN', detail: expect.stringContaining('TimeoutError') });
}, 10_000);

test('a provider that cannot be reached has not taken the message', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, 'close');
  expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ outcome: 'UNTAKEN', detail: 'ECONNREFUSED' });
});

test('messages fail, and a warning names the variable, while no provider is configured', async () => {
  const logged: Record<string, unknown>[] = [];
  const log = createLog('test', 'info', { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) });
  const { SMS, EMAIL } = chooseProviders({}, log);
  expect(await SMS.send(MESSAGE)).toEqual({ outcome: 'FAILED', detail: 'no provider is configured: set SMS_URL' });
  expect(await EMAIL.send(MESSAGE)).toEqual({ outcome: 'FAILED', detail: 'no provider is configured: set SMTP_URL' });
  expect(logged.map(({ level, channel }) => [level, channel])).toEqual([
    ['warn', 'EMAIL'],
    ['warn', 'SMS'],
  ]);
});

test('sends text messages without a token if none is configured', async () => {
  server.answer(202);
  server.requests.length = 0;
  const { SMS } = chooseProviders({ smsUrl: server.url }, silentLog);
  expect(await SMS.send(MESSAGE)).toMatchObject({ outcome: 'SENT' });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});
