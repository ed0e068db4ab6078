// Where a company lives, as one cell knows it (docs/adr/0029).
import { randomUUID } from 'node:crypto';
import { hashApiKey } from '@truckroll/contract';
import { startHarness } from './harness.ts';

let harness: Awaited<ReturnType<typeof startHarness>>;
beforeAll(async () => void (harness = await startHarness({}, 'home')));
afterAll(() => harness.stop());

async function caller() {
  const { id: company_id } = await harness.company();
  const user = await harness.user(company_id);
  const { key, value } = await harness.keys.createKey({ company_id, user_id: user.id, name: 'Export', limits: null });
  return { company_id, user, key: key!, by: { key: { key_hash: hashApiKey(value) }, token: { user: { issuer: 'i', subject: user.subject, company_id } } } };
}
const place = async (company_id: string, from: string | null, to: string | null) => void (await harness.cells.switchCompany({ company_id, from, to }));
const conflict = (message: string) => ({ status: 409, message: expect.stringContaining(message) });

test('a company is served here until it is switched, and again when it comes back', async () => {
  const { company_id, by } = await caller();
  for (const credential of Object.values(by)) {
    expect(await harness.identity.authenticate(credential)).toMatchObject({ principal: { company_id } });
    await place(company_id, 'home', null);
    expect(await harness.identity.authenticate(credential)).toMatchObject({ elsewhere: { cell: null } });
    await place(company_id, null, 'west');
    expect(await harness.identity.authenticate(credential)).toMatchObject({ elsewhere: { cell: 'west' } });
    await place(company_id, 'west', null);
    await place(company_id, null, 'home');
    expect(await harness.identity.authenticate(credential)).toMatchObject({ principal: { company_id } });
  }
});

test('a step is done once, if the company lives where the caller believes', async () => {
  const { company_id } = await caller();
  await place(company_id, 'home', null);
  await place(company_id, 'home', null);
  await expect(place(company_id, 'home', 'west')).rejects.toMatchObject(conflict('is being switched'));
  await place(company_id, null, 'west');
  await expect(place(company_id, null, 'home')).rejects.toMatchObject(conflict('lives in the cell west'));
  await expect(place(company_id, 'west', 'a/b')).rejects.toMatchObject({ status: 400, details: [{ field: 'to' }] });
});

test('a company whose rows are not here is neither switched nor served, but may be expected', async () => {
  const company_id = randomUUID();
  await expect(place(company_id, 'home', null)).rejects.toMatchObject({ status: 404 });
  await place(company_id, 'home', 'west');
  await expect(place(company_id, 'west', 'home')).rejects.toMatchObject({ status: 404 });
  // It learns of a switch between others.
  await place(company_id, 'west', null);
  await expect(place(company_id, null, 'home')).rejects.toMatchObject({ status: 404 });
  await place(company_id, null, 'west');
  expect((await harness.cells.describeCell({})).elsewhere).toContainEqual({ company_id, cell: 'west' });
});

test('a credential that is not valid is refused by the cell of its company only', async () => {
  const { company_id, key, by } = await caller();
  await harness.keys.revokeKey({ id: key.id });
  const stranger = { user: { issuer: 'i', subject: 'stranger', company_id } };
  for (const credential of [by.key, stranger]) expect(await harness.identity.authenticate(credential)).toMatchObject({ refused: true });
  await place(company_id, 'home', 'west');
  for (const credential of [by.key, stranger]) expect((await harness.identity.authenticate(credential)).refused ?? false).toBe(false);
  for (const unknown of [{ key_hash: Buffer.alloc(32) }, { user: { ...stranger.user, company_id: randomUUID() } }]) {
    expect((await harness.identity.authenticate(unknown)).refused ?? false).toBe(false);
  }
});

test('rows that are left of a company that lives elsewhere are not administered here', async () => {
  const { company_id, user, key } = await caller();
  await place(company_id, 'home', 'west');
  const calls = [
    () => harness.keys.revokeKey({ id: key.id }),
    () => harness.keys.rotateKey({ id: key.id }),
    () => harness.keys.createKey({ company_id, user_id: user.id, name: 'late', limits: null }),
    () => harness.users.deactivateUser({ id: user.id }),
    () => harness.companies.updateCompany({ id: company_id, name: 'Another' }),
    () => harness.companies.deleteCompany({ id: company_id, name: 'Lone Star Comfort' }),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject(conflict('lives in the cell west'));
});
