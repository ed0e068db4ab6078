import type { LeasedDelivery } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { Pace } from '../src/queue/pace.ts';
import type { Worker } from '../src/queue/worker.ts';
import { harness, leased, reported, stored } from './support/worker.ts';

test('leases nothing after stop, and ends when the attempts in flight are reported', async () => {
  let finish: (status: number) => void = () => undefined;
  const begun: LeasedDelivery[] = [];
  let started: () => void = () => undefined;
  const sending = new Promise<void>((resolve) => (started = resolve));
  const { worker, batches, reports, leases } = harness({
    attempt: (delivery) => {
      begun.push(delivery);
      started();
      return new Promise((resolve) => (finish = (status) => resolve(reported(delivery, status))));
    },
  });
  batches.push([leased('one')]);
  await worker.start();
  await sending;
  const stopped = worker.stop();
  const before = leases();
  batches.push([leased('one')]);
  worker.wake();
  finish(200);
  await stopped;
  expect(reports.map(({ delivery_id: id }) => id)).toEqual([begun[0]!.delivery_id]);
  expect(begun).toHaveLength(1);
  expect(leases()).toBe(before);
});

/** Has the worker store one event, without waiting for slots. Resolves to the number of deliveries that may be leased with it. */
async function store(worker: Worker, ...deliveries: LeasedDelivery[]): Promise<number | undefined> {
  let offered: number | undefined;
  await worker.store({
    events: 1,
    waits: false,
    store: async (_, lease) => ((offered = lease?.max_deliveries), { pending: deliveries.length, deliveries }),
  });
  return offered;
}

/** Has the worker store events once there are slots. Resolves to the number stored at once. */
const storeWaiting = (worker: Worker, events: number) => worker.store({ events, waits: true, store: async (count) => ({ pending: count, deliveries: [] }) });

test('sends deliveries leased while storing at once, within the free slots, and not after stop', async () => {
  const leases: number[] = [];
  const finish: (() => void)[] = [];
  const { worker, reports } = harness({
    maxInFlight: 4,
    attempt: (delivery) => new Promise((resolve) => finish.push(() => resolve(reported(delivery, 200)))),
    lease: async ({ max_deliveries }) => {
      leases.push(max_deliveries);
      return { deliveries: [], next_due_at: null };
    },
  });
  await worker.start();
  // The calls run one at a time, so no slot is given twice.
  const offered = await Promise.all([
    store(worker, leased('one')),
    store(worker, leased('one'), leased('other')),
    store(worker, leased('other')),
    store(worker),
  ]);
  expect([offered, finish.length, leases]).toEqual([[4, 3, 1, undefined], 4, [4]]);
  finish.shift()!();
  expect(await storeWaiting(worker, 1)).toBe(1);
  const stopped = worker.stop();
  const before = leases.length;
  for (const each of finish) each();
  await stopped;
  expect(reports).toHaveLength(4);
  expect(await store(worker, leased('late'))).toBeUndefined();
  expect([leases.length, reports.length]).toEqual([before, 4]);
});

test('stores events that come before it starts or while it stops, without a lease', async () => {
  const { worker, reports } = harness({});
  const stored = store(worker, leased('one'));
  await worker.stop();
  expect([await stored, reports]).toEqual([undefined, []]);
});

test('sends nothing that is leased to it after it has begun to stop', async () => {
  const sent: string[] = [];
  const { worker } = harness({
    attempt: async (delivery) => {
      sent.push(delivery.delivery_id);
      return reported(delivery, 200);
    },
  });
  await worker.start();
  const deliveries = Promise.withResolvers<LeasedDelivery[]>();
  const begun = Promise.withResolvers<void>();
  const storing = worker.store({
    events: 1,
    waits: false,
    store: async () => (begun.resolve(), { pending: 1, deliveries: await deliveries.promise }),
  });
  await begun.promise;
  const stopped = worker.stop();
  deliveries.resolve([leased('one')]);
  await Promise.all([storing, stopped]);
  expect(sent).toEqual([]);
});

test('waits briefly for free slots, then stores as many events as can be sent, or all if no slot becomes free', async () => {
  const finish: (() => void)[] = [];
  const { worker } = harness({ maxInFlight: 4, attempt: (delivery) => new Promise((resolve) => finish.push(() => resolve(reported(delivery, 200)))) });
  await worker.start();
  const three = ['one', 'other', 'third'].map(leased);
  await worker.store({ events: 3, waits: false, store: async () => ({ pending: 3, deliveries: three }) });
  expect(await storeWaiting(worker, 1)).toBe(1);
  expect(await storeWaiting(worker, 7)).toBe(7);
  const waiting = storeWaiting(worker, 7);
  // Events that do not wait pass those that do.
  expect(await store(worker)).toBe(1);
  finish.shift()!();
  expect(await waiting).toBe(2);
  for (const each of finish) each();
  await worker.stop();
});

test('stores many events only after the deliveries that are due, unless those are very many', async () => {
  const due = Promise.withResolvers<LeasedDelivery[]>();
  const leasing = Promise.withResolvers<void>();
  let leases = 0;
  const { worker } = harness({
    maxInFlight: 400,
    lease: async () => {
      leases += 1;
      if (leases === 2) leasing.resolve();
      return { deliveries: leases === 2 ? await due.promise : [], next_due_at: null };
    },
  });
  await worker.start();
  const order: string[] = [];
  // Stores 100 events and 25 deliveries without a lease, which are due then.
  await worker.store({ events: 125, waits: false, store: async () => ({ pending: 125, deliveries: Array.from({ length: 100 }, () => leased('one')) }) });
  const stored = storeWaiting(worker, 150).then((count) => void order.push(`stored ${count}`));
  await leasing.promise;
  order.push('leased');
  due.resolve(Array.from({ length: 25 }, () => leased('other')));
  await stored;
  expect(order).toEqual(['leased', 'stored 150']);
  await worker.stop();
});

test('stores events, and sends what is leased with them, while deliveries that are due cannot be leased', async () => {
  const failed = Promise.withResolvers<void>();
  const { worker, reports } = harness({
    lease: async () => {
      failed.resolve();
      throw new Error('integrations is down');
    },
  });
  await worker.start();
  await failed.promise;
  expect(await store(worker, leased('one'))).toBe(4);
  expect(() => worker.check()).toThrow('no deliveries could be fetched');
  await worker.stop();
  expect(reports).toHaveLength(1);
});

test('rejects as storing does, and goes on', async () => {
  const { worker } = harness({});
  await worker.start();
  const refused = worker.store({ events: 1, waits: true, store: () => Promise.reject(new Error('refused')) });
  await expect(refused).rejects.toThrow('refused');
  expect(await storeWaiting(worker, 2)).toBe(2);
  await worker.stop();
});

test('frees a slot before the attempt is stored, while at most twice as many attempts as slots wait for that', async () => {
  const pending: (() => void)[] = [];
  const { worker } = harness({ maxInFlight: 1, report: () => new Promise((resolve) => pending.push(() => resolve(stored))) });
  await worker.start();
  /** Leases and sends one delivery. Resolves to the free slots before it and the number of attempts reported so far. */
  const sendOne = async () => {
    let free: number | undefined;
    await worker.store({
      events: 1,
      waits: false,
      async store(_, lease) {
        free = lease?.max_deliveries;
        return { pending: 1, deliveries: free === undefined ? [] : [leased('one')] };
      },
    });
    await new Promise((resolve) => setImmediate(resolve));
    return [free, pending.length];
  };
  expect([await sendOne(), await sendOne(), await sendOne()]).toEqual([
    [1, 1],
    [1, 2],
    [undefined, 2],
  ]);
  pending.shift()!();
  expect(await storeWaiting(worker, 1)).toBe(1);
  expect(await sendOne()).toEqual([1, 2]);
  for (const each of pending) each();
  await worker.stop();
});

test('lists deliveries that endpoints accepted and that are not stored yet, but no refused ones', async () => {
  const pending: (() => void)[] = [];
  const { worker } = harness({
    report: () => new Promise((resolve) => pending.push(() => resolve(stored))),
    attempt: async (delivery) => reported(delivery, delivery.endpoint_id === 'refuses' ? 410 : 204),
  });
  await worker.start();
  const [accepted, refused] = [leased('accepts'), leased('refuses')];
  const listed: unknown[] = [];
  const send = async (...deliveries: LeasedDelivery[]) => {
    await worker.store({
      events: 1,
      waits: false,
      async store(_, lease) {
        listed.push(lease?.taken_delivery_ids);
        return { pending: deliveries.length, deliveries };
      },
    });
    await new Promise((resolve) => setImmediate(resolve));
  };
  await send(accepted, refused);
  await send();
  for (const each of pending) each();
  await new Promise((resolve) => setImmediate(resolve));
  await send();
  expect(listed).toEqual([[], [accepted.delivery_id], []]);
  await worker.stop();
});

test('stores as many events as there are slots for their deliveries', () => {
  const pace = new Pace();
  expect([pace.fitting(90, 12), pace.fitting(5, 12), pace.fitting(90, 0), pace.deliveriesOf(90)]).toEqual([12, 5, 1, 90]);
  for (let round = 0; round < 40; round += 1) pace.stored(1, 2);
  expect([pace.fitting(90, 12), pace.deliveriesOf(90)]).toEqual([6, 180]);
  for (let round = 0; round < 40; round += 1) pace.stored(100, 0);
  expect([pace.fitting(90, 12), pace.deliveriesOf(90)]).toEqual([90, 2]);
});
