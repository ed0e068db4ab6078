// Leases that FanOut grants while storing deliveries (docs/adr/0008).
import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import type { PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { FAILURE, startDesk, type LeaseOptions } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());
const PERSON = randomUUID();
test.each([
  ['stored while its lease goes on', '1 minute', PERSON, {}, 'thanks'],
  ['replaced once its lease has ended, if the body refers to the person', '0', PERSON, {}, 'Erased person'],
  ['replaced once its lease has ended, if a text of the body names the person', '0', PERSON, { data: {}, people: PERSON }, 'Erased person'],
  ['stored after its lease if the body shows another person', '0', randomUUID(), {}, 'thanks'],
])('an answer that may show an erased person is %s', async (_, left, erased, fields, said) => {
  const one = await desk.endpoint();
  const event = one.event({ data: { account: { id: PERSON, name: 'Ann' } }, ...fields });
  await desk.fanOut(event);
  const [leased] = await desk.lease();
  await desk.sql(`update webhook_queue set leased_until = now() + $1::interval`, [left]);
  await desk.sql(`insert into erased_people (company_id, kind, id, ended_at) values ($1, 'accounts', $2, now())`, [one.company.id, erased]);
  await desk.report(leased!);
  const attempts = await desk.sql(`select convert_from(response_body, 'UTF8') as body, response_headers from webhook_attempts where delivery_id = $1`, [
    leased!.delivery_id,
  ]);
  expect(attempts).toEqual([{ body: said, response_headers: said === 'thanks' ? expect.arrayContaining([expect.anything()]) : [] }]);
});

describe('a delivery leased while it is stored', () => {
  const store = async (events: PublicEvent[], options: LeaseOptions = {}) =>
    (await desk.deliveries.fanOut({ events, dead_letter_ids: [], lease: desk.asked(options) })).deliveries;

  test('needs no other lease, is reported normally, and is leased again after its lease ends', async () => {
    const one = await desk.endpoint();
    const event = one.event();
    const [leased, ...others] = await store([event, one.event({ type: 'interaction.completed' })]);
    expect(leased).toMatchObject({
      event_id: event.id,
      endpoint_id: one.id,
      company_id: one.company.id,
      url: 'https://example.com/hook',
      attempt: 1,
      probe: false,
    });
    expect(leased!.secrets.map((secret) => `whsec_${Buffer.from(secret).toString('base64')}`)).toEqual([one.secret]);
    expect([others, await desk.lease(), await store([event])]).toEqual([[], [], []]);
    await desk.sql('update webhook_queue set leased_until = now()');
    const [again] = await desk.lease();
    expect(again).toMatchObject({ delivery_id: leased!.delivery_id, body: event.body });
    expect(await desk.report(leased!, FAILURE)).toMatchObject({ lease_lost: true });
    expect(await desk.report(again!)).toMatchObject({ status: 'DELIVERY_STATUS_SUCCEEDED', lease_lost: false });
  });

  test('is none of a sandbox, whose event is kept and sent with a mark that its sender does not have', async () => {
    const [sandbox, other] = [await desk.endpoint(), await desk.endpoint()];
    await desk.sql('update companies set sandbox = true where id = $1', [sandbox.company.id]);
    const [marked, plain] = [sandbox.event(), other.event()];
    expect((await store([marked, plain])).map(({ event_id }) => event_id)).toEqual([plain.id]);
    await desk.webhooks.testWebhook({ caller: sandbox.caller, id: sandbox.id });
    const bodies = new Map((await desk.lease()).map(({ event_id, body }) => [event_id, JSON.parse(body.toString())]));
    expect(bodies.get(marked.id)).toEqual({ ...JSON.parse(marked.body.toString()), meta: { sandbox: true } });
    expect([...bodies.values()].find(({ type }) => type === 'webhook.test')).toMatchObject({ meta: { sandbox: true } });
  });

  test('is none of a company that is frozen or about to be', async () => {
    const [frozen, other] = [await desk.endpoint(), await desk.endpoint()];
    await desk.sql('insert into frozen_companies (company_id) values ($1)', [frozen.company.id]);
    expect((await store([frozen.event(), other.event()])).map(({ company_id }) => company_id)).toEqual([other.company.id]);
    await desk.sql('delete from frozen_companies');
    expect((await desk.lease()).map(({ company_id }) => company_id)).toEqual([frozen.company.id]);
  });

  test('is the only one of its subject, and is leased only if nothing waits for its endpoint', async () => {
    const one = await desk.endpoint();
    const subject = randomUUID();
    const [first, second, third] = [1, 2, 3].map((sequence) => one.event({ subject, sequence, timestamp: now() + sequence }));
    const [leased, ...others] = await store([first!, second!]);
    expect([leased!.event_id, others]).toEqual([first!.id, []]);
    expect(await store([third!, one.event()])).toEqual([]);
    await desk.report(leased!);
    expect((await desk.lease()).map(({ event_id }) => event_id)).toContain(second!.id);
    expect(await store([third!])).toEqual([]);
  });

  test('waits while an earlier delivery of its subject is leased', async () => {
    const one = await desk.endpoint();
    const subject = randomUUID();
    const [first, second] = [1, 2].map((sequence) => one.event({ subject, sequence, timestamp: now() + sequence }));
    expect((await store([first!])).map(({ event_id }) => event_id)).toEqual([first!.id]);
    expect(await store([second!])).toEqual([]);
  });

  test('waits neither for another subject nor for the retry of an earlier delivery', async () => {
    const one = await desk.endpoint();
    const [own, other] = [randomUUID(), randomUUID()];
    const [first] = await store([one.event({ subject: own, sequence: 1 })]);
    const [elsewhere, ...more] = await store([one.event({ subject: other, sequence: 2 })]);
    expect([elsewhere?.attempt, more]).toEqual([1, []]);
    await desk.report(first!, FAILURE);
    await desk.sql(`update webhook_queue set due_at = now() + interval '1 hour' where delivery_id = $1`, [first!.delivery_id]);
    const later = one.event({ subject: own, sequence: 2 });
    expect((await store([later])).map(({ event_id }) => event_id)).toEqual([later.id]);
  });

  test('stays within the limits of its endpoint, its company and the worker', async () => {
    const [one, busy, open, slow] = [await desk.endpoint(), await desk.endpoint(), await desk.endpoint(), await desk.endpoint()];
    await desk.sql('update webhook_endpoints set slowdowns = 1 where id = $1', [slow.id]);
    const events = [one, one, one, busy, busy, open, slow, slow].map((each) => each.event());
    const leased = await store(events, { cap: 2, without: [open.id], busy: [{ company_id: busy.company.id, max_deliveries: 1 }] });
    expect(leased.map(({ endpoint_id }) => endpoint_id).toSorted()).toEqual([one.id, one.id, busy.id, slow.id].toSorted());
    const [left, right] = [await desk.endpoint(), await desk.endpoint()];
    const few = await store(
      [left, left, left, right].map((each) => each.event()),
      { max: 2 },
    );
    expect(new Set(few.map(({ endpoint_id }) => endpoint_id))).toEqual(new Set([left.id, right.id]));
    const [also] = await store([right.event()], { cap: 1 });
    expect(also).toBeUndefined();
  });

  test('can use the slot of an accepted delivery before the attempt is stored, unless the endpoint is slowed down', async () => {
    const [one, slow] = [await desk.endpoint(), await desk.endpoint()];
    await desk.sql('update webhook_endpoints set slowdowns = 1 where id = $1', [slow.id]);
    const leased = await store(
      [one, one, slow].map((each) => each.event()),
      { cap: 2 },
    );
    const taken = leased.map(({ delivery_id }) => delivery_id);
    expect(taken).toHaveLength(3);
    const more = await store(
      [one, one, one, slow].map((each) => each.event()),
      { cap: 2, taken },
    );
    expect(more.map(({ endpoint_id }) => endpoint_id)).toEqual([one.id, one.id]);
    expect(await desk.lease({ cap: 2, taken })).toEqual([]);
    const [next, ...others] = await desk.lease({ cap: 2, taken: [...taken, more[0]!.delivery_id] });
    expect([next?.endpoint_id, others]).toEqual([one.id, []]);
  });

  test('is not leased while another worker leases, because workers share the slots of an endpoint', async () => {
    const one = await desk.endpoint();
    const session = await desk.session();
    try {
      await session.query({ text: `select pg_advisory_lock(hashtextextended('webhook lease in integrations', 0))` });
      expect(await store([one.event()])).toEqual([]);
    } finally {
      await session.close();
    }
    expect(await desk.lease()).toHaveLength(1);
  });
});
