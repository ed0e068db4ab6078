import { ApiError } from '@truckroll/contract';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { invoice } from './support/invoice.ts';
import { request, startGateway, type Answer, type TestGateway } from './support/gateway.ts';
import { answerTo, closeConnections, rawRequest } from './support/raw.ts';

afterEach(closeConnections);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => {
  Object.assign(gateway.invoices, { data: [], next: Buffer.alloc(0), failure: undefined });
});

const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';

/** What every answer has, errors included (decisions §3). */
function expectCommonHeaders({ headers, body }: Answer, authenticated = true): void {
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers.has('x-powered-by')).toBe(false);
  expect(headers.has('etag')).toBe(false);
  if (body !== undefined) expect(body.meta?.request_id ?? body.error?.request_id).toBe(headers.get('x-request-id'));
  if (!authenticated) return;
  expect(headers.get('ratelimit-policy')).toMatch(/^"default";q=6000;w=60$/);
  expect(headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=([1-9]|[1-5]\d|60)$/);
}

function expectError(answer: Answer, status: number, code: string): void {
  expect(answer.status).toBe(status);
  expect(answer.body).toEqual({
    error: { code, message: expect.stringMatching(/\.$/), request_id: expect.any(String), details: expect.any(Array) },
  });
}

describe('a list', () => {
  test('has a page of records, the pagination and the meta', async () => {
    gateway.invoices.data = [invoice({ number: 'A "1"' }), invoice({ number: 'Ü 2' })];
    gateway.invoices.next = Buffer.from('position');
    const answer = await gateway.get('/v1/invoices?limit=2');
    expect(answer.status).toBe(200);
    expectCommonHeaders(answer);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(Object.keys(answer.body)).toEqual(['data', 'pagination', 'meta']);
    expect(answer.body.data.map(({ number }: { number: string }) => number)).toEqual(['A "1"', 'Ü 2']);
    expect(answer.body.meta).toEqual({
      request_id: answer.headers.get('x-request-id'),
      generated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/),
      timezone: 'America/Chicago',
    });
    expect(gateway.invoices.lists.at(-1)?.collection).toMatchObject({ company_id: gateway.companyId, time_zone: 'America/Chicago', limit: 2 });
    expect(gateway.invoices.requestIds.at(-1)).toBe(answer.headers.get('x-request-id'));
  });

  test('without rows is an empty page', async () => {
    const { body } = await gateway.get('/v1/invoices');
    expect(body).toMatchObject({ data: [], pagination: { next_cursor: null } });
  });

  test('continues with its cursor, also with another page size, but with no other change', async () => {
    gateway.invoices.next = Buffer.from('position');
    const cursor = (await gateway.get('/v1/invoices?status=OPEN&status=PAID')).body.pagination.next_cursor;
    expect((await gateway.get(`/v1/invoices?status=PAID&limit=7&status=OPEN&cursor=${cursor}`)).status).toBe(200);
    expect(gateway.invoices.lists.at(-1)?.collection?.after.toString()).toBe('position');
    for (const path of ['invoices?', 'invoices?status=OPEN&', 'payments?', 'invoices?status=OPEN&status=PAID&job_class=INSTALL&']) {
      expectError(await gateway.get(`/v1/${path}cursor=${cursor}`), 400, 'INVALID_CURSOR');
    }
    const other = gateway.identities.addKey();
    const headers = { authorization: `Bearer ${other.key}` };
    expectError(await gateway.get(`/v1/invoices?status=OPEN&status=PAID&cursor=${cursor}`, { headers }), 400, 'INVALID_CURSOR');
  });
});

describe('a detail', () => {
  test('has the record and the meta', async () => {
    gateway.invoices.data = [invoice({ id: ID })];
    const answer = await gateway.get(`/v1/invoices/${ID.toUpperCase()}`);
    expect(answer.status).toBe(200);
    expectCommonHeaders(answer);
    expect(Object.keys(answer.body)).toEqual(['data', 'meta']);
    expect(answer.body.data.id).toBe(ID);
    expect(gateway.invoices.gets.at(-1)?.key).toEqual({ company_id: gateway.companyId, time_zone: 'America/Chicago', id: ID });
  });

  test('of a missing record is a 404', async () => {
    expectError(await gateway.get(`/v1/invoices/${ID}`), 404, 'NOT_FOUND');
  });

  test.each(['abc', '%zz', '%00', `${ID}x`, 'null'])('of the id %s is a 400', async (id) => {
    const answer = await gateway.get(`/v1/invoices/${id}`);
    expectError(answer, 400, 'INVALID_REQUEST');
    expect(answer.body.error.details).toMatchObject([{ location: 'path', field: 'id', code: 'INVALID_UUID' }]);
  });

  test('lists all faults in path and query together', async () => {
    const { body } = await gateway.get('/v1/invoices/abc?limit=1');
    expect(body.error.details.map(({ location }: { location: string }) => location)).toEqual(['query', 'path']);
  });
});

describe('the router', () => {
  test('answers as the fast path of lists and details does', async () => {
    gateway.invoices.data = [invoice({ id: ID })];
    const [fast, routed] = [await gateway.get(`/v1/invoices/${ID}`), await gateway.get(`/v1/invoices/%${ID.charCodeAt(0).toString(16)}${ID.slice(1)}`)];
    expect([routed.status, routed.body.data]).toEqual([200, fast.body.data]);
    expect([...routed.headers.keys()]).toEqual([...fast.headers.keys()]);
    expectCommonHeaders(routed);
  });

  test.each(['GET /v1/invoices# HTTP/1.1', 'GET http://a/v1/nope HTTP/1.1', 'OPTIONS * HTTP/1.1'])('answers %s with 404', async (line) => {
    expect(await rawAnswer(`${line}\r\nHost: a\r\nAuthorization: Bearer ${gateway.key}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 404 /);
  });

  test.each(['/nope', '/v1', '/v1/', '/v1/nope', '/v1/invoices/', '/v1//invoices', '/V1/invoices', '/v1/Invoices', `/v1/invoices/${ID}/x`, '/v2/invoices'])(
    'answers %s with 404',
    async (path) => {
      const answer = await gateway.get(path);
      expectError(answer, 404, 'NOT_FOUND');
      expectCommonHeaders(answer);
    },
  );

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'QUERY'])('answers %s on a read with 405 and Allow', async (method) => {
    const answer = await gateway.get('/v1/invoices', { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET');
    expectCommonHeaders(answer);
    if (method !== 'HEAD') expectError(answer, 405, 'METHOD_NOT_ALLOWED');
  });

  test('answers any path and verb of an anonymous caller with 401', async () => {
    for (const path of ['/nope', '/v1/invoices', '/v1/nope', '/api/v1/x', '/metrics', '/openapi.json/']) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await request(gateway.url + path, { method });
        expectError(answer, 401, 'UNAUTHENTICATED');
        expectCommonHeaders(answer, false);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
        expect(answer.headers.has('ratelimit')).toBe(false);
      }
    }
  });

  test.each(['/docs/how-to/command-line', '/docs/nope.md'])('answers %s, which is no page, with 404 and says where the pages are', async (path) => {
    const answer = await request(gateway.url + path);
    expectError(answer, 404, 'NOT_FOUND');
    expect(answer.body.error.message).toContain('begins at /docs');
    expect((await request(gateway.url + path, { method: 'POST' })).status).toBe(401);
  });
});

describe('public paths', () => {
  test.each(['/healthz', '/readyz'])('%s needs no credential and is not cached', async (path) => {
    const answer = await request(gateway.url + path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expectCommonHeaders(answer, false);
  });

  test.each([
    ['/openapi.json', 'application/json'],
    ['/docs', 'text/html; charset=utf-8'],
    ['/.well-known/api-catalog', 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'],
    ['/favicon.ico', 'image/svg+xml'],
  ])('%s needs no credential, and answers 304 to a client that has the current version', async (path, type) => {
    const answer = await request(gateway.url + path);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([200, type, 'no-cache']);
    const etag = answer.headers.get('etag')!;
    for (const known of [etag, `"other", ${etag.slice(2)}`, '*']) {
      const unchanged = await request(gateway.url + path, { headers: { 'if-none-match': known } });
      expect([unchanged.status, unchanged.text, unchanged.headers.get('etag'), unchanged.headers.get('vary')]).toEqual([
        304,
        '',
        etag,
        answer.headers.get('vary'),
      ]);
    }
    expect((await request(gateway.url + path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    const refused = await request(gateway.url + path, { method: 'POST' });
    expectError(refused, 405, 'METHOD_NOT_ALLOWED');
    expect(refused.headers.get('allow')).toBe('GET, HEAD');
  });

  test.each([
    ['br', 'br', brotliDecompressSync],
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip;q=1, zstd;q=0.5, br;q=0', 'gzip', gunzipSync],
    ['zstd', 'zstd', zstdDecompressSync],
    ['identity, gzip;q=0.5', null, (bytes: Buffer) => bytes],
    ['compress', null, (bytes: Buffer) => bytes],
  ])('documents are compressed for a client that asks by %s', async (header, encoding, decode) => {
    const plain = await rawRequest(`${gateway.url}/openapi.json`, {});
    const packed = await rawRequest(`${gateway.url}/openapi.json`, { 'accept-encoding': header });
    expect([plain.headers['content-encoding'], packed.headers['content-encoding'] ?? null]).toEqual([undefined, encoding]);
    expect(decode(packed.bytes)).toEqual(plain.bytes);
    expect([packed.headers.vary, packed.headers.etag]).toEqual(['Accept-Encoding', plain.headers.etag]);
    if (encoding !== null) expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 8);
  });
});

describe('a browser', () => {
  const browse = (path: string, method = 'GET') =>
    fetch(gateway.url + path, { method, redirect: 'manual', headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' } });

  test.each([
    ['/', 'docs'],
    ['/docs/', '../docs'],
    ['/v1', 'docs'],
    ['/v1/', '../docs'],
    ['/api/v1', '../docs'],
    ['/api/v1/', '../../docs'],
  ])('is redirected from %s to the reference', async (path, location) => {
    const answer = await browse(path);
    expect([answer.status >= 300 && answer.status < 400, answer.headers.get('location')]).toEqual([true, location]);
  });

  test.each(['/nope', '/docs/nope', '/V1/invoices', '/console/a/b', '/v1x', '/%00'])('gets the 404 page at %s', async (path) => {
    const answer = await browse(path);
    const text = await answer.text();
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('vary')]).toEqual([
      404,
      'text/html; charset=utf-8',
      'Accept, Accept-Encoding',
    ]);
    expect(text).not.toContain('nope');
    for (const [, link] of text.matchAll(/href="([^"#]+)"/g)) expect((await fetch(new URL(link!, gateway.url + path))).status).toBe(200);
  });

  test.each([
    ['/v1/nope', 'GET'],
    ['/api/v1/nope', 'GET'],
    ['/nope', 'POST'],
  ])('gets the JSON error, as any program does, at %s by %s', async (path, method) => {
    expect((await browse(path, method)).headers.get('content-type')).toBe('application/json');
  });
});

/** What the gateway sends back for these bytes until it closes the connection. */
const rawAnswer = (text: string): Promise<string> => answerTo(Number(new URL(gateway.url).port), text);

describe('a failure of a service', () => {
  test('is passed on if the service explains it', async () => {
    gateway.invoices.failure = new ApiError('STALE_REVISION', 'Read it again.', {
      details: [{ location: 'body', field: 'expected_revision', code: 'STALE_REVISION', message: 'Read it again.', current_revision: 'ab' }],
    });
    const { status, body } = await gateway.get('/v1/invoices');
    expect(status).toBe(409);
    expect(body.error.details).toEqual([
      { location: 'body', field: 'expected_revision', code: 'STALE_REVISION', message: 'Read it again.', current_revision: 'ab' },
    ]);
  });

  test('without explanation reveals nothing internal', async () => {
    gateway.invoices.failure = new Error('select secret from db.internal');
    const answer = await gateway.get('/v1/invoices');
    expectError(answer, 500, 'INTERNAL_ERROR');
    expect(answer.text).not.toMatch(/select|internal\b|stack/);
  });
});

describe('what is not HTTP', () => {
  test.each([
    ['GET /v1/invoices HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ['GET /v1/invoices HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n', 400],
    ['GET /v1/invoices HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n', 400],
    ['GET /healthz HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n', 400],
    ['GET /v1/invoices HTTP/1.0\r\nHost:\r\n\r\n', 400],
    ['GET /v1/invoices HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAUTHORIZATION: Bearer a\r\nConnection: close\r\n\r\n', 400],
  ])('%# gets the envelope too', async (text, status) => {
    const answer = await rawAnswer(text);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain(`X-Request-Id: ${JSON.parse(body).error.request_id}`);
    expect(JSON.parse(body).error.code).toBe('INVALID_REQUEST');
  });
});

test('the router does not percent-decode fixed parts of a path, because a filter in front would not recognise them', async () => {
  for (const path of ['/v1/%69nvoices', '/%761/invoices', `/v1/invoice%73/${ID}`]) expectError(await gateway.get(path), 404, 'NOT_FOUND');
  gateway.invoices.data = [invoice({ id: ID })];
  expect((await gateway.get(`/v1/invoices/${ID.replace('0', '%30')}`)).status).toBe(200);
});
