// /api/v1 as integrators and consoles use it: gateway and integrations together, every answer checked against the published description.
import { randomUUID } from 'node:crypto';
import { now, operations } from '@truckroll/contract';
import { reportOf } from '../services/integrations/test/webhooks.ts';
import { eventViolations } from './support/openapi.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';
import { CREATE, HOOKS, webhooksApi, type WebhooksApi } from './support/webhooks-api.ts';

const KEYS = '/api/v1/integrations/api-keys';
const UUID = /^[0-9a-f-]{36}$/;

let system: System;
let company: TestCompany;
let other: TestCompany;
let { call, endpoint, deliveries, happen, lease } = {} as WebhooksApi;
beforeAll(async () => {
  system = await startSystem({ webhookAllowedTargets: ['127.0.0.1:4567'] });
  company = await system.createCompany();
  other = await system.createCompany();
  ({ call, endpoint, deliveries, happen, lease } = webhooksApi(system, company));
}, 60_000);
afterAll(() => system.stop());

test('creating an endpoint returns its secret once, and everything else as api.md says', async () => {
  const created = await endpoint();
  expect(created).toMatchObject({
    ...CREATE,
    id: expect.stringMatching(UUID),
    enabled: true,
    disabledReason: null,
    lastDeliveryAt: null,
    lastDeliveryStatus: null,
    signingSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    createdBy: { id: company.userId, kind: 'USER', displayName: 'Ada Ortiz', email: expect.stringContaining('@'), firstName: 'Ada', lastName: 'Ortiz' },
  });
  const { signingSecret: _, ...shown } = created;
  const health = expect.objectContaining({ state: 'idle', circuit: { state: 'closed', nextTryAt: null }, successRate: null, backlog: 0 });
  expect((await call('GET', `${HOOKS}/${created.id}`)).body).toEqual({ data: { ...shown, health } });
  expect((await call('GET', HOOKS)).body.data).toContainEqual({ ...shown, health });
});

test('a credential shows its user and its company', async () => {
  const expected = {
    id: company.userId,
    displayName: 'Ada Ortiz',
    email: expect.stringContaining('@'),
    firstName: 'Ada',
    lastName: 'Ortiz',
    company: { id: company.id, name: expect.any(String), timezone: 'America/Chicago', currency: 'USD' },
    sandbox: false,
  };
  for (const credential of [undefined, company.apiKey]) expect((await call('GET', '/api/v1/me', undefined, credential)).body).toEqual({ data: expected });
  const { data } = (await call('GET', '/api/v1/me', undefined, system.userToken(other))).body;
  expect([data.id, data.company.id]).toEqual([other.userId, other.id]);
});

test('changes need a user token, lists accept a key as well, and another company sees nothing', async () => {
  const { id } = await endpoint();
  expect((await call('GET', HOOKS, undefined, company.apiKey)).status).toBe(200);
  expect((await call('GET', KEYS, undefined, company.apiKey)).status).toBe(200);
  const changes = [
    ['POST', HOOKS],
    ['PATCH', `${HOOKS}/${id}`],
    ['DELETE', `${HOOKS}/${id}`],
    ['POST', `${HOOKS}/${id}/test`],
    ['POST', KEYS],
  ] as const;
  for (const [verb, path] of changes) expect((await call(verb, path, CREATE, company.apiKey)).status).toBe(401);

  const foreign = system.userToken(other);
  for (const [verb, path, body] of [
    ['GET', `${HOOKS}/${id}`],
    ['PATCH', `${HOOKS}/${id}`, { name: 'Mine' }],
    ['DELETE', `${HOOKS}/${id}`],
    ['POST', `${HOOKS}/${id}/test`],
    ['POST', `${HOOKS}/${id}/rotate-secret`],
    ['POST', `${HOOKS}/${id}/recover`, { since: '2026-03-01T00:00:00Z' }],
    ['GET', `${HOOKS}/${id}/deliveries`],
  ] as const) {
    expect((await call(verb, path, body, foreign)).status).toBe(404);
  }
  expect((await call('GET', HOOKS, undefined, foreign)).body).toEqual({ data: [] });
  expect((await call('GET', `${HOOKS}/${id}`)).body.data.name).toBe('Lead sync');
});

test('an endpoint is paused, limited and given headers; null removes the limit, and what is left out stays', async () => {
  const settings = { state: 'PAUSED', maxPerSecond: 20, headers: [{ name: 'X-Api-Key', value: 'known to the receiver' }] };
  const created = await call('POST', HOOKS, { ...CREATE, ...settings });
  expect(created.status).toBe(201);
  const { id } = created.body.data;
  const shown = { state: 'PAUSED', enabled: false, maxPerSecond: 20, headers: [{ name: 'X-Api-Key' }] };
  expect(created.body.data).toMatchObject(shown);
  expect(JSON.stringify(created.body)).not.toContain('known to the receiver');
  const change = async (body: object) => (await call('PATCH', `${HOOKS}/${id}`, body)).body;
  expect((await change({ name: 'Another' })).data).toMatchObject({ ...shown, name: 'Another', health: { state: 'paused' } });
  expect((await change({ enabled: false, headers: null })).data).toMatchObject(shown);
  expect((await change({ maxPerSecond: null, state: 'ENABLED' })).data).toMatchObject({ ...shown, state: 'ENABLED', enabled: true, maxPerSecond: null });
  expect((await change({ headers: [] })).data.headers).toEqual([]);
  const wrong = {
    enabled: true,
    state: 'DISABLED',
    resumeSkipped: true,
    maxPerSecond: 0,
    headers: [
      { name: 'Host', value: '' },
      { name: 'X', colour: 'red' },
    ],
  };
  expect((await change(wrong)).error.details.map(({ field, code }: any) => [field, code]).toSorted()).toEqual([
    ['enabled', 'INVALID_FORMAT'],
    ['headers[0].name', 'INVALID_FORMAT'],
    ['headers[0].value', 'OUT_OF_RANGE'],
    ['headers[1].colour', 'UNKNOWN_FIELD'],
    ['headers[1].value', 'MISSING'],
    ['maxPerSecond', 'OUT_OF_RANGE'],
    ['resumeSkipped', 'INVALID_FORMAT'],
  ]);
  const eleven = Array.from({ length: 11 }, (_, n) => ({ name: `X-${n}`, value: 'x' }));
  expect((await change({ headers: eleven })).error.details).toMatchObject([{ field: 'headers', code: 'OUT_OF_RANGE' }]);
});

test('an endpoint is given a filter and addresses for alerts; null removes the filter', async () => {
  const filter = { number: { $in: ['none has this'] }, created_at: { $gte: '2026-03-01T00:00:00-06:00' } };
  const created = await call('POST', HOOKS, { ...CREATE, filter });
  expect([created.status, created.body.data.filter]).toEqual([201, filter]);
  const { id, createdBy, alertEmails } = created.body.data;
  expect(alertEmails).toEqual([createdBy.email]);
  const change = async (body: object) => (await call('PATCH', `${HOOKS}/${id}`, body)).body;
  expect((await change({ name: 'Another', alertEmails: [] })).data).toMatchObject({ filter, alertEmails: [] });
  expect((await change({ filter: null, alertEmails: [createdBy.email] })).data).toMatchObject({ filter: null, alertEmails: [createdBy.email] });
  expect((await change({ filter: { statuss: { $eq: 'NEW' } } })).error.details).toMatchObject([
    { location: 'body', field: 'filter.statuss', code: 'UNKNOWN_FIELD', message: expect.stringContaining('Did you mean status?') },
  ]);
  await happen();
  const { status, body } = await call('POST', `${HOOKS}/filter-preview`, { eventTypes: CREATE.eventTypes, filter });
  expect(status).toBe(200);
  const { data } = body;
  expect(data).toEqual({ examined: expect.any(Number), oldestAt: expect.stringMatching(/Z$/), events: [] });
});

test('a test sends the example of a type, and needs no body', async () => {
  const { id } = await endpoint();
  const bodies: ({ eventType?: string } | undefined)[] = [undefined, {}, { eventType: 'interaction.completed' }];
  for (const body of bodies) {
    const { status, body: answer } = await call('POST', `${HOOKS}/${id}/test`, body);
    expect(status).toBe(202);
    const delivery = (await call('GET', `${HOOKS}/${id}/deliveries/${answer.data.id}`)).body.data;
    expect(delivery).toMatchObject({ eventType: body?.eventType ?? 'webhook.test', test: true });
  }
  expect((await call('POST', `${HOOKS}/${id}/test`, { eventType: 'job.moved' })).body.error.details).toMatchObject([{ field: 'eventType' }]);
});

test('all errors in an endpoint are reported at once', async () => {
  const wrong = await call('POST', HOOKS, { name: '', url: 7, eventTypes: [], colour: 'red' });
  expect(wrong.status).toBe(400);
  expect(wrong.body.error.details.map(({ field, code }: any) => [field, code])).toEqual([
    ['name', 'OUT_OF_RANGE'],
    ['url', 'INVALID_FORMAT'],
    ['eventTypes', 'OUT_OF_RANGE'],
    ['colour', 'UNKNOWN_FIELD'],
  ]);
  const meant = await call('POST', HOOKS, { ...CREATE, url: 'http://example.com/hook', eventTypes: ['job.created'] });
  expect(meant.body.error.details).toMatchObject([
    { field: 'eventTypes[0]', code: 'INVALID_ENUM_VALUE' },
    { field: 'url', code: 'INVALID_FORMAT' },
  ]);
  const apart = { name: '', url: 'https://10.1.2.3/', eventTypes: ['job.created', 'webhook.test'], colour: 'red' };
  const all = [
    ['name', 'OUT_OF_RANGE'],
    ['eventTypes[0]', 'INVALID_ENUM_VALUE'],
    ['eventTypes[1]', 'INVALID_ENUM_VALUE'],
    ['colour', 'UNKNOWN_FIELD'],
    ['url', 'INVALID_FORMAT'],
  ];
  for (const [verb, path] of [
    ['POST', HOOKS],
    ['PATCH', `${HOOKS}/${(await endpoint()).id}`],
  ] as const) {
    expect((await call(verb, path, apart)).body.error.details.map(({ field, code }: any) => [field, code])).toEqual(all);
  }
  expect((await call('POST', KEYS, { name: '', expiresAt: '2020-01-01T00:00:00Z' })).body.error.details).toMatchObject([
    { field: 'name' },
    { field: 'expiresAt', code: 'OUT_OF_RANGE' },
  ]);
  const recovery = { since: '2026-03-02T00:00:00Z', until: '2026-03-01T00:00:00Z', colour: 'red' };
  expect((await call('POST', `${HOOKS}/${(await endpoint()).id}/recover`, recovery)).body.error.details).toMatchObject([
    { field: 'colour' },
    { field: 'until', code: 'RANGE_ORDER' },
  ]);
  expect((await call('POST', HOOKS, { ...CREATE, name: 'x'.repeat(101) })).status).toBe(400);
  for (const name of ['two\nlines', 'an \u001b[31mescape', 'a C1 control \u009b', 'a turn of direction \u202e']) {
    for (const [path, body] of [
      [HOOKS, { ...CREATE, name }],
      [KEYS, { name }],
    ] as const) {
      expect((await call('POST', path, body)).body.error.details).toMatchObject([
        { field: 'name', code: 'INVALID_FORMAT', message: expect.stringContaining('control') },
      ]);
    }
  }
  expect((await call('POST', HOOKS, { ...CREATE, url: `https://example.com/${'x'.repeat(2048)}` })).status).toBe(400);
});

test.each(
  operations
    .filter(({ route, verb }) => route.startsWith('/api/v1/') && verb !== 'GET')
    .map(({ verb, route }) => [verb, route.replaceAll(/\{\w+\}/g, randomUUID())] as const),
)('an unknown field in the body of %s %s is refused', async (verb, path) => {
  const { status, body } = await call(verb, path, { colour: 'red' });
  expect(status).toBe(400);
  expect(body.error.details).toContainEqual(expect.objectContaining({ location: 'body', field: 'colour', code: 'UNKNOWN_FIELD' }));
});

test.each([
  'https://10.1.2.3/',
  // A cloud's metadata service, and a range that the operator denies.
  'https://168.63.129.16/',
  'https://45.83.1.2/',
  'https://user:pass@example.com/',
  'http://127.0.0.1:4568/',
])('%s is not an allowed target', async (url) => {
  const { details } = (await call('POST', HOOKS, { ...CREATE, url })).body.error;
  expect(new Set(details.map(({ field, code }: Record<string, string>) => `${field} ${code}`))).toEqual(new Set(['url INVALID_FORMAT']));
});

test('the operator can allow exact targets, including http', async () => {
  expect((await endpoint({ url: 'http://127.0.0.1:4567/hook' })).url).toBe('http://127.0.0.1:4567/hook');
});

test('a change keeps the fields that it does not name, and a deleted endpoint is gone', async () => {
  const { id } = await endpoint();
  expect((await call('PATCH', `${HOOKS}/${id}`, { name: 'Renamed' })).body.data).toMatchObject({ ...CREATE, name: 'Renamed', enabled: true });
  expect((await call('PATCH', `${HOOKS}/${id}`, { enabled: false, eventTypes: ['service_request.booked'] })).body.data).toMatchObject({
    name: 'Renamed',
    enabled: false,
    eventTypes: ['service_request.booked'],
  });
  for (const url of ['https://10.0.0.1/', 'https://a..b/']) expect((await call('PATCH', `${HOOKS}/${id}`, { url })).status).toBe(400);
  expect((await call('DELETE', `${HOOKS}/${id}`)).body.data).toMatchObject({ id, name: 'Renamed' });
  expect((await call('GET', `${HOOKS}/${id}`)).status).toBe(404);
  expect((await call('DELETE', `${HOOKS}/${id}`)).status).toBe(404);
});

test('no event is lost while an endpoint is disabled: its deliveries are skipped and can be recovered', async () => {
  const { id } = await endpoint({ enabled: false });
  await happen(3);
  await call('PATCH', `${HOOKS}/${id}`, { enabled: true });
  await happen(2);
  await call('PATCH', `${HOOKS}/${id}`, { enabled: false });
  expect((await call('GET', `${HOOKS}/${id}`)).body.data).toMatchObject({ lastDeliveryStatus: 'skipped' });
  expect((await call('GET', `${HOOKS}/${id}/deliveries?status=skipped`)).body.data).toHaveLength(5);
  expect(await lease(id)).toEqual([]);

  await call('PATCH', `${HOOKS}/${id}`, { enabled: true });
  const since = '2026-03-01T00:00:00Z';
  const until = new Date(Date.now() + 3_600_000).toISOString();
  expect(await call('POST', `${HOOKS}/${id}/recover`, { since, until })).toEqual({ status: 202, body: { data: { queued: 5, remaining: 0 } } });
  expect(await lease(id)).toHaveLength(5);
  const wrong = async (range: object) => (await call('POST', `${HOOKS}/${id}/recover`, range)).body.error.details[0].field;
  expect(await wrong({ since: until, until: since })).toBe('until');
  expect(await wrong({ since: '2254-01-01T00:00:00Z' })).toBe('since');
});

test('after a rotation both secrets sign for a day', async () => {
  const { id, signingSecret } = await endpoint();
  const rotated = await call('POST', `${HOOKS}/${id}/rotate-secret`);
  expect(rotated.status).toBe(200);
  const secrets = async (): Promise<string[]> => {
    await happen();
    const [delivery] = await lease(id);
    await deliveries.report(reportOf(delivery!));
    return delivery!.secrets.map((secret) => `whsec_${Buffer.from(secret).toString('base64')}`);
  };
  expect(await secrets()).toEqual([rotated.body.data.signingSecret, signingSecret]);
  await system.database.query({ text: `update integrations.webhook_endpoints set previous_secret_until = now() where id = $1`, values: [id] });
  expect(await secrets()).toEqual([rotated.body.data.signingSecret]);
});

test('the event types are those of api.md', async () => {
  const { body } = await call('GET', '/api/v1/integrations/webhook-event-types', undefined, company.apiKey);
  const types = ['service_request.created', 'service_request.status_changed', 'service_request.booked', 'interaction.completed'];
  expect(body.data.map(({ type }: any) => type)).toEqual(types);
  // Each type's example must be valid for the description of its webhook.
  const examples = body.data.map(({ example }: any) => JSON.parse(example));
  expect(examples.map((example: any) => [example.type, ...eventViolations(example.type, example)])).toEqual(types.map((type) => [type]));
});

test('an endpoint that fails is shown as failing, and its attempts are counted by minute, quarter of an hour and hour', async () => {
  const { id } = await endpoint();
  await happen(3);
  const [first, ...rest] = await lease(id);
  await deliveries.report(reportOf(first!));
  for (const delivery of rest) await deliveries.report(reportOf(delivery, { response_status: 500, circuit_open_until: now() + 60_000_000 }));
  const { health } = (await call('GET', `${HOOKS}/${id}`)).body.data;
  expect(health).toMatchObject({
    state: 'failing',
    circuit: { state: 'open', nextTryAt: expect.any(String) },
    failingSince: expect.any(String),
    lastSuccessAt: expect.any(String),
    delivered: 1,
    failed: 2,
    successRate: 0.3333,
    backlog: 2,
    oldestWaitingAt: expect.any(String),
  });
  expect(health.hours).toHaveLength(24);
  for (const [period, buckets, seconds] of [
    ['hour', 60, 60],
    ['day', 96, 900],
    ['week', 168, 3600],
  ] as const) {
    const { data } = (await call('GET', `${HOOKS}/${id}/health?period=${period}`)).body;
    expect(data).toMatchObject({ period, bucketSeconds: seconds, delivered: 1, failed: 2, successRate: 0.3333 });
    expect(data.buckets).toHaveLength(buckets);
    expect(Date.parse(data.until) - Date.parse(data.since)).toBe(buckets * seconds * 1000);
    expect(data.buckets.reduce((sum: number, bucket: any) => sum + bucket.delivered + bucket.failed, 0)).toBe(3);
  }
  expect((await call('GET', `${HOOKS}/${id}/health`)).body.data.period).toBe('day');
  expect((await call('GET', `${HOOKS}/${id}/health?period=year`)).status).toBe(400);
  expect((await call('GET', `${HOOKS}/${id}/health`, undefined, system.userToken(other))).status).toBe(404);
});

test('several deliveries are repeated in one request, with a result for each; a key may not do this', async () => {
  const { id } = await endpoint();
  await happen(2);
  for (const delivery of await lease(id)) await deliveries.report(reportOf(delivery));
  const { data } = (await call('GET', `${HOOKS}/${id}/deliveries?progress=delivered`)).body;
  const [one, two, none] = [data[0].id, data[1].id, randomUUID()];
  const answer = await call('POST', `${HOOKS}/${id}/redeliver`, { deliveryIds: [one, none, two, one] });
  expect(answer.status).toBe(202);
  expect(answer.body.data).toEqual([
    { id: one, queued: true, problem: null, message: null },
    { id: none, queued: false, problem: 'NOT_FOUND', message: expect.stringContaining('30 days') },
    { id: two, queued: true, problem: null, message: null },
  ]);
  expect((await call('GET', `${HOOKS}/${id}/deliveries?progress=retrying`)).body.data.map((row: any) => row.id).toSorted()).toEqual([one, two].toSorted());
  expect((await call('POST', `${HOOKS}/${id}/redeliver`, { deliveryIds: Array.from({ length: 101 }, () => one) })).status).toBe(400);
  expect((await call('POST', `${HOOKS}/${id}/redeliver`, { deliveryIds: [one] }, company.apiKey)).status).toBe(401);
  expect((await call('POST', `${HOOKS}/${id}/redeliver`, { deliveryIds: [one] }, system.userToken(other))).status).toBe(404);
});

test('counts each delivery of a bulk redelivery as a write', async () => {
  const token = system.userToken(await system.createCompany());
  const redeliver = async (deliveryIds: readonly string[]) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${system.baseUrl}${HOOKS}/${randomUUID()}/redeliver`, { method: 'POST', headers, body: JSON.stringify({ deliveryIds }) });
    return [answer.status, Number(/^"writes";r=(\d+);/.exec(answer.headers.get('ratelimit') ?? '')?.[1])];
  };
  const ids = Array.from({ length: 100 }, () => randomUUID());
  expect(await redeliver(ids)).toEqual([404, 1100]);
  expect(await redeliver([...ids.slice(0, 50), ...ids.slice(0, 50)])).toEqual([404, 1050]);
  expect(await redeliver(ids.slice(0, 1))).toEqual([404, 1049]);
  for (let left = 949; left > 0; left -= 100) expect(await redeliver(ids)).toEqual([404, left]);
  // 49 writes are left.
  expect(await redeliver(ids.slice(0, 50))).toEqual([429, 0]);
});

test('a user creates, lists, rotates and revokes keys, and a value works only while it is the key’s', async () => {
  const opens = async (key: string): Promise<number> => (await fetch(`${system.baseUrl}/v1/company`, { headers: { authorization: `Bearer ${key}` } })).status;
  const created = (await call('POST', KEYS, { name: 'Export', expiresAt: '2099-01-01T00:00:00Z' })).body.data;
  expect(created).toMatchObject({ name: 'Export', expiresAt: '2099-01-01T00:00:00Z', lastUsedAt: null, createdBy: { id: company.userId, kind: 'USER' } });
  expect([created.keyPrefix, created.keySuffix]).toEqual([created.key.slice(0, 8), created.key.slice(-4)]);
  const { key: first, ...shown } = created;
  const listed = (await call('GET', KEYS)).body.data;
  expect(listed).toContainEqual(shown);
  expect(listed.map(({ createdBy }: any) => createdBy.kind)).toEqual(['OPERATOR', 'USER']);
  expect(await opens(first)).toBe(200);

  const rotated = (await call('POST', `${KEYS}/${created.id}/rotate`)).body.data;
  expect(rotated).toMatchObject({ id: created.id, name: 'Export' });
  expect([await opens(first), await opens(rotated.key)]).toEqual([401, 200]);

  expect((await call('DELETE', `${KEYS}/${created.id}`, undefined, system.userToken(other))).status).toBe(404);
  expect((await call('DELETE', `${KEYS}/${created.id}`)).status).toBe(200);
  expect(await opens(rotated.key)).toBe(401);
  expect((await call('DELETE', `${KEYS}/${created.id}`)).status).toBe(404);
  expect((await call('POST', `${KEYS}/${created.id}/rotate`)).status).toBe(404);
  expect((await call('POST', KEYS, { name: 'Never', expiresAt: '9999-12-31T23:59:59Z' })).body.data).toMatchObject({ expiresAt: null });
  expect((await call('POST', KEYS, { name: 'Late', expiresAt: '2020-01-01T00:00:00Z' })).body.error.details).toMatchObject([
    { field: 'expiresAt', code: 'OUT_OF_RANGE' },
  ]);
});
