// GET /api/v1/integrations/requests through the gateway: what programs sent with a company's keys, and what was wrong with it (decisions §19).
import { randomUUID } from 'node:crypto';
import { KeyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { until } from '@truckroll/testing/until';
import { violations } from './support/openapi.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';

const REQUESTS = '/api/v1/integrations/requests';

let system: System;
beforeAll(async () => void (system = await startSystem({ gatewaySettings: { TRUSTED_PROXIES: '1' } })), 60_000);
afterAll(() => system.stop());

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

async function call(path: string, credential: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<{ status: number; id: string; body: any }> {
  const response = await fetch(`${system.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, id: response.headers.get('x-request-id') as string, body: await response.json() };
}

async function list(credential: string, query = ''): Promise<any[]> {
  const { status, body } = await call(`${REQUESTS}${query}`, credential);
  expect(violations('get', REQUESTS, status, body)).toEqual([]);
  return body.data;
}

/** The company's requests as a user sees them, once this many are there. */
const logged = async (company: TestCompany, count: number, query = ''): Promise<any[]> =>
  await until(
    `${count} requests`,
    () => list(system.userToken(company), query),
    (found) => found.length >= count,
  );

async function secondKey({ id, userId }: TestCompany): Promise<{ id: string; value: string }> {
  const made = await system
    .channel('integrations')
    .client(KeyAdminServiceService)
    .createKey({ company_id: id, user_id: userId, name: 'Phone system', limits: null });
  return { id: made.key!.id, value: made.value };
}

test('a user sees what every key of the company asked, a key what it asked itself, and another company nothing', async () => {
  const [company, other] = [await system.createCompany(), await system.createCompany()];
  const second = await secondKey(company);
  const first = await call('/v1/invoices?limit=1', company.apiKey);
  await call('/v1/company', system.userToken(company));
  await call('/v1/company', 'trk_unknown');
  const last = await call(`/v1/jobs/${randomUUID()}`, second.value);
  const all = await logged(company, 2);
  expect(all).toEqual([
    {
      id: last.id,
      at: expect.any(String),
      key: { id: second.id, name: 'Phone system' },
      method: 'GET',
      route: '/v1/jobs/{id}',
      status: 404,
      errorCode: 'NOT_FOUND',
      details: [],
      durationMs: expect.any(Number),
      address: '127.0.0.1',
    },
    expect.objectContaining({ id: first.id, route: '/v1/invoices', status: 200, errorCode: null }),
  ]);
  expect((await list(second.value)).map(({ id }) => id)).toEqual([last.id]);
  expect(await list(second.value, `?key=${all[1].key.id}`)).toEqual([]);
  expect(await list(system.userToken(other))).toEqual([]);
  expect(await list(system.userToken(other), `?key=${second.id}`)).toEqual([]);
  expect((await call(REQUESTS, 'trk_unknown')).status).toBe(401);
});

test('shows what was wrong with a request, by every way through the gateway, and repeats no value of it', async () => {
  const company = await system.createCompany();
  const key = company.apiKey;
  const proxied = { headers: { 'x-forwarded-for': '203.0.113.7' } };
  const sent = [
    await call('/v1/invoices?created_from=value-1&colour=value-2&status=VALUE-3&ana%40example.com=1', key, proxied),
    await call('/v1/reports/collections?start_date=value-4', key),
    await call('/v1/job-assignments', key, {
      method: 'POST',
      headers: { 'idempotency-key': 'value-5' },
      body: { appointment_id: 'value-6', colour: 'value-7' },
    }),
    await call('/v1/invoices/value-8', key),
    await call('/v1/value-9', key),
    await call('/v1/invoices', key, { method: 'POST', body: {} }),
    await call('/api/v1/integrations/webhooks', key, { method: 'POST', body: { name: 'value-10' } }),
    await call('/mcp', key, { method: 'POST', body: { jsonrpc: '2.0', id: 1, method: 'value-11' } }),
    await call('/mcp', key, { method: 'POST', body: ['value-12'] }),
  ];
  const found = await logged(company, sent.length);
  const by = sent.map(({ id }) => found.find((each) => each.id === id));
  expect(by.map((each) => [each.method, each.route, each.status, each.errorCode])).toEqual([
    ['GET', '/v1/invoices', 400, 'INVALID_REQUEST'],
    ['GET', '/v1/reports/collections', 400, 'INVALID_REQUEST'],
    ['POST', '/v1/job-assignments', 400, 'INVALID_REQUEST'],
    ['GET', '/v1/invoices/{id}', 400, 'INVALID_REQUEST'],
    ['GET', null, 404, 'NOT_FOUND'],
    ['POST', '/v1/invoices', 405, 'METHOD_NOT_ALLOWED'],
    ['POST', '/api/v1/integrations/webhooks', 401, 'UNAUTHENTICATED'],
    ['POST', '/mcp', sent[7]!.status, expect.stringMatching(/^-32\d{3}$/)],
    ['POST', '/mcp', 400, 'INVALID_REQUEST'],
  ]);
  expect(by[0].address).toBe('203.0.113.7');
  expect(new Set(by[0].details.map(({ location, field, code }: any) => `${location} ${field} ${code}`))).toEqual(
    new Set(['query created_from INVALID_FORMAT', 'query colour UNKNOWN_PARAMETER', 'query status INVALID_ENUM_VALUE', 'query null UNKNOWN_PARAMETER']),
  );
  expect(by[2].details).toContainEqual({ location: 'body', field: 'colour', code: 'UNKNOWN_FIELD' });
  expect(JSON.stringify(found)).not.toMatch(/value-|example/i);
  const { rows } = await system.database.query<{ found: number }>({
    text: `select count(*)::int as found from integrations.request_log where company_id = $1 and encode(requests, 'escape') ~* 'value-|example'`,
    values: [company.id],
  });
  expect(rows).toEqual([{ found: 0 }]);
});

test('is filtered and read in pages, and what cannot be is refused', async () => {
  const company = await system.createCompany();
  for (let i = 0; i < 3; i += 1) await call('/v1/invoices', company.apiKey);
  const failed = await call('/v1/jobs?limit=0', company.apiKey);
  const token = system.userToken(company);
  const all = await logged(company, 4);
  expect((await list(token, '?status=400')).map(({ id }) => id)).toEqual([failed.id]);
  expect((await list(token, '?status=200&status=400&route=/v1/jobs')).map(({ id }) => id)).toEqual([failed.id]);
  expect((await list(token, `?ids=${failed.id}`)).map(({ id }) => id)).toEqual([failed.id]);
  expect((await list(token, `?from=${all[2].at}&before=${all[0].at}`)).map(({ id }) => id)).toEqual([all[1].id, all[2].id]);
  const read: string[] = [];
  for (let query = '?limit=1'; ; ) {
    const { body } = await call(`${REQUESTS}${query}`, token);
    read.push(...body.data.map(({ id }: { id: string }) => id));
    if (body.pagination.nextCursor === null) break;
    query = `?limit=1&cursor=${body.pagination.nextCursor}`;
  }
  expect(read).toEqual(all.map(({ id }) => id));
  const wrong = await call(`${REQUESTS}?status=99&from=2026-01-02T00:00:00Z&before=2026-01-01T00:00:00Z&colour=red`, token);
  expect(wrong.body.error.details.map(({ field, code }: any) => [field, code])).toEqual(
    expect.arrayContaining([
      ['status', 'OUT_OF_RANGE'],
      ['colour', 'UNKNOWN_PARAMETER'],
    ]),
  );
});

test('while integrations is away, requests are answered, and those that are missing are counted', async () => {
  const company = await system.createCompany();
  await call('/v1/invoices', company.apiKey);
  await logged(company, 1);
  await system.stopService('integrations');
  const missing = async (): Promise<number> =>
    Number(/gateway_request_history_dropped_total\{[^}]*"refused"[^}]*\} (\d+)/.exec((await system.metrics())['gateway'] ?? '')?.[1] ?? 0);
  expect((await call('/v1/invoices', company.apiKey)).status).toBe(200);
  expect(await until('a missing request', missing, (count) => count >= 1)).toBe(1);
  await system.startService('integrations');
  const seen = (query: string) => call(`${REQUESTS}${query}`, company.apiKey);
  await until(
    'integrations to be reached again',
    () => seen(''),
    ({ status }) => status === 200,
  );
  const { id } = await call('/v1/invoices', company.apiKey);
  await until(
    'the request after the outage',
    async () => (await seen(`?ids=${id}`)).body.data,
    (found) => found.length === 1,
  );
});
