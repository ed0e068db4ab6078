// Views of the console as the service stores them (decisions §19).
import { refusal, startHarness } from './harness.ts';

let harness: Awaited<ReturnType<typeof startHarness>>;
beforeAll(async () => void (harness = await startHarness()));
afterAll(() => harness.stop());

async function company() {
  const { id, timezone } = await harness.company();
  const caller = async (email: string) => ({ caller: { company_id: id, time_zone: timezone, user_id: (await harness.user(id, email)).id } });
  return [await caller(`ana@${id}.example`), await caller(`ben@${id}.example`)] as const;
}
const names = ({ data }: { data: readonly { name: string }[] }): string[] => data.map(({ name }) => name);

test('saves a view in place of the user’s own of its name, and lists what others share', async () => {
  const [ana, ben] = await company();
  await harness.views.saveView({ ...ana, name: 'Mine', query: '/reports/collections', shared: false });
  await harness.views.saveView({ ...ana, name: 'Ours', query: '/reports/receivables', shared: true });
  await harness.views.saveView({ ...ben, name: 'Ours', query: '/money', shared: false });
  const { data } = await harness.views.saveView({ ...ana, name: 'Ours', query: '/money/invoices?show=OPEN', shared: true });
  expect(data).toMatchObject({ name: 'Ours', query: '/money/invoices?show=OPEN', shared: true });
  expect((await harness.views.getView({ ...ben, name: 'Ours' })).data?.query).toBe('/money');
  expect(names(await harness.views.listViews(ana))).toEqual(['Mine', 'Ours']);
  expect(names(await harness.views.listViews(ben))).toEqual(['Ours', 'Ours']);
  expect(names(await harness.views.listViews((await company())[0]))).toEqual([]);
});

test('removes only the user’s own view', async () => {
  const [ana, ben] = await company();
  await harness.views.saveView({ ...ana, name: 'Ours', query: '/money', shared: true });
  expect(await refusal(harness.views.deleteView({ ...ben, name: 'Ours' }))).toMatchObject({ status: 404 });
  expect((await harness.views.deleteView({ ...ana, name: 'Ours' })).data?.name).toBe('Ours');
  expect(await refusal(harness.views.getView({ ...ana, name: 'Ours' }))).toMatchObject({ status: 404 });
});

test('lists what another user shares while they are active in the company', async () => {
  const [ana, ben] = await company();
  await harness.views.saveView({ ...ana, name: 'Ours', query: '/money', shared: true });
  const { company_id, user_id: id } = ana.caller;
  const { id: elsewhere } = await harness.company();
  await harness.users.moveUser({ id, company_id: elsewhere });
  expect(names(await harness.views.listViews(ben))).toEqual([]);
  await harness.users.moveUser({ id, company_id });
  expect(names(await harness.views.listViews(ben))).toEqual(['Ours']);
  await harness.users.deactivateUser({ id });
  expect(names(await harness.views.listViews(ben))).toEqual([]);
});

test('refuses a query above 2,000 bytes, the names . and .., and a user’s 101st view, and still replaces one of 100', async () => {
  const [ana] = await company();
  const save = (name: string, query = '/money') => harness.views.saveView({ ...ana, name, query, shared: false });
  expect(await refusal(save('Long', 'é'.repeat(1001)))).toMatchObject({ status: 400 });
  for (const name of ['.', '..']) expect(await refusal(save(name))).toMatchObject({ status: 400 });
  await Promise.all(Array.from({ length: 99 }, (_, at) => save(`View ${at}`)));
  // At once: one of them is the 100th.
  const more = await Promise.allSettled(Array.from({ length: 8 }, (_, at) => save(`More ${at}`)));
  expect(more.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await refusal(save('One more'))).toMatchObject({ status: 409 });
  expect((await save('View 7', '/reports')).data?.query).toBe('/reports');
});
