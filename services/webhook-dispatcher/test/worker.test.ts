import { randomUUID } from 'node:crypto';
import type { LeasedDelivery, ReportRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { Pace } from '../src/events/pace.ts';
import { Worker, type WorkerOptions } from '../src/queue/worker.ts';

/** ES modules find `jest` here; it is a global only in scripts. */
const clock = (import.meta as unknown as { jest: typeof jest }).jest;

const lent = (endpointId: string): LeasedDelivery => ({
  delivery_id: randomUUID(),
  lease_token: randomUUID(),
  lease_expires_at: (Date.now() + 60_000) * 1000,
  company_id: randomUUID(),
  endpoint_id: endpointId,
  url: 'https://receiver.test/',
  secrets: [],
  event_id: randomUUID(),
  event_type: 'x',
  body: Buffer.alloc(0),
  attempt: 1,
  probe: false,
  headers: [],
});
const reported = (delivery: LeasedDelivery, status: number) =>
  ({ delivery_id: delivery.delivery_id, response_status: status, error: 'ATTEMPT_ERROR_UNSPECIFIED' }) as ReportRequest;
const stored = {
  status: 'DELIVERY_STATUS_SUCCEEDED',
  next_attempt_at: null,
  endpoint_disabled: false,
  lease_lost: false,
  more_due: false,
  unknown: false,
} as const;

/** A worker whose lease calls return the batches given by the test, one after another. */
function harness(options: Partial<WorkerOptions>) {
  const batches: LeasedDelivery[][] = [];
  const reports: ReportRequest[] = [];
  let leases = 0;
  const worker = new Worker({
    workerId: 'test',
    maxInFlight: 10,
    maxInFlightPerEndpoint: 10,
    hears: () => false,
    log: silentLog,
    metrics: createMetrics('test'),
    lease: async () => {
      leases += 1;
      return { deliveries: batches.shift() ?? [], next_due_at: null };
    },
    report: async (report) => {
      reports.push(report);
      return stored;
    },
    attempt: async (delivery) => reported(delivery, 200),
    ...options,
  });
  return { worker, batches, reports, leases: () => leases };
}

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
  batches.push([lent('one')]);
  await worker.start();
  await sending;
  const stopped = worker.stop();
  const before = leases();
  batches.push([lent('one')]);
  worker.notify();
  finish(200);
  await stopped;
  expect(reports.map(({ delivery_id: id }) => id)).toEqual([begun[0]!.delivery_id]);
  expect(begun).toHaveLength(1);
  expect(leases()).toBe(before);
});

test('sends deliveries leased while storing at once, within the free slots, and not after stop', async () => {
  const asked: (number | undefined)[] = [];
  const finish: (() => void)[] = [];
  const { worker, reports } = harness({
    maxInFlight: 4,
    attempt: (delivery) => new Promise((resolve) => finish.push(() => resolve(reported(delivery, 200)))),
    lease: async ({ max_deliveries }) => {
      asked.push(max_deliveries);
      return { deliveries: [], next_due_at: null };
    },
  });
  const borrow = (...deliveries: LeasedDelivery[]) =>
    worker.borrow(3, async (lease) => {
      asked.push(lease?.max_deliveries);
      return deliveries;
    });
  // The calls run one at a time, so no slot is given twice.
  await Promise.all([borrow(lent('one')), borrow(lent('one'), lent('other')), borrow(lent('other')), borrow()]);
  expect([asked.splice(0), finish.length]).toEqual([[3, 3, 1, undefined], 4]);
  finish.shift()!();
  expect(await worker.spare(1)).toBe(1);
  await worker.start();
  const stopped = worker.stop();
  for (const each of finish) each();
  await stopped;
  expect([asked.splice(0), reports.length]).toEqual([[1], 4]);
  await borrow(lent('late'));
  expect([asked, reports.length]).toEqual([[undefined], 4]);
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
  const leased = Promise.withResolvers<LeasedDelivery[]>();
  const begun = Promise.withResolvers<void>();
  const borrowing = worker.borrow(10, () => {
    begun.resolve();
    return leased.promise;
  });
  await begun.promise;
  const stopped = worker.stop();
  leased.resolve([lent('one')]);
  await Promise.all([borrowing, stopped]);
  expect(sent).toEqual([]);
});

test('waits briefly for free slots, then stores as many events as can be sent, or all if no slot becomes free', async () => {
  const finish: (() => void)[] = [];
  const { worker } = harness({ maxInFlight: 4, attempt: (delivery) => new Promise((resolve) => finish.push(() => resolve(reported(delivery, 200)))) });
  const pace = new Pace((wanted) => worker.spare(wanted));
  await worker.borrow(4, async () => ['one', 'other', 'third'].map(lent));
  expect(await pace.next(1)).toBe(1);
  expect(await pace.next(7)).toBe(7);
  const waiting = pace.next(7);
  finish.shift()!();
  expect(await waiting).toBe(2);
  for (const each of finish) each();
  await worker.stop();
});

test('frees a slot before the attempt is stored, while at most twice as many attempts as slots wait for that', async () => {
  const store: (() => void)[] = [];
  const { worker } = harness({ maxInFlight: 1, report: () => new Promise((resolve) => store.push(() => resolve(stored))) });
  /** Leases and sends one delivery. Resolves to the free slots before it and the number of attempts reported so far. */
  const borrow = async () => {
    let room: number | undefined;
    await worker.borrow(4, async (lease) => {
      room = lease?.max_deliveries;
      return room === undefined ? [] : [lent('one')];
    });
    await new Promise((resolve) => setImmediate(resolve));
    return [room, store.length];
  };
  expect([await borrow(), await borrow(), await borrow()]).toEqual([
    [1, 1],
    [1, 2],
    [undefined, 2],
  ]);
  store.shift()!();
  expect(await worker.spare(1)).toBe(1);
  expect(await borrow()).toEqual([1, 2]);
  for (const each of store) each();
  await worker.stop();
});

test('lists deliveries that endpoints accepted and that are not stored yet, but no refused ones', async () => {
  const store: (() => void)[] = [];
  const { worker } = harness({
    report: () => new Promise((resolve) => store.push(() => resolve(stored))),
    attempt: async (delivery) => reported(delivery, delivery.endpoint_id === 'refuses' ? 410 : 204),
  });
  const [taken, refused] = [lent('takes'), lent('refuses')];
  const told: unknown[] = [];
  const borrow = async (...deliveries: LeasedDelivery[]) => {
    await worker.borrow(4, async (lease) => {
      told.push(lease?.taken_delivery_ids);
      return deliveries;
    });
    await new Promise((resolve) => setImmediate(resolve));
  };
  await borrow(taken, refused);
  await borrow();
  for (const each of store) each();
  await new Promise((resolve) => setImmediate(resolve));
  await borrow();
  expect(told).toEqual([[], [taken.delivery_id], []]);
  await worker.stop();
});

test('stores as many events as there are slots for their deliveries', async () => {
  const pace = new Pace(async (wanted) => Math.min(wanted, 12));
  expect(await pace.next(90)).toBe(12);
  for (let round = 0; round < 40; round += 1) pace.stored(1, 2);
  expect(await pace.next(90)).toBe(6);
  for (let round = 0; round < 40; round += 1) pace.stored(100, 0);
  expect(await pace.next(90)).toBe(90);
});

test('neither sends nor releases waiting deliveries when the exchange that tests their circuit fails', async () => {
  clock.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    const sent: string[] = [];
    const { worker, batches } = harness({
      attempt: async (delivery) => {
        sent.push(delivery.delivery_id);
        return reported(delivery, 503);
      },
    });
    batches.push([1, 2, 3, 4, 5].map(() => lent('dead')));
    await worker.start();
    await clock.advanceTimersByTimeAsync(600);
    expect(sent).toHaveLength(5);
    await clock.advanceTimersByTimeAsync(5000);
    batches.push([1, 2, 3].map(() => lent('dead')));
    await clock.advanceTimersByTimeAsync(600);
    expect(sent).toHaveLength(6);
    await worker.stop();
  } finally {
    clock.useRealTimers();
  }
});

test('sends a delivery that waited for a half-open circuit only if its lease lasts for more than 20 s', async () => {
  clock.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    let status = 503;
    const sent: string[] = [];
    const attempt = async (delivery: LeasedDelivery) => (sent.push(delivery.delivery_id), reported(delivery, status));
    const { worker, batches } = harness({ attempt });
    const next = async (...deliveries: LeasedDelivery[]) => {
      batches.push(deliveries);
      worker.notify();
      await clock.advanceTimersByTimeAsync(0);
    };
    await worker.start();
    await next(...[1, 2, 3, 4, 5].map(() => lent('dead')));
    await clock.advanceTimersByTimeAsync(5000);
    status = 200;
    const expiring = (ms: number) => ({ ...lent('dead'), lease_expires_at: (Date.now() + ms) * 1000 });
    const [probe, early, late] = [lent('dead'), expiring(20_000), expiring(20_001)];
    sent.length = 0;
    await next(probe, early, late);
    expect(sent).toEqual([probe.delivery_id, late.delivery_id]);
    await worker.stop();
  } finally {
    clock.useRealTimers();
  }
});

test('sends a probe despite an open circuit; its failure changes nothing, its success closes the circuit', async () => {
  clock.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    let status = 503;
    const { worker, batches, reports } = harness({ attempt: async (delivery) => reported(delivery, status) });
    const next = async (...deliveries: LeasedDelivery[]) => {
      batches.push(deliveries);
      worker.notify();
      await clock.advanceTimersByTimeAsync(0);
      return reports.at(-1)?.circuit_open_until;
    };
    await worker.start();
    const until = await next(...[1, 2, 3, 4, 5].map(() => lent('dead')));
    expect(until).toBe((Date.now() + 5000) * 1000);
    for (let asked = 0; asked < 7; asked += 1) expect(await next({ ...lent('dead'), probe: true })).toBe(until);
    // The circuit is tested at its original time, and then stays open twice as long, not longer.
    await clock.advanceTimersByTimeAsync(5000);
    expect(await next({ ...lent('dead'), probe: true })).toBeNull();
    expect(await next(lent('dead'))).toBe((Date.now() + 10_000) * 1000);
    status = 200;
    expect(await next({ ...lent('dead'), probe: true })).toBe(0);
    expect(await next(lent('dead'), lent('dead'))).toBe(0);
    expect(reports).toHaveLength(17);
    await worker.stop();
  } finally {
    clock.useRealTimers();
  }
});

test('asks for deliveries of an endpoint again, and sends those that wait, when its owner has enabled or changed it', async () => {
  clock.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    let [sent, hangs, excluded] = [0, false, ['']];
    const attempt = async (delivery: LeasedDelivery) => ((sent += 1), hangs ? new Promise<never>(() => undefined) : reported(delivery, 503));
    const batches: LeasedDelivery[][] = [];
    const lease: WorkerOptions['lease'] = async (asked) => ((excluded = asked.excluded_endpoint_ids), { deliveries: batches.shift() ?? [], next_due_at: null });
    const { worker } = harness({ attempt, lease });
    const next = async (restarted: string[], ...deliveries: LeasedDelivery[]) => {
      batches.push(deliveries);
      worker.notify(restarted);
      await clock.advanceTimersByTimeAsync(0);
      return excluded;
    };
    await worker.start();
    for (let round = 0; round < 2; round += 1) {
      await next([], ...[1, 2, 3, 4, 5].map(() => lent('dead')));
      expect([await next([]), await next(['other'])]).toEqual([['dead'], ['dead']]);
      if (round === 0) expect(await next(['dead'])).toEqual([]);
    }
    // The circuit is half-open now, and the exchange that tests it hangs.
    hangs = true;
    await clock.advanceTimersByTimeAsync(5000);
    await next([], lent('dead'), lent('dead'));
    expect(sent).toBe(11);
    await next(['dead']);
    expect(sent).toBe(12);
    void worker.stop();
  } finally {
    clock.useRealTimers();
  }
});

test('reports nothing for a delivery that found no connection, and frees its slot', async () => {
  clock.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    let status: number | undefined = 503;
    const { worker, batches, reports } = harness({ attempt: async (delivery) => (status === undefined ? undefined : reported(delivery, status)) });
    const next = async (...deliveries: LeasedDelivery[]) => {
      batches.push(deliveries);
      worker.notify();
      await clock.advanceTimersByTimeAsync(0);
      return reports.length;
    };
    await worker.start();
    expect(await next(...[1, 2, 3, 4].map(() => lent('one')))).toBe(4);
    status = undefined;
    expect(await next(lent('one'), lent('one'))).toBe(4);
    status = 503;
    expect(await next(lent('one'))).toBe(5);
    expect(reports.at(-1)!.circuit_open_until).toBe((Date.now() + 5000) * 1000);
    // This delivery should have tested the half-open circuit; the next one does.
    await clock.advanceTimersByTimeAsync(5000);
    status = undefined;
    expect(await next(lent('one'))).toBe(5);
    status = 200;
    expect(await next(lent('one'))).toBe(6);
    expect(await worker.spare(1)).toBe(10);
    await worker.stop();
  } finally {
    clock.useRealTimers();
  }
});
