import { randomUUID } from 'node:crypto';
import { refusal, startHarness } from './harness.ts';

let harness: Awaited<ReturnType<typeof startHarness>>;
beforeAll(async () => void (harness = await startHarness()));
afterAll(() => harness.stop());

test('a new company has costing on and verified_only off, and reads as its integrators see it', async () => {
  const company = await harness.company('Ventilación Ñandú');
  expect(company).toMatchObject({ name: 'Ventilación Ñandú', timezone: 'America/Chicago', costing_enabled: true, verified_only: false });
  const key = { company_id: company.id, time_zone: company.timezone, id: '' };
  expect(await harness.reads.getCompany({ key })).toEqual({
    data: { id: company.id, name: 'Ventilación Ñandú', timezone: 'America/Chicago', currency: 'USD' },
  });
});

test('every fault of a new company is told at once', async () => {
  const error = await refusal(harness.companies.createCompany({ name: '', timezone: 'America/Chicagoo', id: 'x' }));
  expect(error.status).toBe(400);
  expect(error.details.map(({ field, code }) => [field, code])).toEqual([
    ['name', 'MISSING'],
    ['timezone', 'INVALID_FORMAT'],
    ['id', 'INVALID_UUID'],
  ]);
});

test('only the settings that are given change, and updated_at moves only when something does', async () => {
  const before = await harness.company();
  const { company: after } = await harness.companies.updateCompany({ id: before.id, costing_enabled: false });
  expect(after).toEqual({ ...before, costing_enabled: false, updated_at: after!.updated_at });
  expect(after!.updated_at).toBeGreaterThan(before.updated_at);
  const { company: again } = await harness.companies.updateCompany({ id: before.id.toUpperCase(), costing_enabled: false });
  expect(again).toEqual(after);
});

test('a company can be brought back under its own id, but only once', async () => {
  const id = randomUUID();
  const request = { name: 'Restored', timezone: 'Europe/Berlin', id };
  expect((await harness.companies.createCompany(request)).company?.id).toBe(id);
  expect((await refusal(harness.companies.createCompany(request))).status).toBe(400);
});

test('a company that does not exist is a 404 wherever it is named', async () => {
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
