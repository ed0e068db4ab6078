// Scripts of other origins in browsers (CORS, decisions §17).
import { request, startGateway, type Answer, type TestGateway } from './support/gateway.ts';

const ORIGIN = 'https://app.example.com';
const OTHERS = ['https://other.example.com', 'https://app.example.com:8443', 'null', undefined];

let gateway: TestGateway;
let without: TestGateway;
beforeAll(async () => {
  const environment = { CORS_ORIGINS: `${ORIGIN}, http://localhost:5173`, READS_PER_MINUTE: '3', PUBLIC_PAGES_PER_MINUTE: '2' };
  gateway = await startGateway({ ...environment, TRUSTED_PROXIES: '1', UNKNOWN_KEYS_PER_MINUTE: '2' });
  without = await startGateway({}, gateway);
});
afterAll(async () => {
  await without.stop();
  await gateway.stop();
});

let hosts = 0;
const address = (): string => `192.0.2.${(hosts += 1)}`;

async function ask(path: string, init: { method?: string; headers?: Record<string, string | undefined> } = {}, at = gateway): Promise<Answer> {
  const headers = Object.entries({ 'x-forwarded-for': address(), ...init.headers }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return request(at.url + path, { ...init, headers });
}
const corsOf = ({ status, headers }: Answer) => [status, headers.get('access-control-allow-origin'), headers.get('vary')?.includes('Origin') ?? false];

test.each<[number, string, { method?: string; credential?: string }]>([
  [200, '/v1/invoices', {}],
  [400, '/v1/invoices?x=1', {}],
  [404, '/v1/nothing', {}],
  [405, '/v1/company', { method: 'DELETE' }],
  [401, '/api/v1/me', { credential: 'wrong' }],
  [401, '/v1', { credential: 'wrong' }],
  [429, '/v1/company', {}],
  [503, '/v1/company', {}],
])('an answer %i of %s is open to listed origins and to no other', async (status, path, { method = 'GET', credential }) => {
  for (const origin of [ORIGIN, ...OTHERS]) {
    const { key } = gateway.identities.addKey(status === 429 ? { limits: { reads: 0 } } : {});
    if (status === 503) gateway.identities.failure = new Error('away');
    const answer = await ask(path, { method, headers: { origin, authorization: `Bearer ${credential ?? key}` } });
    gateway.identities.failure = undefined;
    expect([origin, ...corsOf(answer)]).toEqual([origin, status, origin === ORIGIN ? ORIGIN : null, true]);
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ') ?? [];
    expect(exposed.includes('X-Request-Id') && exposed.includes('RateLimit') && exposed.includes('Retry-After')).toBe(origin === ORIGIN);
  }
});

describe('a preflight request', () => {
  const PREFLIGHT = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' };
  const preflight = (path: string, headers: Record<string, string | undefined>, at = gateway) =>
    ask(path, { method: 'OPTIONS', headers: { ...PREFLIGHT, ...headers } }, at);

  test.each([
    ['/v1/invoices', ORIGIN, ORIGIN],
    ['/api/v1/integrations/webhooks', 'http://localhost:5173', 'http://localhost:5173'],
    ['/v1/nothing', ORIGIN, ORIGIN],
    ['/openapi.json', 'https://anyone.example.net', '*'],
  ])('for %s from %s is answered without a credential', async (path, origin, allowed) => {
    const answer = await preflight(path, { origin });
    expect([answer.status, answer.text, answer.headers.get('access-control-allow-origin')]).toEqual([204, '', allowed]);
    expect(answer.headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(answer.headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test.each<[string, Record<string, string | undefined>]>([
    ['from another origin', { origin: OTHERS[0] }],
    ['without an origin', { origin: undefined }],
    ['without a method', { origin: ORIGIN, 'access-control-request-method': undefined }],
  ])('%s is an ordinary request', async (_, headers) => {
    expect((await preflight('/v1/invoices', headers)).status).toBe(401);
  });

  test('counts as no unknown credential, and is limited by address', async () => {
    const from = address();
    const statuses = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await preflight('/v1/invoices', { origin: ORIGIN, 'x-forwarded-for': from })).status);
    expect(statuses).toEqual([204, 204, 204, 429]);
    expect((await preflight('/v1/invoices', { origin: ORIGIN })).status).toBe(204);
    const unknown = await ask('/v1/invoices', { headers: { authorization: 'Bearer wrong', 'x-forwarded-for': from } });
    expect(unknown.status).toBe(401);
  });
});

test('the description is open to every origin, also beyond the limit of an address', async () => {
  const from = address();
  const answers = [];
  for (let n = 0; n < 3; n += 1) answers.push(await ask('/openapi.json', { headers: { origin: OTHERS[0], 'x-forwarded-for': from } }));
  expect(answers.map(({ status, headers }) => [status, headers.get('access-control-allow-origin')])).toEqual([
    [200, '*'],
    [200, '*'],
    [429, '*'],
  ]);
  expect((await ask('/docs', { headers: { origin: ORIGIN } })).headers.get('access-control-allow-origin')).toBeNull();
});

test('without configured origins the API has no headers for any', async () => {
  const { headers, status } = await without.get('/v1/invoices', { headers: { origin: ORIGIN } });
  expect([status, headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([200, null, 'Accept-Encoding']);
  const preflight = await ask('/v1/invoices', { method: 'OPTIONS', headers: { origin: ORIGIN, 'access-control-request-method': 'GET' } }, without);
  expect(preflight.status).toBe(401);
  expect((await ask('/openapi.json', {}, without)).headers.get('access-control-allow-origin')).toBe('*');
});
