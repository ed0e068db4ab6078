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
    cell: null,
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
    sandbox: false,
  });
});

test('keeps the limits of the three classes apart, for a key and for its company', async () => {
  const company = await harness.company();
  const user = await harness.user(company.id);
  const create = (reads_per_minute: number, reports_per_minute: number, writes_per_minute: number) =>
    harness.keys.createKey({ company_id: company.id, user_id: user.id, name: 'x', limits: { reads_per_minute, reports_per_minute, writes_per_minute } });
  const { key, value } = await create(11, 12, 13);
  await create(21, 2, 23);
  const other = await harness.company('Elsewhere');
  const stranger = await harness.user(other.id);
  await harness.keys.createKey({ company_id: other.id, user_id: stranger.id, name: 'x', limits: { reads_per_minute: 900 } });
  const limits = { reads_per_minute: 31, reports_per_minute: 32, writes_per_minute: 33 };
  expect((await harness.companies.updateCompany({ id: company.id, limits })).company).toMatchObject({ limits });
  expect(key).toMatchObject({ limits: { reads_per_minute: 11, reports_per_minute: 12, writes_per_minute: 13 } });
  expect(await principal(value)).toMatchObject({
    limits: { reads: 11, reports: 12, writes: 13 },
    company_limits: { reads: 31, reports: 32, writes: 33 },
    highest_limits: { reads: 21, reports: 12, writes: 23 },
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

test('lists keys oldest first, and one that was revoked before it expired as revoked', async () => {
  const { company, user, key } = await issued({ expires_at: now() + 60_000_000 });
  const { key: second } = await harness.keys.createKey({ company_id: company.id, user_id: user.id, name: 'x', limits: null });
  await harness.keys.revokeKey({ id: key.id });
  const session = await createSession({ url: harness.database.url, schema: 'integrations' });
  await session.query({ text: 'update api_keys set expires_at = now() where id = $1', values: [key.id] });
  await session.close();
  const { keys } = await harness.keys.listKeys({ company_id: company.id });
  expect(keys.map(({ id, state }) => [id, state])).toEqual([
    [key.id, 'KEY_STATE_REVOKED'],
    [second!.id, 'KEY_STATE_ACTIVE'],
  ]);
});

test.each(['its operator', 'its company'])('a value that %s has rotated is refused, and the key shows the ends of the new one', async (by) => {
  const { company, user, key, value: old } = await issued();
  const caller = { company_id: company.id, time_zone: 'America/Chicago', user_id: user.id };
  const rotate = async () => {
    if (by === 'its operator') return await harness.keys.rotateKey({ id: key.id });
    const { data } = await harness.apiKeys.rotateApiKey({ caller, id: key.id });
    return { key: data!, value: data!.key };
  };
  const { key: rotated, value } = await rotate();
  expect(rotated).toMatchObject({ id: key.id, key_prefix: value.slice(0, 8), key_suffix: value.slice(-4) });
  expect([await principal(old), (await principal(value))?.key_id]).toEqual([null, key.id]);
  expect((await harness.keys.listKeys({ company_id: company.id })).keys).toMatchObject([{ key_suffix: value.slice(-4) }]);
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

test('records the uses of known keys in a report that also names none', async () => {
  const { company, key } = await issued();
  const at = now();
  const uses = ['', 'x'].flatMap((strange) => [
    { company_id: strange, key_id: key.id, used_at: at },
    { company_id: company.id, key_id: strange, used_at: at },
  ]);
  await harness.identity.touchKeys({ uses });
  await harness.identity.touchKeys({ uses: [...uses, { company_id: company.id, key_id: key.id, used_at: at }] });
  expect((await harness.keys.listKeys({ company_id: company.id })).keys).toMatchObject([{ last_used_at: at }]);
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

test('allows one user per subject, and none to move to a company that has the e-mail address', async () => {
  const [company, other] = [await harness.company(), await harness.company('Elsewhere')];
  const subject = `sso|${company.id}`;
  const create = (company_id: string, email: string) => harness.users.createUser({ company_id, email, first_name: 'Bo', last_name: 'Lee', subject });
  const { user } = await create(company.id, 'bo@example.com');
  expect(user).toMatchObject({ subject });
  expect((await harness.identity.authenticate({ user: { issuer: 'i', subject, company_id: company.id } })).principal).toMatchObject({ user_id: user!.id });
  expect((await refusal(create(other.id, 'lee@example.com'))).details).toMatchObject([{ field: 'subject' }]);
  await harness.user(other.id, 'Bo@example.com');
  expect((await refusal(harness.users.moveUser({ id: user!.id, company_id: other.id }))).details).toMatchObject([{ field: 'email' }]);
});

test('refuses to move an erased user', async () => {
  const { user } = await issued();
  const other = await harness.company('Elsewhere');
  const session = await createSession({ url: harness.database.url, schema: 'integrations' });
  await session.query({ text: `insert into erased_people (company_id, kind, id) values ($1, 'users', $2)`, values: [user.company_id, user.id] });
  await session.close();
  expect(await refusal(harness.users.moveUser({ id: user.id, company_id: other.id }))).toMatchObject({
    status: 409,
    message: expect.stringContaining('stays in the company'),
  });
});

test('changes a user once, however often an operator repeats the call', async () => {
  const { user } = await issued();
  const other = await harness.company('Elsewhere');
  const first = await harness.users.moveUser({ id: user.id, company_id: other.id });
  expect(first.user!.updated_at).toBeGreaterThan(user.updated_at);
  expect(await harness.users.moveUser({ id: user.id, company_id: other.id })).toEqual(first);
  const off = await harness.users.deactivateUser({ id: user.id });
  expect(off.user).toMatchObject({ company_id: other.id, active: false });
  expect(await harness.users.deactivateUser({ id: user.id })).toEqual(off);
});

test('limits a company to 100 live keys, also for concurrent calls, or to the limit that its operator sets', async () => {
  const company = await harness.company();
  const user = await harness.user(company.id);
  const caller = { company_id: company.id, time_zone: 'America/Chicago', user_id: user.id };
  const create = (expires_at?: number) => harness.apiKeys.createApiKey({ caller, name: 'Export', expires_at: expires_at ?? null });
  const asOperator = () => harness.keys.createKey({ company_id: company.id, user_id: user.id, name: 'Export', limits: null });
  for (let made = 0; made < 90; made += 10) await Promise.all(Array.from({ length: 10 }, () => create()));
  const results = await Promise.allSettled([...Array.from({ length: 8 }, () => create()), ...Array.from({ length: 5 }, asOperator)]);
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
