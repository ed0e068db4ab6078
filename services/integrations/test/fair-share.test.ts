// Changes of endpoints and keys take the connections of their company, so that one company's cannot stop another's.
import { now } from '@truckroll/contract';
import { holdingLocks } from '@truckroll/testing';
import { startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterAll(() => desk.stop());

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;
/** More than all connections of the service. */
const MANY = 20;
const FIELDS = { name: 'Lead sync', url: 'https://example.com/hook', event_types: ['service_request.created'] };

test.each<[string, (one: Endpoint, keyId: string) => Promise<unknown>]>([
  ['webhook created', ({ caller }) => desk.webhooks.createWebhook({ caller, ...FIELDS })],
  ['webhook updated', (one) => one.update({ name: 'Other' })],
  ['webhook deleted', ({ caller, id }) => desk.webhooks.deleteWebhook({ caller, id })],
  ['webhook tested', ({ caller, id }) => desk.webhooks.testWebhook({ caller, id })],
  ['secret rotated', ({ caller, id }) => desk.webhooks.rotateWebhookSecret({ caller, id })],
  ['webhook recovered', ({ caller, id }) => desk.webhooks.recoverWebhook({ caller, id, since: now() - 1_000_000 })],
  ['redelivery', ({ caller, id }) => desk.log.redeliverWebhooks({ caller, webhook_id: id, delivery_ids: ['00000000-0000-8000-8000-000000000000'] })],
  ['key created', ({ caller }) => desk.apiKeys.createApiKey({ caller, name: 'Export' })],
  ['key rotated', ({ caller }, id) => desk.apiKeys.rotateApiKey({ caller, id })],
  ['key deleted', ({ caller }, id) => desk.apiKeys.deleteApiKey({ caller, id })],
])('a %s for another company is not kept waiting by many that wait for a lock', async (_, change) => {
  const company = async () => {
    const one = await desk.endpoint();
    const { data } = await desk.apiKeys.createApiKey({ caller: one.caller, name: 'Export' });
    return { one, keyId: data!.id };
  };
  const [busy, other] = [await company(), await company()];
  let stuck: Promise<unknown> = Promise.resolve();
  await holdingLocks({ url: desk.database.url, schema: 'integrations' }, async (holder) => {
    for (const table of ['users', 'api_keys', 'webhook_endpoints'])
      await holder.run(`select from ${table} where company_id = $1 for update`, [busy.one.company.id]);
    const changes = Array.from({ length: MANY }, () => change(busy.one, busy.keyId));
    stuck = Promise.allSettled(changes);
    await holder.waiting(1, stuck);
    await change(other.one, other.keyId);
  });
  await stuck;
});

test('keys that are refused because too many changes of their company wait leave nothing, and say when to try again', async () => {
  const { company, caller } = await desk.endpoint();
  await desk.companies.updateCompany({ id: company.id, key_limit: 200 });
  let outcomes: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([]);
  await holdingLocks({ url: desk.database.url, schema: 'integrations' }, async (holder) => {
    await holder.run('select from users where company_id = $1 for update', [company.id]);
    // More than the connections and the queue together.
    const all = Array.from({ length: 120 }, () => desk.apiKeys.createApiKey({ caller, name: 'Export' }));
    outcomes = Promise.allSettled(all);
    await expect(Promise.all(all)).rejects.toMatchObject({ status: 429 });
  });
  const refused = (await outcomes).flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as object] : []));
  // On a slow machine some wait too long, which is a 503.
  for (const error of refused) expect(error).toMatchObject({ code: expect.stringMatching(/^(RATE_LIMITED|INTERNAL_ERROR)$/), retryAfterSeconds: 1 });
  const traces = await desk.sql(
    `select (select count(*) from api_keys where company_id = $1) as keys,
      (select count(*) from audit_events where company_id = $1 and action = 'api_key.created') as entries`,
    [company.id],
  );
  const made = 120 - refused.length;
  expect(traces.map(({ keys, entries }) => [Number(keys), Number(entries)])).toEqual([[made, made]]);
});
