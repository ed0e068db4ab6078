// Documents and public pages by themselves: caching, compression, alternatives and the limit of an address.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { ApiError } from '@truckroll/contract';
import express, { type ErrorRequestHandler } from 'express';
import { Document, pageHeaders } from '../src/http/documents.ts';
import type { Exchange } from '../src/http/exchange.ts';
import { catalogPage, publicPages, textPage, type PublicPageOptions } from '../src/routes/public-pages.ts';
import { rawRequest } from './support/raw.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

const HTML = new Document('text/html; charset=utf-8', '<p>', ['X-Own', 'html']);
const MARKDOWN = new Document('text/markdown; charset=utf-8', '*');
const MISSING = new Document('text/html; charset=utf-8', 'missing', [], 404);

/** Pages of addresses that the header `from` names. Requests that no page answers get 299, errors their status and headers. */
async function serving(pages: PublicPageOptions['pages'], perMinute = 100) {
  const failed: ErrorRequestHandler = (error: ApiError, _req, res, _next) => {
    const { errorHeaders } = res.locals.exchange;
    const headers = [...errorHeaders, ...(error.retryAfterSeconds === undefined ? [] : ['Retry-After', String(error.retryAfterSeconds)])];
    res.writeHead(error.status, headers).end(error.message);
  };
  const app = express()
    .use((req, res, next) => {
      const peer = String(req.headers['from'] ?? '192.0.2.7');
      res.locals.exchange = { req, res, requestId: 'r-1', path: req.path, peer, errorHeaders: [] } as unknown as Exchange;
      next();
    })
    .use(publicPages({ pages, missing: () => MISSING, perMinute, draining: { active: false } }))
    .use((_req, res) => void res.writeHead(299).end())
    .use(failed);
  const server = createServer(app);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return (path: string, headers: Record<string, string> = {}, method?: string) => rawRequest(`http://127.0.0.1:${port}${path}`, headers, method);
}

const BROWSER = { accept: 'text/html,*/*;q=0.8' };

describe('a document', () => {
  test.each([
    [1399, undefined],
    [1400, 'gzip'],
  ])('of %i bytes is compressed as %s', async (size, encoding) => {
    const text = 'x'.repeat(size);
    const get = await serving({ '/a': new Document('text/plain', text) });
    for (let times = 0; times < 2; times += 1) {
      const { headers, bytes } = await get('/a', { 'accept-encoding': 'gzip' });
      expect([headers['content-encoding'], headers.vary, headers['content-length']]).toEqual([encoding, 'Accept-Encoding', String(bytes.length)]);
      expect((encoding === undefined ? bytes : gunzipSync(bytes)).toString()).toBe(text);
    }
  });

  test('has its own headers, and a tag of its content', async () => {
    const get = await serving({ '/a': HTML, '/b': new Document('text/html; charset=utf-8', '<p>'), '/c': new Document('text/html', '<b>') });
    const [a, b, c] = [await get('/a'), await get('/b'), await get('/c')];
    expect([a.headers['x-own'], b.headers['x-own'], a.headers['cache-control']]).toEqual(['html', undefined, 'no-cache']);
    expect(a.headers.etag).toMatch(/^W\/"[\w-]{22}"$/);
    expect([a.headers.etag === b.headers.etag, a.headers.etag === c.headers.etag]).toEqual([true, false]);
    const known = await get('/a', { 'if-none-match': a.headers.etag! });
    expect([known.status, known.headers['x-own'], known.headers.etag]).toEqual([304, 'html', a.headers.etag]);
  });

  test('that says that nothing is there is sent in full, whatever the client knows', async () => {
    const get = await serving({});
    const { headers } = await get('/none', BROWSER);
    const again = await get('/none', { ...BROWSER, 'if-none-match': headers.etag! });
    expect([again.status, again.bytes.toString()]).toEqual([404, 'missing']);
  });
});

test.each([
  [undefined, 'html'],
  ['text/html', 'html'],
  ['text/markdown', 'markdown'],
  ['text/markdown;q=0.1, text/html', 'html'],
  ['text/markdown; charset=utf-8', 'markdown'],
  ['application/json', 'html'],
])('of several forms of a page, sends to a client that accepts %s the one in %s', async (accept, form) => {
  const get = await serving({ '/docs': [HTML, MARKDOWN] });
  const { headers } = await get('/docs', accept === undefined ? {} : { accept });
  expect([headers['content-type'], headers.vary]).toEqual([`text/${form}; charset=utf-8`, 'Accept, Accept-Encoding']);
});

test('makes a changing page for every request', async () => {
  let status = 503;
  const get = await serving({ '/readyz': () => textPage(status, 'state\n') });
  expect((await get('/readyz')).status).toBe(503);
  status = 200;
  expect((await get('/readyz')).status).toBe(200);
});

describe('an address', () => {
  test('may request as many pages as the limit, of all kinds together, and waits for the rest of the minute', async () => {
    const get = await serving({ '/docs': HTML, '/healthz': textPage(200, 'ok\n') }, 3);
    expect((await get('/docs')).status).toBe(200);
    expect((await get('/none', BROWSER)).status).toBe(404);
    expect((await get('/v1', BROWSER)).status).toBe(302);
    for (const path of ['/docs', '/none', '/v1']) {
      const { status, headers, bytes } = await get(path, BROWSER);
      expect([status, Number(headers['retry-after']) > 50]).toEqual([429, true]);
      expect(bytes.toString()).toBe('More than 3 public pages in a minute were sent to this address. Go on after the time in Retry-After.');
    }
    expect((await get('/healthz')).status).toBe(200);
    expect((await get('/docs/none')).status).toBe(429);
    // What else programs ask for is counted elsewhere.
    expect([(await get('/none')).status, (await get('/v1/none', BROWSER)).status]).toEqual([299, 299]);
    expect((await get('/docs', { from: '192.0.2.8' })).status).toBe(200);
  });

  test('is counted before its Accept is parsed', async () => {
    const get = await serving({}, 2);
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await get('/none', { accept: 'text/plain' })).status);
    expect([...statuses, (await get('/none')).status]).toEqual([299, 299, 429, 299]);
  });

  test('shares the limit with all addresses of its subscriber', async () => {
    const get = await serving({ '/docs': HTML }, 1);
    expect((await get('/docs', { from: '2001:db8::1' })).status).toBe(200);
    expect((await get('/docs', { from: '2001:db8::2' })).status).toBe(429);
  });
});

test.each([
  ['HEAD', '/docs', 200],
  ['POST', '/docs', 405],
  ['HEAD', '/none', 404],
  ['POST', '/none', 299],
  ['POST', '/v1', 299],
])('answers %s %s of a browser with %i', async (method, path, status) => {
  const get = await serving({ '/docs': HTML });
  const answer = await get(path, BROWSER, method);
  expect([answer.status, answer.headers.allow]).toEqual([status, status === 405 ? 'GET, HEAD' : undefined]);
});

test('a redirection of a root of the API depends on what the client accepts', async () => {
  const get = await serving({});
  const { headers, bytes } = await get('/api/v1/', BROWSER);
  expect([headers.location, headers.vary, bytes.toString()]).toEqual(['../../docs', 'Accept', 'The reference is at /docs.\n']);
  expect((await get('/api/v1/', { accept: 'application/json' })).status).toBe(299);
});

test('the catalog says where the API, its description, its documentation and its health are', async () => {
  const get = await serving({ '/.well-known/api-catalog': catalogPage('https://api.example.com/truckroll') });
  const { headers, bytes } = await get('/.well-known/api-catalog');
  const base = 'https://api.example.com/truckroll';
  expect(headers.link).toBe(`<${base}/.well-known/api-catalog>; rel="api-catalog"`);
  expect(JSON.parse(bytes.toString())).toEqual({
    linkset: [
      { anchor: `${base}/.well-known/api-catalog`, item: [{ href: `${base}/v1` }] },
      {
        anchor: `${base}/v1`,
        'service-desc': [{ href: `${base}/openapi.json`, type: 'application/vnd.oai.openapi+json;version=3.1' }],
        'service-doc': [{ href: `${base}/docs`, type: 'text/html' }],
        status: [{ href: `${base}/healthz`, type: 'text/plain' }],
      },
    ],
  });
});

test('the headers of pages allow what the page names, and nothing else', () => {
  expect(pageHeaders({ connect: "'self' https://id.example.com", images: 'data:' })).toEqual([
    'Content-Security-Policy',
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' https://id.example.com; img-src data:; font-src 'none'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    'Referrer-Policy',
    'no-referrer',
    'Cross-Origin-Opener-Policy',
    'same-origin',
  ]);
});
