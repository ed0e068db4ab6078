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

test('an operator’s rotation and revocation of a key have what they changed, before and after them', async () => {
  const company = await desk.company();
  const user = await desk.user(company.id);
  const { key } = await desk.keys.createKey({ company_id: company.id, user_id: user.id, name: 'Export', limits: null });
  const { key: rotated } = await desk.keys.rotateKey({ id: key!.id });
  const { key: revoked } = await desk.keys.revokeKey({ id: key!.id });
  // Revoked again, it stays revoked since the first time.
  expect((await desk.keys.revokeKey({ id: key!.id })).key?.revoked_at).toBe(revoked!.revoked_at);
  const [one, other] = [key!, rotated!].map(({ key_prefix: keyPrefix, key_suffix: keySuffix }) => ({ keyPrefix, keySuffix }));
  expect(await entriesOf(key!.id)).toEqual([
    { action: 'api_key.rotated', before: one, after: other },
    {
      action: 'api_key.revoked',
      before: { state: 'ACTIVE', revokedAt: null },
      after: { state: 'REVOKED', revokedAt: formatInstant(revoked!.revoked_at!) },
    },
    { action: 'api_key.revoked', before: {}, after: {} },
  ]);
});

test('a rotation of a secret has the time of the endpoint’s last change before and after it', async () => {
  const one = await desk.endpoint();
  const before = await one.read();
  await desk.webhooks.rotateWebhookSecret({ caller: one.caller, id: one.id });
  const after = await one.read();
  expect(after.updated_at).toBeGreaterThan(before.updated_at);
  const [first, second] = [before, after].map(({ updated_at }) => ({ updatedAt: formatInstant(updated_at) }));
  expect(await entriesOf(one.id)).toEqual([{ action: 'webhook.secret_rotated', before: first, after: second }]);
});

test('a change has only the fields that differ, and a value above 1 KB as its length and keyed hash', async () => {
  const filter = (bytes: number): string => JSON.stringify({ summary: { $eq: 'é'.repeat((bytes - 22) / 2) } });
  expect(Buffer.byteLength(filter(1024))).toBe(1024);
  const one = await desk.endpoint({ filter: filter(1024) });
  const other = await desk.endpoint({ filter: filter(1026) });
  for (const each of [one, other]) {
    await each.update({ filter: filter(1026), name: 'Renamed' });
    await each.update({ filter: filter(16_384) });
    await each.update({ filter: filter(1026), name: 'Renamed' });
  }
  const [first, ...rest] = await entriesOf(one.id);
  const changed = { name: 'Renamed', updatedAt: expect.any(String), filter: { length: 1026, hash: expect.stringMatching(/^[0-9a-f]{64}$/) } };
  expect(first).toEqual({
    action: 'webhook.updated',
    before: { name: 'Lead sync', updatedAt: expect.any(String), filter: JSON.parse(filter(1024)) },
    after: changed,
  });
  const hashOf = (state: State): unknown => (state?.['filter'] as { hash?: string } | undefined)?.hash;
  expect(rest.map(({ before, after }) => [hashOf(before) === hashOf(first!.after), hashOf(after) === hashOf(first!.after)])).toEqual([
    [true, false],
    [false, true],
  ]);
  // Another company's hash of the same filter differs. Its first change did not change the filter.
  const [unchanged, second] = await entriesOf(other.id);
  expect(Object.keys(unchanged!.after!).toSorted()).toEqual(['name', 'updatedAt']);
  expect(hashOf(second!.before)).not.toBe(hashOf(first!.after));
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
