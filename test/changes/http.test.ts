import { randomUUID } from 'node:crypto';
import { until } from '@truckroll/testing/until';
import { invoice, payment } from '../../services/billing/test/records.ts';
import { dispatchDesk, type DispatchDesk } from '../support/dispatch.ts';
import { startSystem, type System } from '../support/system.ts';
import { feedIsCurrent } from './compared.ts';
import { restoreWithout } from './restore.ts';

interface Change {
  kind: string;
  id: string;
  change: string;
  record: Record<string, any> | null;
}

const FEED = '/api/v1/integrations/changes';
let system: System;
let desk: DispatchDesk;
let cursor: string;

beforeAll(async () => {
  system = await startSystem();
  desk = await dispatchDesk(system);
}, 180_000);
afterAll(() => system.stop());
beforeEach(async () => void (await changes('&cursor=now')));

const read = (query: string) => system.get(desk.company, `${FEED}?limit=1000${query}`);

/** Everything since the cursor, once every earlier commit is in the feed. */
async function changes(query = `&cursor=${cursor}`): Promise<Change[]> {
  await feedIsCurrent(system.baseUrl, desk.company.apiKey);
  const { status, body } = await read(query);
  expect([status, body.hasMore]).toEqual([200, false]);
  cursor = body.nextCursor;
  return body.data;
}

const tag = (id: string): object => {
  const at = '2026-03-01T15:00:00Z';
  return { id, name: 'Tagged', color: null, applies_to: ['JOB'], archived_at: null, created_at: at, updated_at: at };
};

test('a payment that becomes PAID makes its invoice appear, as reads return it', async () => {
  const owed = invoice();
  const pays = payment({ [owed.id]: 500 }, { status: 'PENDING', amount_cents: 500 });
  await desk.store('invoices', owed);
  await desk.store('payments', pays);
  await changes();
  await desk.store('payments', { ...pays, status: 'PAID' });
  const found = (await changes()).filter(({ kind }) => kind !== 'job-financials');
  expect(found.map(({ kind, id, change }) => [kind, id, change]).sort()).toEqual([
    ['invoices', owed.id, 'UPSERTED'],
    ['payments', pays.id, 'UPSERTED'],
  ]);
  const { body } = await system.get(desk.company, `/v1/invoices/${owed.id}`);
  expect(body.data.amounts).toMatchObject({ paid_cents: 500, processing_cents: 0 });
  expect(found.find(({ kind }) => kind === 'invoices')?.record).toEqual(body.data);
});

test('a removed assignment leaves a tombstone, and changes its visit', async () => {
  const visit = await desk.visit();
  const added = await desk.add(visit);
  const id = added.headers.get('location')!.split('/').at(-1)!;
  expect((await changes()).find((each) => each.id === id)).toMatchObject({ kind: 'job-assignments', change: 'UPSERTED' });
  expect((await desk.remove(id, added.body['data'].revision)).status).toBe(200);
  const found = await changes();
  expect(found.find((each) => each.id === id)).toMatchObject({ kind: 'job-assignments', change: 'DELETED', record: null });
  expect(found.find((each) => each.id === visit['id'])?.record).toEqual(await desk.read(visit['id']));
});

test('an import of identical records changes nothing', async () => {
  const same = [tag(randomUUID()), tag(randomUUID())];
  await desk.store('tags', ...same);
  await changes();
  await desk.store('tags', ...same);
  expect(await changes()).toEqual([]);
});

async function faults(path: string): Promise<unknown> {
  const { status, body } = await system.get(desk.company, path);
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
  const other = await system.createCompany();
  const path = `${FEED}?cursor=${cursor}`;
  expect((await system.get(desk.company, path)).status).toBe(200);
  const refused = await system.get(other, path);
  expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_CURSOR']);
});

test('while an owner is away the feed answers 503 with Retry-After, and skips nothing afterwards', async () => {
  const [before, during] = [randomUUID(), randomUUID()];
  await desk.store('tags', tag(before));
  await system.stopService('billing');
  const away = await read(`&cursor=${cursor}`);
  expect([away.status, Number(away.headers.get('retry-after')) > 0]).toEqual([503, true]);
  await desk.store('tags', tag(during));
  await system.startService('billing');
  await until(
    'the feed to answer',
    () => read(`&cursor=${cursor}`),
    ({ status }) => status === 200,
  );
  const tags = (await changes()).filter(({ kind }) => kind === 'tags');
  expect(tags.map(({ id }) => id).sort()).toEqual([before, during].sort());
});

// Last, because it begins a new epoch.
test('cursors from before a restore get 410 RESYNC_REQUIRED, and what it has undone is no longer in the feed', async () => {
  const undone = randomUUID();
  await desk.store('tags', tag(undone));
  await changes();
  const poll = (from: string) => system.get(desk.company, `${FEED}?wait=30&cursor=${from}`);
  // Reporting's records of earlier tests may still arrive.
  let idle = await system.get(desk.company, `${FEED}?wait=1&cursor=${cursor}`);
  while (idle.body.data.length > 0) idle = await system.get(desk.company, `${FEED}?wait=1&cursor=${idle.body.nextCursor}`);
  expect(idle.status).toBe(200);
  const held = poll(idle.body.nextCursor);
  await restoreWithout(system, undone);
  expect((await Promise.all([held, poll(idle.body.nextCursor)])).map(({ status }) => status)).toEqual([410, 410]);
  for (const path of [FEED, `${FEED}/digest`]) {
    const { status, body } = await system.get(desk.company, `${path}?cursor=${cursor}`);
    expect([status, body.error.code]).toEqual([410, 'RESYNC_REQUIRED']);
  }
  expect((await changes('')).map(({ id }) => id)).not.toContain(undone);
});
