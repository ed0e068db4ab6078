import { hashApiKey, isApiKey, now } from '@truckroll/contract';
import { Database, createSession } from '@truckroll/postgres';
import { purgeRevokedKeys } from '../src/keys/store.ts';
import { refusal, startHarness } from './harness.ts';

let harness: Awaited<ReturnType<typeof startHarness>>;
beforeAll(async () => void (harness = await startHarness()));
afterAll(() => harness.stop());

async function issued(options: { expires_at?: number; email?: string } = {}) {
  const company = await harness.company();
  const user = await harness.user(company.id);
  const { key, value } = await harness.keys.createKey({
    company_id: company.id,
    user_id: user.id,
    name: 'Export',
    limits: { reads_per_minute: 7 },
    ...(options.expires_at === undefined ? {} : { expires_at: options.expires_at }),
  });
  return { company, user, key: key!, value };
}

const principal = async (value: string) => (await harness.identity.authenticate({ key_hash: hashApiKey(value) })).principal ?? null;
const state = async (companyId: string) => (await harness.keys.listKeys({ company_id: companyId })).keys.map((key) => key.state);

test('authenticates a key as its user in its company, with its own limits', async () => {
  const { company, user, key, value } = await issued();
  expect(isApiKey(value)).toBe(true);
  expect(key).toMatchObject({ key_prefix: value.slice(0, 8), key_suffix: value.slice(-4), state: 'KEY_STATE_ACTIVE' });
  expect(await principal(value)).toEqual({
    company_id: company.id,
    company_name: company.name,
    time_zone: 'America/Chicago',
    kind: 'PRINCIPAL_KIND_KEY',
    key_id: key.id,
    user_id: user.id,
    limits: { reads: 7, reports: null, writes: null },
    company_limits: { reads: null, reports: null, writes: null },
    highest_limits: { reads: 7, reports: null, writes: null },
    expires_at: null,
  });
});

test('never stores the value of a key', async () => {
  const { value } = await issued();
  const session = await createSession({ url: harness.database.url, schema: 'integrations' });
  const { rows } = await session.query<{ row: string }>({ text: 'select k::text as row from api_keys k' });
  await session.close();
  const random = value.slice(8, -4);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ row }) => row.includes(random))).toEqual([]);
});

test('does not authenticate a revoked key, keeps it listed, and keeps the time of its first revocation', async () => {
  const { company, key, value } = await issued();
  const first = await harness.keys.revokeKey({ id: key.id });
  expect(await principal(value)).toBeNull();
  expect(await state(company.id)).toEqual(['KEY_STATE_REVOKED']);
  expect((await harness.keys.revokeKey({ id: key.id })).key).toEqual(first.key);
});

test('does not authenticate an expired key', async () => {
  const { company, value } = await issued({ expires_at: now() + 60_000_000 });
  expect((await principal(value))?.expires_at).toBeGreaterThan(now());
  const session = await createSession({ url: harness.database.url, schema: 'integrations' });
  await session.query({ text: 'update api_keys set expires_at = now() where company_id = $1', values: [company.id] });
  await session.close();
  expect(await principal(value)).toBeNull();
  expect(await state(company.id)).toEqual(['KEY_STATE_EXPIRED']);
});

test('authenticates neither keys nor tokens of an inactive or moved user', async () => {
  const { company, user, value } = await issued();
  const claims = (company_id: string) => ({ user: { issuer: 'i', subject: user.id, company_id } });
  expect((await harness.identity.authenticate(claims(company.id))).principal).toMatchObject({ kind: 'PRINCIPAL_KIND_USER', user_id: user.id });

  const other = await harness.company('Elsewhere');
  await harness.users.moveUser({ id: user.id, company_id: other.id });
  expect(await principal(value)).toBeNull();
  expect(await state(company.id)).toEqual(['KEY_STATE_USER_MOVED']);
  expect((await harness.identity.authenticate(claims(company.id))).principal ?? null).toBeNull();
  expect((await harness.identity.authenticate(claims(other.id))).principal).toMatchObject({ company_id: other.id });

  await harness.users.deactivateUser({ id: user.id });
  expect(await state(company.id)).toEqual(['KEY_STATE_USER_INACTIVE']);
  expect((await harness.identity.authenticate(claims(other.id))).principal ?? null).toBeNull();
});

test('refuses a key for an inactive or foreign user, with an expiry in the past, or with a limit of 0', async () => {
  const { company, user } = await issued();
  const request = { company_id: company.id, user_id: user.id, name: 'x', limits: null };
  const other = await harness.company();
  expect((await refusal(harness.keys.createKey({ ...request, company_id: other.id }))).status).toBe(404);
  expect((await refusal(harness.keys.createKey({ ...request, expires_at: now() - 1 }))).details).toMatchObject([{ field: 'expires_at' }]);
  const none = { ...request, limits: { reads_per_minute: 0 } };
  expect((await refusal(harness.keys.createKey(none))).details).toMatchObject([{ field: 'limits.reads_per_minute', code: 'OUT_OF_RANGE' }]);
  await harness.users.deactivateUser({ id: user.id });
  expect((await refusal(harness.keys.createKey(request))).status).toBe(404);
});

test('does not authenticate malformed tokens or hashes, and does not fail', async () => {
  const strange = ['', 'not-a-uuid', '\0', '00000000-0000-4000-8000-000000000000'];
  for (const subject of strange) {
    for (const company_id of strange) {
      expect((await harness.identity.authenticate({ user: { issuer: '', subject, company_id } })).principal ?? null).toBeNull();
    }
  }
  for (const key_hash of [Buffer.alloc(0), Buffer.alloc(32), Buffer.alloc(100)]) {
    expect((await harness.identity.authenticate({ key_hash })).principal ?? null).toBeNull();
  }
  expect((await harness.identity.authenticate({})).principal ?? null).toBeNull();
});

test('only moves the last use of a key forward, and forgets it when the key gets another value', async () => {
  const { company, key } = await issued();
  const touch = (used_at: number) => harness.identity.touchKeys({ uses: [{ company_id: company.id, key_id: key.id, used_at }] });
  const at = now();
  await touch(at);
  await touch(at - 5_000_000);
  await harness.identity.touchKeys({ uses: [{ company_id: key.id, key_id: key.id, used_at: at + 9_000_000 }] });
  const { keys } = await harness.keys.listKeys({ company_id: company.id });
  expect(keys[0]?.last_used_at).toBe(at);
  expect(await harness.keys.rotateKey({ id: key.id })).toMatchObject({ key: { id: key.id, last_used_at: null } });
});

test('allows one active user of a company per e-mail address, and another after that one left', async () => {
  const company = await harness.company();
  const first = await harness.user(company.id, 'Bo@example.com');
  expect((await refusal(harness.user(company.id, 'bo@EXAMPLE.com'))).details).toMatchObject([{ field: 'email' }]);
  await harness.users.deactivateUser({ id: first.id });
  const second = await harness.user(company.id, 'bo@example.com');
  const { users } = await harness.users.listUsers({ company_id: company.id });
  expect(users.map(({ id, active }) => [id, active])).toEqual([
    [first.id, false],
    [second.id, true],
  ]);
});

test('limits a company to 100 live keys, also for concurrent calls, or to the limit that its operator sets', async () => {
  const company = await harness.company();
  const user = await harness.user(company.id);
  const caller = { company_id: company.id, time_zone: 'America/Chicago', user_id: user.id };
  const create = (expires_at?: number) => harness.apiKeys.createApiKey({ caller, name: 'Export', expires_at: expires_at ?? null });
  const asOperator = () => harness.keys.createKey({ company_id: company.id, user_id: user.id, name: 'Export', limits: null });
  const results = await Promise.allSettled([...Array.from({ length: 80 }, () => create()), ...Array.from({ length: 23 }, asOperator)]);
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as { status: number; code: string }] : []));
  expect(refused.map(({ status, code }) => [status, code])).toEqual(Array(3).fill([409, 'LIMIT_REACHED']));

  const { keys } = await harness.keys.listKeys({ company_id: company.id });
  await harness.keys.revokeKey({ id: keys[0]!.id });
  await asOperator();
  expect(await refusal(create())).toMatchObject({ status: 409, message: expect.stringContaining('100 API keys') });
  expect(await refusal(asOperator())).toMatchObject({ status: 409 });
  const { company: raised } = await harness.companies.updateCompany({ id: company.id, key_limit: 101 });
  expect(raised).toMatchObject({ key_limit: 101 });
  await create();
  expect((await refusal(create())).status).toBe(409);
});

test('sets and removes the rate limits of a company', async () => {
  const { company, value } = await issued();
  const limits = { reads_per_minute: 50, reports_per_minute: null, writes_per_minute: null };
  expect((await harness.companies.updateCompany({ id: company.id, limits })).company).toMatchObject({ limits });
  expect(await principal(value)).toMatchObject({ company_limits: { reads: 50, reports: null, writes: null } });
  const { company: changed } = await harness.companies.updateCompany({ id: company.id, limits: { writes_per_minute: 9 } });
  expect(changed).toMatchObject({ limits: { reads_per_minute: 50, writes_per_minute: 9 } });
  const { company: back } = await harness.companies.updateCompany({ id: company.id, limits: { reads_per_minute: 0, writes_per_minute: 0 } });
  expect(back).toMatchObject({ limits: { reads_per_minute: null, writes_per_minute: null } });
  expect((await refusal(harness.companies.updateCompany({ id: company.id, limits: { reads_per_minute: -1 } }))).details).toMatchObject([
    { field: 'limits.reads_per_minute' },
  ]);
});

test('keeps a revoked key for 30 days', async () => {
  const [old, young] = [await issued(), await issued()];
  for (const { key } of [old, young]) await harness.keys.revokeKey({ id: key.id });
  const database = new Database({ url: harness.database.url, schema: 'integrations', maxConnections: 1 });
  const revoked = (id: string, days: number) =>
    database.query({ text: `update api_keys set revoked_at = now() - $2 * interval '1 day' where id = $1`, values: [id, days] });
  await revoked(old.key.id, 30.01);
  await revoked(young.key.id, 29.9);
  expect(await purgeRevokedKeys(database)).toBe(1);
  expect(await state(old.company.id)).toEqual([]);
  expect(await state(young.company.id)).toEqual(['KEY_STATE_REVOKED']);
  await database.close();
});
