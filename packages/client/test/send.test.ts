// The client against servers that answer late, partially, or not as Truckroll.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConnectionError, TimeoutError, TruckrollError, createClient } from '../src/index.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listening(answer: RequestListener): Promise<string> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const failureOf = (call: Promise<unknown>): Promise<any> =>
  call.then(
    () => undefined,
    (reason: unknown) => reason,
  );

test('an attempt times out when the response or its body takes too long', async () => {
  for (const answer of [
    () => undefined,
    (_: unknown, response: any) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"data":'),
  ]) {
    const api = createClient({ baseUrl: await listening(answer), token: 'trk_', timeoutMs: 50, retries: 0 });
    expect(await failureOf(api.get('/v1/company'))).toBeInstanceOf(TimeoutError);
    server?.closeAllConnections();
    server?.close();
  }
});

test('aborting the signal ends a call during a wait between attempts, with the reason of the signal', async () => {
  const giveUp = new AbortController();
  const baseUrl = await listening((_, response) => void response.writeHead(503, { 'retry-after': '60' }).end());
  const api = createClient({ baseUrl, token: 'trk_', onRetry: () => giveUp.abort(new Error('enough')) });
  expect(await failureOf(api.get('/v1/company', { signal: giveUp.signal }))).toMatchObject({ message: 'enough' });
});

test('a write without an idempotency key is sent only once', async () => {
  let requests = 0;
  const baseUrl = await listening((request) => {
    requests += 1;
    request.socket.destroy();
  });
  const api = createClient({ baseUrl, token: 'jwt' });
  const failure = await failureOf(api.post('/api/v1/integrations/api-keys', { body: { name: 'Nightly' } }));
  expect(failure).toBeInstanceOf(ConnectionError);
  expect(failure.cause).toBeDefined();
  expect(requests).toBe(1);
});

test('a write keeps its generated or given idempotency key through all attempts', async () => {
  const keys: unknown[] = [];
  const baseUrl = await listening((request, response) => {
    keys.push(request.headers['idempotency-key']);
    response.writeHead(503).end();
  });
  const api = createClient({ baseUrl, token: 'trk_', retries: 1 });
  const body = { expected_revision: 'a'.repeat(64) };
  const path = { id: '00000000-0000-4000-8000-000000000000' };
  await failureOf(api.delete('/v1/job-assignments/{id}', { path, body }));
  await failureOf(api.delete('/v1/job-assignments/{id}', { path, body, idempotencyKey: 'mine-0001' }));
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0], 'mine-0001', 'mine-0001']);
});

test('a page that did not come from Truckroll is an error even with status 200', async () => {
  const api = createClient({ baseUrl: await listening((_, response) => void response.end('<h1>Sign in to the hotel</h1>')), token: 'trk_' });
  const failure = await failureOf(api.get('/v1/company'));
  expect(failure).toBeInstanceOf(TruckrollError);
  expect(failure).toMatchObject({ code: 'UNRECOGNIZED', status: 200 });
  expect(await failure.response.text()).toContain('hotel');
});

test('parameters are encoded as the API reads them, and a custom fetch is used', async () => {
  const asked: string[] = [];
  const fetch = async (url: string) => {
    asked.push(url);
    return Response.json({ data: [], pagination: { next_cursor: null }, meta: {} }, { headers: { 'x-request-id': 'r-1' } });
  };
  const api = createClient({ baseUrl: 'https://api.example.com/', token: async () => 'trk_', fetch });
  const page = await api.get('/v1/invoices', { query: { status: ['OPEN', 'PAID'], created_from: '2026-03-01T00:00:00+01:00' } });
  expect(asked).toEqual(['https://api.example.com/v1/invoices?status=OPEN&status=PAID&created_from=2026-03-01T00%3A00%3A00%2B01%3A00']);
  expect(page.requestId).toBe('r-1');
});
