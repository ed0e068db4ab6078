import { startSystem, type System, type TestCompany } from '../support/system.ts';

const FEED = '/api/v1/integrations/changes';
let system: System;
let company: TestCompany;

beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany();
}, 180_000);
afterAll(() => system.stop());

async function faults(path: string, of = company): Promise<unknown> {
  const { status, body } = await system.get(of, path);
  return [status, (body.error.details ?? []).map(({ field }: { field: string }) => field).sort()];
}

test.each([
  ['kinds=invoices&kinds=nothing', ['kinds']],
  ['limit=0', ['limit']],
  ['limit=1001', ['limit']],
  ['wait=31', ['wait']],
  ['kinds=nothing&limit=0&wait=31&cursor=malformed', ['cursor', 'kinds', 'limit', 'wait']],
])('%s is refused with every fault', async (query, fields) => {
  expect(await faults(`${FEED}?${query}`)).toEqual([400, fields]);
});

test('the digest refuses buckets other than 1 and 256, with every other fault', async () => {
  expect(await faults(`${FEED}/digest?buckets=2&kinds=nothing&cursor=malformed`)).toEqual([400, ['buckets', 'cursor', 'kinds']]);
});

test("refuses another company's cursor, and takes the company's own", async () => {
  const { body } = await system.get(company, FEED);
  const other = await system.createCompany();
  const path = `${FEED}?cursor=${body.nextCursor}`;
  expect((await system.get(company, path)).status).toBe(200);
  const refused = await system.get(other, path);
  expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_CURSOR']);
});
