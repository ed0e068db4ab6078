// When the worker leases: on a fake clock, so that each lease has an exact time.
import type { LeaseRequest, LeasedDelivery, ReportResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { WorkerOptions } from '../src/queue/worker.ts';
import { harness, leased, reported, stored } from './support/worker.ts';

let random: () => number;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'], now: 0 });
  random = Math.random;
  // The backoff is exact.
  Math.random = () => 0.5;
});
afterEach(() => {
  Math.random = random;
  jest.useRealTimers();
});

type Answer = { deliveries?: LeasedDelivery[]; nextDueMs?: number } | Error;

/** A worker whose lease calls get these answers, one after another, and then nothing. `leases` are the times and requests of the calls. */
function leasing(answers: Answer[], options: Partial<WorkerOptions> = {}) {
  const leases: { at: number; request: LeaseRequest }[] = [];
  const made = harness({
    lease: async (request) => {
      leases.push({ at: Date.now(), request });
      const answer = answers.shift() ?? {};
      if (answer instanceof Error) throw answer;
      const { deliveries = [], nextDueMs } = answer;
      return { deliveries, next_due_at: nextDueMs === undefined ? null : nextDueMs * 1000 };
    },
    ...options,
  });
  const times = async (untilMs: number): Promise<number[]> => {
    await jest.advanceTimersByTimeAsync(untilMs - Date.now());
    return leases.map(({ at }) => at);
  };
  return { ...made, leases, times };
}

test.each([
  ['twice a second without notifications', false, {}, [0, 500, 1000]],
  ['every two seconds with notifications', true, {}, [0, 2000, 4000]],
  ['when the next delivery is due', true, { nextDueMs: 700 }, [0, 700, 2700]],
  ['at the poll interval if the next delivery is due later', true, { nextDueMs: 9000 }, [0, 2000, 4000]],
  ['20 ms later if the next delivery has been due for long', true, { nextDueMs: -5000 }, [0, 20, 2020]],
])('leases %s', async (_, subscribed, answer, expected) => {
  const { worker, times } = leasing([answer], { subscribed: () => subscribed });
  await worker.start();
  expect(await times(expected.at(-1)!)).toEqual(expected);
  await worker.stop();
});

test('leases again when a circuit ends, even if the next poll is later', async () => {
  const five = [1, 2, 3, 4, 5].map(() => leased('dead'));
  const { worker, leases, times } = leasing([{}, {}, { deliveries: five }], { subscribed: () => true, attempt: async (delivery) => reported(delivery, 503) });
  await worker.start();
  // The circuit opens at 4000 and ends at 9000.
  expect((await times(9999)).slice(2)).toEqual([4000, 6000, 8000, 9000]);
  expect(leases.slice(-2).map(({ request }) => request.excluded_endpoint_ids)).toEqual([['dead'], []]);
  await worker.stop();
});

test('leases again at once after a lease that returned the maximum', async () => {
  const deliveries = Array.from({ length: 200 }, () => leased('one'));
  const hanging = () => new Promise<never>(() => undefined);
  const { worker, leases, times } = leasing([{ deliveries }], { maxInFlight: 500, subscribed: () => true, attempt: hanging });
  await worker.start();
  expect(await times(0)).toEqual([0, 0]);
  expect(leases.map(({ request }) => request.max_deliveries)).toEqual([200, 200]);
  void worker.stop();
});

test('leases again as soon as a slot is free of a company that got as many deliveries as it may have', async () => {
  const company = 'limited';
  const ends: (() => void)[] = [];
  const deliveries = Array.from({ length: 5 }, () => ({ ...leased('one'), company_id: company }));
  const attempt = (delivery: LeasedDelivery) => new Promise<ReturnType<typeof reported>>((end) => ends.push(() => end(reported(delivery, 200))));
  const another = { ...leased('one'), company_id: company };
  const { worker, leases, times } = leasing([{ deliveries }, { deliveries: [another] }], { maxInFlight: 10, subscribed: () => true, attempt });
  await worker.start();
  expect(await times(0)).toEqual([0]);
  expect(leases[0]!.request).toMatchObject({ max_deliveries: 10, max_of_company: 5, busy_companies: [] });
  ends.shift()!();
  // Once when the exchange has ended, and once when its attempt is stored: the one delivery leased between was all that the company might have.
  expect(await times(0)).toEqual([0, 0, 0]);
  expect(leases[1]!.request).toMatchObject({ max_deliveries: 6, max_of_company: 3, busy_companies: [{ company_id: company, max_deliveries: 1 }] });
  for (const end of ends) end();
  await worker.stop();
});

test('does not lease for each freed slot while companies get fewer deliveries than they may have', async () => {
  const deliveries = Array.from({ length: 4 }, () => ({ ...leased('one'), company_id: 'small' }));
  const { worker, times } = leasing([{ deliveries }], { maxInFlight: 10, subscribed: () => true });
  await worker.start();
  expect(await times(1999)).toEqual([0]);
  await worker.stop();
});

test('leases again at once if a stored attempt leaves more due for its endpoint, and only then', async () => {
  let more_due = false;
  const report = async (): Promise<ReportResponse> => ({ ...stored, more_due });
  const { worker, times } = leasing([{ deliveries: [leased('one')] }, { deliveries: [leased('one')] }], { subscribed: () => true, report });
  await worker.start();
  expect(await times(1999)).toEqual([0]);
  more_due = true;
  expect(await times(2000)).toEqual([0, 2000, 2000]);
  await worker.stop();
});

test('leases at once if events that it stores leave deliveries due', async () => {
  const { worker, times } = leasing([], { subscribed: () => true });
  await worker.start();
  const store = (pending: number) => worker.store({ events: 1, waits: false, store: async () => ({ pending, deliveries: [leased('one')] }) });
  await times(100);
  await store(1);
  expect(await times(200)).toEqual([0]);
  await store(2);
  expect(await times(300)).toEqual([0, 200]);
  await worker.stop();
});

test('waits longer after each failure in a row, even if it is woken, and briefly again after a success', async () => {
  const down = () => new Error('integrations is down');
  const { worker, times } = leasing([down(), down(), down(), {}, down()], { subscribed: () => true });
  await worker.start();
  await times(50);
  worker.wake();
  expect(await times(99)).toEqual([0]);
  expect(() => worker.check()).toThrow('no deliveries could be fetched');
  expect(await times(700)).toEqual([0, 100, 300, 700]);
  expect(() => worker.check()).not.toThrow();
  expect((await times(2700)).slice(4)).toEqual([2700]);
  expect(() => worker.check()).toThrow('no deliveries could be fetched');
  expect((await times(2800)).slice(4)).toEqual([2700, 2800]);
  await worker.stop();
});

test('stops after 23 s although an attempt cannot be stored', async () => {
  let gaveUpAt: number | undefined;
  const report: WorkerOptions['report'] = (_, signal) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        gaveUpAt = Date.now();
        reject(signal.reason as Error);
      });
    });
  const { worker, times } = leasing([{ deliveries: [leased('one')] }], { report });
  await worker.start();
  await times(1000);
  let stopped = false;
  const stopping = worker.stop().then(() => (stopped = true));
  await times(23_999);
  expect([stopped, gaveUpAt]).toEqual([false, undefined]);
  await times(24_000);
  await stopping;
  expect(gaveUpAt).toBe(24_000);
});

test('tests a circuit again after an exchange that failed in an unexpected way', async () => {
  const sent: string[] = [];
  let fails: 'expectedly' | 'unexpectedly' = 'expectedly';
  const attempt = async (delivery: LeasedDelivery) => {
    sent.push(delivery.delivery_id);
    if (fails === 'unexpectedly') throw new Error('a fault of the dispatcher');
    return reported(delivery, 503);
  };
  const half = [leased('dead'), leased('dead')];
  const { worker, leases, times, reports, send } = leasing([{ deliveries: [1, 2, 3, 4, 5].map(() => leased('dead')) }], { attempt });
  await worker.start();
  await times(5000);
  fails = 'unexpectedly';
  await send(...half);
  await times(5000);
  // The second delivery waited for the first, and is not sent to an endpoint whose circuit is open again.
  expect(sent.slice(5)).toEqual([half[0]!.delivery_id]);
  expect(reports).toHaveLength(5);
  await times(14_999);
  expect(leases.at(-1)!.request.excluded_endpoint_ids).toEqual(['dead']);
  await times(15_000);
  expect(leases.at(-1)!.request.excluded_endpoint_ids).toEqual([]);
  await worker.stop();
});
