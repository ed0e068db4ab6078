import { startGateway, type Answer, type TestGateway } from './support/gateway.ts';
import { standInCommands, type Commands } from './support/stand-ins.ts';

const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const REVISION = 'ab'.repeat(32);
const BODY = {
  expected_revision: REVISION,
  appointment_id: ID,
  team_member_id: ID.toUpperCase(),
  starts_at: '2026-03-02T09:00:00.5-0600',
  ends_at: '2026-03-02T17:00:00Z',
};

let commands: Commands;
let gateway: TestGateway;
beforeAll(async () => {
  commands = await standInCommands();
  gateway = await startGateway({ SCHEDULING_ADDRESS: `127.0.0.1:${commands.port}` });
});
afterAll(async () => {
  await gateway.stop();
  await commands.stop();
});
beforeEach(() => {
  commands.added.length = 0;
  commands.removed.length = 0;
});

function post(body: unknown, headers: Record<string, string> = {}, path = '/v1/job-assignments', method = 'POST'): Promise<Answer> {
  const text = typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body);
  return gateway.get(path, { method, body: text, headers: { 'content-type': 'application/json', 'idempotency-key': 'key-12345', ...headers } });
}

const failures = ({ status, body }: Answer): string[] => {
  expect(status).toBe(400);
  expect(body.error.code).toBe('INVALID_REQUEST');
  return body.error.details.map(({ location, field, code }: Record<string, string>) => `${location} ${field} ${code}`);
};

test('passes a write to its service in full, and answers with the service’s status and headers', async () => {
  const first = await post(BODY);
  expect(first.status).toBe(201);
  expect(first.headers.get('location')).toBe('/v1/job-assignments/new');
  expect(first.headers.has('idempotent-replayed')).toBe(false);
  expect(first.headers.get('ratelimit-policy')).toBe('"writes";q=1200;w=60');
  expect(Object.keys(first.body)).toEqual(['data', 'notification', 'meta']);
  expect(first.body.notification).toEqual({ status: 'NOT_REQUESTED', id: null });
  expect(commands.added).toEqual([
    {
      caller: {
        company_id: gateway.companyId,
        time_zone: 'America/Chicago',
        user_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        key_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        address: '127.0.0.1',
      },
      idempotency_key: 'key-12345',
      expected_revision: REVISION,
      appointment_id: ID,
      team_member_id: ID,
      starts_at: Date.UTC(2026, 2, 2, 15, 0, 0, 500) * 1000,
      ends_at: Date.UTC(2026, 2, 2, 17) * 1000,
      allow_outside_window: false,
      customer_notification: null,
    },
  ]);
  const again = await post(BODY);
  expect(again.status).toBe(201);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.body.meta.request_id).not.toBe(first.body.meta.request_id);
});

test('takes a removal’s id from the path and its revision from the body', async () => {
  expect((await post({ expected_revision: REVISION }, {}, `/v1/job-assignments/${ID}`, 'DELETE')).status).toBe(200);
  expect(commands.removed).toMatchObject([{ id: ID, expected_revision: REVISION, idempotency_key: 'key-12345' }]);
});

test('takes the writes of a user token as those of its user', async () => {
  const { key, principal } = gateway.identities.addKey({ kind: 'PRINCIPAL_KIND_USER', key_id: null });
  const { company_id, user_id } = principal;
  const answer = await post(BODY, { authorization: `Bearer ${key}` });
  expect(answer.status).toBe(201);
  expect(answer.headers.get('ratelimit')).toMatch(/^"writes";r=1199/);
  expect((await post({ expected_revision: REVISION }, { authorization: `Bearer ${key}` }, `/v1/job-assignments/${ID}`, 'DELETE')).status).toBe(200);
  for (const { caller } of [...commands.added, ...commands.removed]) {
    expect(caller).toMatchObject({ company_id, user_id, key_id: null });
  }
});

test.each<[string, string | Uint8Array, Record<string, string>]>([
  ['not JSON', '{', {}],
  ['empty', '', {}],
  ['a list', '[]', {}],
  ['a text', '"x"', {}],
  ['null', 'null', {}],
  ['a form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['JSON in another type', JSON.stringify(BODY), { 'content-type': 'text/plain' }],
  ['in another charset', JSON.stringify(BODY), { 'content-type': 'application/json; charset=latin1' }],
  ['not UTF-8', Buffer.concat([Buffer.from('{"note":"'), Buffer.of(0xff), Buffer.from('"}')]), {}],
])('rejects a body that is %s', async (_, body, headers) => {
  expect(failures(await post(body, headers))[0]).toMatch(/^(body|header Content-Type)/);
  expect(commands.added).toEqual([]);
});

test('lists the first hundred failures of a body with thousands of unknown fields', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 1]));
  expect(failures(await post({ ...BODY, ...unknown }))).toHaveLength(100);
});
