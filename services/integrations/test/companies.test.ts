import { randomUUID } from 'node:crypto';
import { refusal, startHarness } from './harness.ts';

let harness: Awaited<ReturnType<typeof startHarness>>;
beforeAll(async () => void (harness = await startHarness()));
afterAll(() => harness.stop());

test('creates a company with costing on and verified_only off, and returns it as integrators see it', async () => {
  const company = await harness.company('Ventilación Ñandú');
  expect(company).toMatchObject({ name: 'Ventilación Ñandú', timezone: 'America/Chicago', costing_enabled: true, verified_only: false });
  const key = { company_id: company.id, time_zone: company.timezone, id: '' };
  expect(await harness.reads.getCompany({ key })).toEqual({
    data: { id: company.id, name: 'Ventilación Ñandú', timezone: 'America/Chicago', currency: 'USD' },
  });
});

test('reports all problems of a new company together', async () => {
  const error = await refusal(harness.companies.createCompany({ name: '', timezone: 'America/Chicagoo', id: 'x' }));
  expect(error.status).toBe(400);
  expect(error.details.map(({ field, code }) => [field, code])).toEqual([
    ['name', 'MISSING'],
    ['timezone', 'INVALID_FORMAT'],
    ['id', 'INVALID_UUID'],
  ]);
});

test('changes only the given settings, and updated_at only if something changes', async () => {
  const before = await harness.company();
  const { company: after } = await harness.companies.updateCompany({ id: before.id, costing_enabled: false });
  expect(after).toEqual({ ...before, costing_enabled: false, updated_at: after!.updated_at });
  expect(after!.updated_at).toBeGreaterThan(before.updated_at);
  const { company: again } = await harness.companies.updateCompany({ id: before.id.toUpperCase(), costing_enabled: false });
  expect(again).toEqual(after);
});

test('changes every setting that is given, and lists companies oldest first', async () => {
  const { company: first } = await harness.companies.createCompany({ name: 'One', timezone: 'UTC', costing_enabled: false, verified_only: true });
  expect(first).toMatchObject({ name: 'One', timezone: 'UTC', costing_enabled: false, verified_only: true });
  const second = await harness.company();
  const change = { name: 'Two', timezone: 'Europe/Berlin', costing_enabled: true, verified_only: false, webhook_endpoint_limit: 7, key_limit: 8 };
  const { company: changed } = await harness.companies.updateCompany({ id: first!.id, ...change });
  expect(changed).toEqual({ ...first, ...change, updated_at: changed!.updated_at });
  const { company: back } = await harness.companies.updateCompany({ id: first!.id, verified_only: true });
  expect(back).toMatchObject({ ...change, verified_only: true });
  const ids = (await harness.companies.listCompanies({})).companies.map(({ id }) => id);
  expect(ids.filter((id) => [first!.id, second.id].includes(id))).toEqual([first!.id, second.id]);
  expect((await harness.companies.listCompanies({ id: second.id })).companies).toEqual([second]);
});

test('limits a company to 100 webhook endpoints, also for concurrent calls, or to the limit that its operator sets', async () => {
  const company = await harness.company();
  const user = await harness.user(company.id);
  const caller = { company_id: company.id, time_zone: 'America/Chicago', user_id: user.id };
  const create = () => harness.webhooks.createWebhook({ caller, name: 'Sink', url: 'https://example.com/hook', event_types: ['service_request.created'] });
  for (let made = 0; made < 90; made += 10) await Promise.all(Array.from({ length: 10 }, create));
  const results = await Promise.allSettled(Array.from({ length: 13 }, create));
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as { status: number; code: string }] : []));
  expect(refused.map(({ status, code }) => [status, code])).toEqual(Array(3).fill([409, 'LIMIT_REACHED']));

  const made = results.find((result) => result.status === 'fulfilled')!.value.data!;
  await harness.webhooks.deleteWebhook({ caller, id: made.id });
  await create();
  expect(await refusal(create())).toMatchObject({ status: 409, message: expect.stringContaining('100 webhook endpoints') });
  const { company: raised } = await harness.companies.updateCompany({ id: company.id, webhook_endpoint_limit: 101 });
  expect(raised).toMatchObject({ webhook_endpoint_limit: 101 });
  await create();
  expect((await refusal(create())).status).toBe(409);
});

test('lists the webhook endpoints of a company oldest first', async () => {
  const company = await harness.company();
  const user = await harness.user(company.id);
  const caller = { company_id: company.id, time_zone: 'America/Chicago', user_id: user.id };
  const create = async (name: string) =>
    await harness.webhooks.createWebhook({ caller, name, url: 'https://example.com', event_types: ['service_request.created'] });
  for (const name of ['b', 'a', 'c']) await create(name);
  const { data } = await harness.webhooks.listWebhooks({ key: { company_id: company.id, time_zone: 'America/Chicago', id: '' } });
  expect(data.map(({ name }) => name)).toEqual(['b', 'a', 'c']);
});

test('shows an endpoint as ownerless if its creator is inactive or has left the company', async () => {
  const [company, elsewhere] = [await harness.company(), await harness.company('Elsewhere')];
  const user = await harness.user(company.id);
  const caller = { company_id: company.id, time_zone: 'America/Chicago', user_id: user.id };
  const { data } = await harness.webhooks.createWebhook({ caller, name: 'Sink', url: 'https://example.com/hook', event_types: ['service_request.created'] });
  const read = async () => (await harness.webhooks.listWebhooks({ key: { company_id: company.id, time_zone: 'America/Chicago', id: '' } })).data;
  expect([data!.ownerless, (await read())[0]!.ownerless]).toEqual([false, false]);
  await harness.users.moveUser({ id: user.id, company_id: elsewhere.id });
  expect(await read()).toMatchObject([{ ownerless: true, created_by: { id: user.id } }]);
  await harness.users.moveUser({ id: user.id, company_id: company.id });
  expect(await read()).toMatchObject([{ ownerless: false }]);
  await harness.users.deactivateUser({ id: user.id });
  expect(await read()).toMatchObject([{ ownerless: true }]);
});

test('creates a company under a given id, but only once', async () => {
  const id = randomUUID();
  const request = { name: 'Restored', timezone: 'Europe/Berlin', id };
  expect((await harness.companies.createCompany(request)).company?.id).toBe(id);
  expect(await refusal(harness.companies.createCompany(request))).toMatchObject({ status: 400, details: [{ field: 'id' }] });
});

test('answers 404 wherever a request names a company that does not exist', async () => {
  const company_id = randomUUID();
  const calls = [
    harness.companies.updateCompany({ id: company_id, name: 'x' }),
    harness.users.listUsers({ company_id }),
    harness.keys.listKeys({ company_id }),
    harness.reads.getCompany({ key: { company_id, time_zone: 'UTC', id: '' } }),
    harness.user(company_id),
  ];
  const statuses = (await Promise.all(calls.map(refusal))).map(({ status }) => status);
  expect(statuses).toEqual([404, 404, 404, 404, 404]);
});

test('shows the current user only in the company that the user belongs to', async () => {
  const [company, other] = [await harness.company('Lone Star Comfort'), await harness.company('Gulf Air')];
  const { id } = await harness.user(company.id);
  const read = (company_id: string) => harness.currentUser.getCurrentUser({ caller: { company_id, time_zone: 'America/Chicago', user_id: id } });
  expect((await read(company.id)).data).toMatchObject({ id, company: { id: company.id, name: 'Lone Star Comfort' } });
  expect(await refusal(read(other.id))).toMatchObject({ status: 404 });
  await harness.users.moveUser({ id, company_id: other.id });
  expect(await refusal(read(company.id))).toMatchObject({ status: 404 });
  expect((await read(other.id)).data).toMatchObject({ id, company: { id: other.id, name: 'Gulf Air' } });
});
