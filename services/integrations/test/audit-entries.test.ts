// What the audit trail says about a change: the state before and after it, or its parameters.
import { randomUUID } from 'node:crypto';
import { formatInstant, now } from '@truckroll/contract';
import { RecoveryInclude } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { SECOND, startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

type State = Record<string, unknown> | null;
/** The entries about an object, oldest first, without those of the action that made it. */
async function entriesOf(id: string): Promise<{ action: string; before: State; after: State }[]> {
  const rows = await desk.sql(`select action, before, after from audit_events where object_id = $1 and action not like '%.created' order by at, id`, [id]);
  const read = (text: string | null): State => (text === null ? null : (JSON.parse(text) as State));
  return rows.map(({ action, before, after }) => ({ action: String(action), before: read(before), after: read(after) }));
}

test('an operator’s rotation and revocation of a key have the key before and after them', async () => {
  const company = await desk.company();
  const user = await desk.user(company.id);
  const { key } = await desk.keys.createKey({ company_id: company.id, user_id: user.id, name: 'Export', limits: null });
  const { key: rotated } = await desk.keys.rotateKey({ id: key!.id });
  const { key: revoked } = await desk.keys.revokeKey({ id: key!.id });
  // Revoked again, it stays revoked since the first time.
  expect((await desk.keys.revokeKey({ id: key!.id })).key?.revoked_at).toBe(revoked!.revoked_at);
  const live = { state: 'ACTIVE', revokedAt: null };
  expect(await entriesOf(key!.id)).toMatchObject([
    { action: 'api_key.rotated', before: { ...live, keySuffix: key!.key_suffix }, after: { ...live, keySuffix: rotated!.key_suffix } },
    {
      action: 'api_key.revoked',
      before: { ...live, keySuffix: rotated!.key_suffix },
      after: { state: 'REVOKED', revokedAt: formatInstant(revoked!.revoked_at!), keySuffix: rotated!.key_suffix },
    },
    { action: 'api_key.revoked', before: { state: 'REVOKED' }, after: { state: 'REVOKED' } },
  ]);
});

test('a rotation of a secret has the endpoint before and after it', async () => {
  const one = await desk.endpoint();
  const before = await one.read();
  await desk.webhooks.rotateWebhookSecret({ caller: one.caller, id: one.id });
  const after = await one.read();
  expect(after.updated_at).toBeGreaterThan(before.updated_at);
  const [first, second] = [before, after].map(({ name, updated_at }) => ({ id: one.id, name, updatedAt: formatInstant(updated_at) }));
  expect(await entriesOf(one.id)).toMatchObject([{ action: 'webhook.secret_rotated', before: first, after: second }]);
});

test('redeliveries have the deliveries that were queued, and no others of the request', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event(), one.event(), one.event());
  const [first, second, often] = (await one.deliveries()).map(({ id }) => id) as [string, string, string];
  await desk.sql('update webhook_deliveries set redeliveries = 20 where id = $1', [often]);
  await desk.log.redeliverWebhook({ caller: one.caller, webhook_id: one.id, id: first });
  const unknown = `${second.slice(0, -12)}${randomUUID().slice(-12)}`;
  await desk.log.redeliverWebhooks({ caller: one.caller, webhook_id: one.id, delivery_ids: [second, unknown, often, first, second] });
  expect(await entriesOf(one.id)).toEqual([
    { action: 'webhook.redelivered', before: null, after: { deliveryIds: [first] } },
    { action: 'webhook.redelivered', before: null, after: { deliveryIds: [second, first] } },
  ]);
});

test.each([
  [undefined, 'MISSED', 1],
  [RecoveryInclude.MISSED, 'MISSED', 1],
  [RecoveryInclude.ALL, 'ALL', 2],
])('a recovery of %s has its period, `%s`, and how much it queued', async (include, named, queued) => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event(), one.event());
  const [failed] = await one.deliveries();
  await desk.sql(`update webhook_deliveries set state = case when id = $1 then 'FAILED' else 'SUCCEEDED' end where endpoint_id = $2`, [failed!.id, one.id]);
  await desk.sql('delete from webhook_queue');
  const since = now() - 60 * SECOND;
  const until = now();
  await desk.webhooks.recoverWebhook({ caller: one.caller, id: one.id, since, until, include });
  const after = { since: formatInstant(since), until: formatInstant(until), include: named, queued };
  expect(await entriesOf(one.id)).toEqual([{ action: 'webhook.recovered', before: null, after }]);
});
