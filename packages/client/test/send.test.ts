// The client against servers that answer late, partially, or not as Truckroll.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConnectionError, TimeoutError, TruckrollError, createClient } from '../src/index.ts';
import { pause } from '../src/send.ts';

const { spyOn } = jest;

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

describe('by default', () => {
  const failing = (headers: Record<string, string> = {}) => {
    let requests = 0;
    const fetch = async () => {
      requests += 1;
      return Response.json({ error: { code: 'RATE_LIMITED', message: 'Wait.', request_id: 'r' } }, { status: 429, headers });
    };
    return { fetch, requests: () => requests };
  };

  test('a read is retried five times, and a write without a key never', async () => {
    const random = spyOn(Math, 'random').mockReturnValue(0);
    try {
      const { fetch, requests } = failing();
      const pauses: [number, number][] = [];
      const api = createClient({
        baseUrl: 'https://api.example.com',
        token: 'trk_',
        fetch,
        onRetry: ({ attempts, pauseMs }) => pauses.push([attempts, pauseMs]),
      });
      expect(await failureOf(api.get('/v1/company'))).toMatchObject({ code: 'RATE_LIMITED', status: 429, requestId: 'r', details: [] });
      expect(requests()).toBe(6);
      expect(pauses).toEqual([1, 2, 3, 4, 5].map((attempts) => [attempts, 0]));
      await failureOf(api.post('/api/v1/integrations/api-keys', { body: { name: 'Nightly' } }));
      expect(requests()).toBe(7);
    } finally {
      random.mockRestore();
    }
  });

  test('a Retry-After of more than 90 seconds is not waited for', async () => {
    const { fetch, requests } = failing({ 'retry-after': '91' });
    expect(await failureOf(createClient({ baseUrl: 'https://api.example.com', token: 'trk_', fetch }).get('/v1/company'))).toMatchObject({
      retryAfterSeconds: 91,
    });
    expect(requests()).toBe(1);
    const giveUp = new AbortController();
    const slow = failing({ 'retry-after': '90' });
    const waits = createClient({ baseUrl: 'https://api.example.com', token: 'trk_', fetch: slow.fetch, onRetry: () => giveUp.abort(new Error('it waits')) });
    expect(await failureOf(waits.get('/v1/company', { signal: giveUp.signal }))).toMatchObject({ message: 'it waits' });
  });

  test('an attempt may take 30 seconds, or as long as the client or the call says', async () => {
    const timeouts: number[] = [];
    const timeout = spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
      timeouts.push(milliseconds);
      return new AbortController().signal;
    });
    try {
      const fetch = async () => Response.json({ data: {} });
      const options = { baseUrl: 'https://api.example.com', token: 'trk_', fetch };
      await createClient(options).get('/v1/company');
      await createClient({ ...options, timeoutMs: 7 }).get('/v1/company');
      await createClient({ ...options, timeoutMs: 7 }).get('/v1/company', { timeoutMs: 8 });
      expect(timeouts).toEqual([30_000, 7, 8]);
    } finally {
      timeout.mockRestore();
    }
  });
});

test('the token is read anew for every request, and no other header replaces it', async () => {
  const sent: Record<string, string | null>[] = [];
  const fetch = async (_: string, { headers }: RequestInit) => {
    const given = new Headers(headers);
    sent.push(Object.fromEntries(['authorization', 'accept', 'x-one', 'x-two'].map((name) => [name, given.get(name)])));
    return Response.json({ data: {} });
  };
  let asked = 0;
  const api = createClient({
    baseUrl: 'https://api.example.com//',
    token: () => `t${(asked += 1)}`,
    fetch,
    headers: { 'x-one': 'client', 'x-two': 'client', authorization: 'Basic x' },
  });
  await api.get('/v1/company', { headers: { 'x-two': 'call', authorization: 'Basic y', accept: 'text/csv' } });
  await api.get('/v1/company');
  expect(sent).toEqual([
    { authorization: 'Bearer t1', accept: 'text/csv', 'x-one': 'client', 'x-two': 'call' },
    { authorization: 'Bearer t2', accept: 'application/json', 'x-one': 'client', 'x-two': 'client' },
  ]);
});

test('a wait that has ended leaves nothing on the signal', async () => {
  const { signal } = new AbortController();
  const [added, removed] = [spyOn(signal, 'addEventListener'), spyOn(signal, 'removeEventListener')];
  await pause(0, signal);
  expect(removed.mock.calls.map(([type, listener]) => [type, listener])).toEqual(added.mock.calls.map(([type, listener]) => [type, listener]));
  expect(added).toHaveBeenCalledTimes(1);
  await expect(pause(0, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
});

test('a body that breaks off is a failed attempt, and its error names the request', async () => {
  let requests = 0;
  const baseUrl = await listening((request, response) => {
    requests += 1;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"data":');
    if (requests > 1) response.end('{}}'.padEnd(92));
    else setImmediate(() => request.socket.destroy());
  });
  const api = createClient({ baseUrl, token: 'trk_', retries: 1 });
  expect((await api.get('/v1/company')) as object).toMatchObject({ data: {} });
  expect(requests).toBe(2);
});

test('an error’s body can be read again, and the revision in it is found among its details', async () => {
  const body = {
    error: {
      code: 'STALE_REVISION',
      message: 'It changed.',
      request_id: 'r-2',
      details: [
        { location: 'body', field: 'name', code: 'MISSING', message: '' },
        { location: 'body', field: 'expected_revision', code: 'STALE_REVISION', message: '', current_revision: 'r9' },
      ],
    },
  };
  const fetch = async () => Response.json(body, { status: 409, headers: { 'x-request-id': 'of-a-proxy' } });
  const failure = await failureOf(createClient({ baseUrl: 'https://api.example.com', token: 'trk_', fetch }).get('/v1/company'));
  expect(failure).toMatchObject({ code: 'STALE_REVISION', status: 409, requestId: 'r-2', currentRevision: 'r9', retryAfterSeconds: undefined });
  expect(await failure.response.json()).toEqual(body);
});
