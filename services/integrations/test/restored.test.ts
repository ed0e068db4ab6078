// What a restore repeats and reports, on a database that was restored while deliveries and e-mails were under way.
import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import { CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import { fannedOut, maySendTwice, restored, type PublishedEvent } from '../src/restored.ts';
import { deliveryId } from '../src/webhooks/log/delivery-id.ts';
import { DAY, startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;

const published = ({ company }: Endpoint, fields: Partial<PublishedEvent> = {}): PublishedEvent => ({
  id: randomUUID(),
  type: 'service_request.created',
  companyId: company.id,
  subject: randomUUID(),
  sequence: 3,
  timestamp: now(),
  ...fields,
});

test('reads its own topic of webhooks on, and the audit topics again from the beginning', () => {
  expect(restored.groups.map(({ group, again = false }) => [group, again])).toEqual([
    ['webhook-dispatcher', false],
    ['integrations', true],
  ]);
});

test('publishes every company, makes gateways forget what they cached, and records the restore', async () => {
  const companies = [await desk.company('First'), await desk.company('Second')];
  const { rows, forgotten } = await desk.openDatabase().transaction(async (tx) => {
    const { rows: before } = await tx.query<{ last: number }>({ text: 'select coalesce(max(id), 0) as last from outbox' });
    await restored.renew(tx);
    const stored = await tx.query<{ type: string; payload: Buffer }>({
      text: 'select type, payload from outbox where id > $1 and company_id = any($2) order by id',
      values: [before[0]!.last, companies.map(({ id }) => id)],
    });
    return { rows: stored.rows, forgotten: (await tx.query({ text: 'select subject from pending_invalidations' })).rows };
  });
  expect(rows.map(({ type, payload }) => [type, CompanyAccount.decode(payload).name])).toEqual([
    ['company.changed', 'First'],
    ['company.changed', 'Second'],
  ]);
  expect(forgotten).toEqual([{ subject: 'restored' }]);
  expect(await desk.sql(`select object_kind, object_id from audit_events where action = 'installation.restored'`)).toEqual([
    { object_kind: 'installation', object_id: 'integrations' },
  ]);
});

test('recognises the events that became deliveries by id and day', async () => {
  const database = desk.openDatabase();
  const one = await desk.endpoint();
  const event = one.event();
  await desk.fanOut(event);
  const known = published(one, { id: event.id, timestamp: event.timestamp });
  expect(await fannedOut(database, [known, published(one)])).toEqual(new Set([event.id]));
  expect(await fannedOut(database, [{ ...known, timestamp: event.timestamp - DAY }])).toEqual(new Set());
});

test('lists what may be sent twice: queued deliveries, and what events become for endpoints that are enabled and subscribed', async () => {
  const database = desk.openDatabase();
  const [one, other, off, gone] = [await desk.endpoint(), await desk.endpoint(), await desk.endpoint(), await desk.endpoint()];
  await off.update({ enabled: false });
  await desk.webhooks.deleteWebhook({ caller: gone.caller, id: gone.id });
  await desk.sql('update webhook_endpoints set enabled = true where id = $1', [gone.id]);
  const event = one.event({ sequence: 7 });
  await desk.fanOut(event);
  const coming = published(one);
  const events = [
    published(one, { id: event.id, timestamp: event.timestamp, subject: event.subject, sequence: 7 }),
    coming,
    published(one, { type: 'interaction.completed' }),
    published(off),
    published(gone),
  ];
  const of = ({ id, timestamp, subject, sequence }: PublishedEvent) => ({
    company_id: one.company.id,
    endpoint_id: one.id,
    url: 'https://example.com/hook',
    event_id: id,
    event_type: 'service_request.created',
    subject,
    sequence,
    delivery_id: deliveryId(timestamp, id, one.id),
  });
  expect(await maySendTwice(database, events)).toEqual([of(events[0]!), of(coming)]);
  expect((await maySendTwice(database, [published(other)])).map(({ endpoint_id }) => endpoint_id)).toEqual([one.id, other.id]);
});
