// Each test fails without its lock, or with another order of locks.
import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import type { DeadLetter, LeasedDelivery } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { holdingLocks, type LockHolder } from '@truckroll/testing';
import { DAY, FAILURE, SECOND, reportOf, startDesk } from './webhooks.ts';

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

const holding = <T>(work: (holder: LockHolder) => Promise<T>): Promise<T> => holdingLocks({ url: desk.database.url, schema: 'integrations' }, work);

/** Rows of the table can be locked and not changed. */
const freeze = (holder: LockHolder, table: string): Promise<unknown> => holder.run(`lock table ${table} in share mode`);

async function twoEndpoints(): Promise<[Endpoint, string, string]> {
  const one = await desk.endpoint();
  const { data } = await desk.webhooks.createWebhook({
    caller: one.caller,
    name: 'Other',
    url: 'https://example.com/hook',
    event_types: ['service_request.created'],
  });
  const [low, high] = [one.id, data!.id].toSorted() as [string, string];
  return [one, low, high];
}

async function leasedOfTwoDays(): Promise<{ one: Endpoint; leased: LeasedDelivery[] }> {
  const one = await desk.endpoint();
  await desk.fanOut(one.event({ timestamp: now() - DAY }), one.event(), one.event());
  const leased = (await desk.lease()).toSorted((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1));
  return { one, leased };
}

describe('leases', () => {
  test('are given to one worker at a time, so that all workers together stay within the limit of an endpoint', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event(), one.event());
    const leases = await holding(async (holder) => {
      await holder.run('select from webhook_queue where endpoint_id = $1 for update', [one.id]);
      const first = desk.lease({ cap: 1, worker: 'first' });
      await holder.waiting(1, first);
      const second = desk.lease({ cap: 1, worker: 'second' });
      await holder.waiting(2, second);
      await holder.rollback();
      return Promise.all([first, second]);
    });
    expect(leases.map((leased) => leased.length)).toEqual([1, 0]);
  });

  test('that have expired are skipped while a report settles them', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event());
    const [delivery] = await desk.lease();
    await one.update({ enabled: false });
    await desk.sql('update webhook_queue set leased_until = now()');
    await holding(async (holder) => {
      await holder.run(`update webhook_deliveries set state = 'SUCCEEDED' where id = $1`, [delivery!.delivery_id]);
      await holder.run('delete from webhook_queue where delivery_id = $1', [delivery!.delivery_id]);
      const leasing = desk.lease();
      expect(await holder.waiting(1, leasing)).toBe(false);
      await holder.commit();
      expect(await leasing).toEqual([]);
    });
    expect(await one.deliveries()).toMatchObject([{ status: 'DELIVERY_STATUS_SUCCEEDED' }]);
  });

  test('end at once for deliveries that are too large for the answer', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event(), one.event(), one.event());
    await desk.sql(`update webhook_events set body = decode(repeat('00', 3000000), 'hex') where company_id = $1`, [one.company.id]);
    expect([(await desk.lease()).length, (await desk.lease()).length]).toEqual([2, 1]);
  });

  test('are ended for silent workers by one call at a time', async () => {
    await holding(async (holder) => {
      await holder.run(`select pg_advisory_xact_lock(hashtextextended('webhook workers in integrations', 0))`);
      const renewed = desk.deliveries.renew({ worker_id: 'leaver', leaving: true });
      await holder.waiting(1, renewed);
      // The call has not looked at it yet.
      await holder.run(`insert into webhook_workers (id, seen_at) values ('silent', now() - interval '5 seconds'), ('other', now())`);
      await holder.commit();
      await renewed;
    });
    expect(await desk.sql('select id from webhook_workers order by id')).toEqual([{ id: 'other' }]);
    await desk.sql('delete from webhook_workers');
  });
});

describe('fan-out', () => {
  test('queues nothing for an endpoint that a user is disabling', async () => {
    const one = await desk.endpoint();
    const stored = await holding(async (holder) => {
      await holder.run('update webhook_endpoints set enabled = false where id = $1', [one.id]);
      const storing = desk.fanOut(one.event());
      await holder.waiting(1, storing);
      await holder.commit();
      return storing;
    });
    expect(stored).toMatchObject({ pending: 0, skipped: 1 });
  });

  test('locks endpoints in the order of their ids', async () => {
    const [one, low, high] = await twoEndpoints();
    await holding(async (holder) => {
      await holder.run('select from webhook_endpoints where id = $1 for update', [low]);
      const storing = desk.fanOut(one.event());
      await holder.waiting(1, storing);
      expect(await holder.isFree('webhook_endpoints', high)).toBe(true);
      await holder.rollback();
      expect(await storing).toMatchObject({ pending: 2 });
    });
  });

  test('stores dead letters in the order of their numbers, so that a reader misses none', async () => {
    const letter = (offset: number): DeadLetter => ({
      id: 0,
      topic: 'truckroll.scheduling.service-requests',
      partition: 0,
      log_offset: String(offset),
      event_id: randomUUID(),
      type: 'service_request.reopened',
      source: '/truckroll/scheduling',
      company_id: randomUUID(),
      key: '',
      time: now(),
      sequence: 1,
      version: 1,
      payload: null,
      reason: 'unknown',
      request_id: null,
      traceparent: null,
    });
    const read = async (after = 0) => (await desk.deliveries.readDeadLetters({ after })).letters;
    await holding(async (holder) => {
      // The first call has a number for its first letter when it waits with its second.
      await holder.run(`insert into parked_event (consumer, topic, partition, log_offset, headers, reason)
        values ('webhook-dispatcher', 'truckroll.scheduling.service-requests', 0, 2, '{}', '')`);
      const first = desk.deliveries.setAside({ letters: [letter(1), letter(2)] });
      await holder.waiting(1, first);
      const second = desk.deliveries.setAside({ letters: [letter(3)] });
      await holder.waiting(2, second);
      const seen = await read();
      await holder.rollback();
      await Promise.all([first, second]);
      const later = await read(seen.at(-1)?.id);
      expect([...seen, ...later].map(({ log_offset }) => log_offset)).toEqual(['1', '2', '3']);
    });
    await desk.sql('delete from parked_event');
  });
});

describe('reports', () => {
  test('of one delivery are numbered one after the other', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event());
    const [late] = await desk.lease();
    await desk.sql('update webhook_queue set leased_until = now()');
    const [current] = await desk.lease();
    await holding(async (holder) => {
      await freeze(holder, 'webhook_attempts');
      const first = desk.report(late!, FAILURE);
      await holder.waiting(1, first);
      const second = desk.report(current!, FAILURE);
      await holder.waiting(2, second);
      await holder.rollback();
      await Promise.all([first, second]);
    });
    expect((await one.deliveries())[0]!.attempts.map(({ number }) => number)).toEqual([1, 2]);
  });

  test.each([0, 1])('lock deliveries in the order of their ids, days included (the one at %i is held)', async (held) => {
    const { leased } = await leasedOfTwoDays();
    const ids = leased.map(({ delivery_id }) => delivery_id);
    await holding(async (holder) => {
      await holder.run('select from webhook_deliveries where id = $1 for update', [ids[held]]);
      const reported = desk.deliveries.reportAll({ attempts: leased.toReversed().map((delivery) => reportOf(delivery)) });
      await holder.waiting(1, reported);
      const later = [];
      for (const id of ids.slice(held + 1)) later.push(await holder.isFree('webhook_deliveries', id));
      await holder.rollback();
      await reported;
      expect(later).toEqual(later.map(() => true));
      expect(later).toHaveLength(2 - held);
    });
  });

  test('that disable an endpoint at once send one e-mail to its creator', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event(), one.event());
    const leased = await desk.lease();
    await desk.sql(`update webhook_endpoints set failing_since = now() - interval '6 days' where id = $1`, [one.id]);
    await holding(async (holder) => {
      await freeze(holder, 'webhook_endpoints');
      const reports = leased.map((delivery) => desk.report(delivery, FAILURE));
      await holder.waiting(2, ...reports);
      await holder.rollback();
      await Promise.all(reports);
    });
    expect(await one.read()).toMatchObject({ enabled: false, disabled_reason: 'DISABLED_REASON_FAILING' });
    expect(await desk.sql('select from mails where company_id = $1', [one.company.id])).toHaveLength(1);
  });

  test('of first failures at once keep the earliest time of failure', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event(), one.event());
    const [earlier, later] = await desk.lease();
    const at = now() - 10 * SECOND;
    await holding(async (holder) => {
      await holder.run('select from webhook_endpoints where id = $1 for no key update', [one.id]);
      const first = desk.report(earlier!, { ...FAILURE, started_at: at });
      await holder.waiting(1, first);
      const second = desk.report(later!, { ...FAILURE, started_at: at + SECOND });
      await holder.waiting(2, second);
      await holder.rollback();
      await Promise.all([first, second]);
    });
    expect(await desk.sql('select failing_since as since from webhook_endpoints where id = $1', [one.id])).toEqual([{ since: at }]);
  });
});

describe('a redelivery', () => {
  const redeliver = ({ caller, id: webhook_id }: Endpoint, delivery_ids: string[], { log }: Pick<typeof desk, 'log'> = desk) =>
    log.redeliverWebhooks({ caller, webhook_id, delivery_ids });

  test('locks deliveries in the order of their ids, then their endpoint', async () => {
    const { one, leased } = await leasedOfTwoDays();
    const ids = leased.map(({ delivery_id }) => delivery_id);
    await holding(async (holder) => {
      await holder.run('select from webhook_deliveries where id = $1 for update', [ids[0]]);
      const asked = redeliver(one, ids.toReversed());
      await holder.waiting(1, asked);
      const free = [await holder.isFree('webhook_deliveries', ids[2]), await holder.isFree('webhook_endpoints', one.id)];
      await holder.rollback();
      await asked;
      expect(free).toEqual([true, true]);
    });
  });

  test('counts a redelivery that another replica queues at the same time', async () => {
    const replica = await desk.replica();
    const { one, leased } = await leasedOfTwoDays();
    const id = leased[0]!.delivery_id;
    await desk.sql('update webhook_deliveries set redeliveries = 19 where id = $1', [id]);
    const answers = await holding(async (holder) => {
      await freeze(holder, 'webhook_deliveries');
      const first = redeliver(one, [id]);
      await holder.waiting(1, first);
      const second = redeliver(one, [id], replica);
      await holder.waiting(2, second);
      await holder.rollback();
      return Promise.all([first, second]);
    });
    await replica.stop();
    expect(answers.map(({ data }) => data[0]!.queued)).toEqual([true, false]);
  });
});

describe('an endpoint that is being deleted', () => {
  const calls: Record<string, (one: Endpoint, delivery: string) => Promise<unknown>> = {
    'a change': (one) => one.update({ enabled: false }),
    'a rotation of its secret': ({ caller, id }) => desk.webhooks.rotateWebhookSecret({ caller, id }),
    'a test': ({ caller, id }) => desk.webhooks.testWebhook({ caller, id }),
    'a recovery': ({ caller, id }) => desk.webhooks.recoverWebhook({ caller, id, since: now() - SECOND }),
    'a redelivery': ({ caller, id }, delivery) => desk.log.redeliverWebhook({ caller, webhook_id: id, id: delivery }),
    'another deletion': ({ caller, id }) => desk.webhooks.deleteWebhook({ caller, id }),
  };

  test.each(Object.keys(calls))('answers 404 to %s that waited for the deletion', async (name) => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event());
    const [delivery] = await desk.lease();
    const [outcome] = await holding(async (holder) => {
      await holder.run('update webhook_endpoints set deleted_at = now(), enabled = false where id = $1', [one.id]);
      const call = calls[name]!(one, delivery!.delivery_id);
      await holder.waiting(1, call);
      await holder.commit();
      return Promise.allSettled([call]);
    });
    expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 404 } });
  });
});
