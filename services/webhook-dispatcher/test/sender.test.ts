import { randomUUID } from 'node:crypto';
import type { LeasedDelivery, ReportResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { createLog, createMetrics } from '@truckroll/telemetry';
import { samplesOf } from '@truckroll/testing';
import type { WorkerOptions } from '../src/queue/worker.ts';
import { harness, leased, reported, stored } from './support/worker.ts';

test('neither sends nor releases waiting deliveries when the exchange that tests their circuit fails', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    const sent: string[] = [];
    const { worker, batches } = harness({
      attempt: async (delivery) => {
        sent.push(delivery.delivery_id);
        return reported(delivery, 503);
      },
    });
    batches.push([1, 2, 3, 4, 5].map(() => leased('dead')));
    await worker.start();
    await jest.advanceTimersByTimeAsync(600);
    expect(sent).toHaveLength(5);
    await jest.advanceTimersByTimeAsync(5000);
    batches.push([1, 2, 3].map(() => leased('dead')));
    await jest.advanceTimersByTimeAsync(600);
    expect(sent).toHaveLength(6);
    await worker.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('sends a delivery that waited for a half-open circuit only if its lease lasts for more than 20 s', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    let status = 503;
    const sent: string[] = [];
    const attempt = async (delivery: LeasedDelivery) => (sent.push(delivery.delivery_id), reported(delivery, status));
    const { worker, batches } = harness({ attempt });
    const next = async (...deliveries: LeasedDelivery[]) => {
      batches.push(deliveries);
      worker.wake();
      await jest.advanceTimersByTimeAsync(0);
    };
    await worker.start();
    await next(...[1, 2, 3, 4, 5].map(() => leased('dead')));
    await jest.advanceTimersByTimeAsync(5000);
    status = 200;
    const expiring = (ms: number) => ({ ...leased('dead'), lease_expires_at: (Date.now() + ms) * 1000 });
    const [probe, early, late] = [leased('dead'), expiring(20_000), expiring(20_001)];
    sent.length = 0;
    await next(probe, early, late);
    expect(sent).toEqual([probe.delivery_id, late.delivery_id]);
    await worker.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('sends a probe despite an open circuit; its failure changes nothing, its success closes the circuit', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    let status = 503;
    const { worker, batches, reports } = harness({ attempt: async (delivery) => reported(delivery, status) });
    const next = async (...deliveries: LeasedDelivery[]) => {
      batches.push(deliveries);
      worker.wake();
      await jest.advanceTimersByTimeAsync(0);
      return reports.at(-1)?.circuit_open_until;
    };
    await worker.start();
    const until = await next(...[1, 2, 3, 4, 5].map(() => leased('dead')));
    expect(until).toBe((Date.now() + 5000) * 1000);
    for (let times = 0; times < 7; times += 1) expect(await next({ ...leased('dead'), probe: true })).toBe(until);
    // The circuit is tested at its original time, and then stays open twice as long, not longer.
    await jest.advanceTimersByTimeAsync(5000);
    expect(await next({ ...leased('dead'), probe: true })).toBeNull();
    expect(await next(leased('dead'))).toBe((Date.now() + 10_000) * 1000);
    status = 200;
    expect(await next({ ...leased('dead'), probe: true })).toBe(0);
    expect(await next(leased('dead'), leased('dead'))).toBe(0);
    expect(reports).toHaveLength(17);
    await worker.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('asks for deliveries of an endpoint again, and sends those that wait, when its owner has enabled or changed it', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    let [sent, hangs, excluded] = [0, false, ['']];
    const attempt = async (delivery: LeasedDelivery) => ((sent += 1), hangs ? new Promise<never>(() => undefined) : reported(delivery, 503));
    const batches: LeasedDelivery[][] = [];
    const lease: WorkerOptions['lease'] = async (asked) => ((excluded = asked.excluded_endpoint_ids), { deliveries: batches.shift() ?? [], next_due_at: null });
    const { worker } = harness({ attempt, lease });
    const next = async (restarted: string[], ...deliveries: LeasedDelivery[]) => {
      batches.push(deliveries);
      worker.wake(restarted);
      await jest.advanceTimersByTimeAsync(0);
      return excluded;
    };
    await worker.start();
    for (let round = 0; round < 2; round += 1) {
      await next([], ...[1, 2, 3, 4, 5].map(() => leased('dead')));
      expect([await next([]), await next(['other'])]).toEqual([['dead'], ['dead']]);
      if (round === 0) expect(await next(['dead'])).toEqual([]);
    }
    // The circuit is half-open now, and the exchange that tests it hangs.
    hangs = true;
    await jest.advanceTimersByTimeAsync(5000);
    await next([], leased('dead'), leased('dead'));
    expect(sent).toBe(11);
    await next(['dead']);
    expect(sent).toBe(12);
    void worker.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('reports nothing for a delivery that found no connection, and frees its slot', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    let free: number | undefined;
    let status: number | undefined = 503;
    const { worker, batches, reports } = harness({ attempt: async (delivery) => (status === undefined ? undefined : reported(delivery, status)) });
    const next = async (...deliveries: LeasedDelivery[]) => {
      batches.push(deliveries);
      worker.wake();
      await jest.advanceTimersByTimeAsync(0);
      return reports.length;
    };
    await worker.start();
    expect(await next(...[1, 2, 3, 4].map(() => leased('one')))).toBe(4);
    status = undefined;
    expect(await next(leased('one'), leased('one'))).toBe(4);
    status = 503;
    expect(await next(leased('one'))).toBe(5);
    expect(reports.at(-1)!.circuit_open_until).toBe((Date.now() + 5000) * 1000);
    // This delivery should have tested the half-open circuit; the next one does.
    await jest.advanceTimersByTimeAsync(5000);
    status = undefined;
    expect(await next(leased('one'))).toBe(5);
    status = 200;
    expect(await next(leased('one'))).toBe(6);
    await worker.store({ events: 3, waits: false, store: async (_, lease) => ((free = lease?.max_deliveries), { pending: 0, deliveries: [] }) });
    expect(free).toBe(10);
    await worker.stop();
  } finally {
    jest.useRealTimers();
  }
});

/** The samples of a metric, as labels and value without the component. */
const samples = async (...of: Parameters<typeof samplesOf>) => (await samplesOf(...of)).map((sample) => sample.replace(/,?component="\w+",?/, ''));

test('counts exchanges by result, those in flight, and open circuits', async () => {
  const metrics = createMetrics('test');
  const ends: (() => void)[] = [];
  const statuses = [503, 503, 503, 503, 200, 503];
  const attempt = (delivery: LeasedDelivery) =>
    new Promise<ReturnType<typeof reported>>((end) => {
      const status = statuses.shift()!;
      ends.push(() => end(reported(delivery, status)));
    });
  const { worker, send } = harness({ metrics, attempt });
  const gauges = async () => [...(await samples(metrics, 'webhook_in_flight')), ...(await samples(metrics, 'webhook_circuits_open'))];
  await worker.start();
  await send(...['dead', 'dead', 'dead', 'dead', 'well', 'dead'].map(leased));
  expect(await gauges()).toEqual([' 6', ' 0']);
  for (const end of ends.slice(0, 5)) end();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await gauges()).toEqual([' 1', ' 0']);
  ends[5]!();
  await worker.stop();
  expect(await gauges()).toEqual([' 0', ' 1']);
  expect(await samples(metrics, 'webhook_attempt_duration_seconds_count')).toEqual(['result="5xx" 5', 'result="2xx" 1']);
});

test('counts no circuit as open that is half-open while an exchange tests it', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    const metrics = createMetrics('test');
    let answers = true;
    const attempt = async (delivery: LeasedDelivery) => (answers ? reported(delivery, 503) : new Promise<never>(() => undefined));
    const { worker, batches } = harness({ metrics, attempt });
    const next = async (...deliveries: LeasedDelivery[]) => {
      batches.push(deliveries);
      worker.wake();
      await jest.advanceTimersByTimeAsync(0);
      return [...(await samples(metrics, 'webhook_in_flight')), ...(await samples(metrics, 'webhook_circuits_open'))];
    };
    await worker.start();
    expect(await next(...[1, 2, 3, 4, 5].map(() => leased('dead')))).toEqual([' 0', ' 1']);
    await jest.advanceTimersByTimeAsync(5000);
    answers = false;
    expect(await next(leased('dead'))).toEqual([' 1', ' 0']);
    void worker.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('logs that a circuit is open when it opens, not for each failure while it is open', async () => {
  const opened: unknown[] = [];
  const log = createLog('trial', 'warn', { write: (line) => void opened.push((JSON.parse(line) as { msg: unknown }).msg) });
  const { worker, send } = harness({ log, attempt: async (delivery) => reported(delivery, 503) });
  await worker.start();
  await send(...[1, 2, 3, 4, 5].map(() => leased('dead')));
  await new Promise((resolve) => setImmediate(resolve));
  expect(opened).toEqual(['webhook endpoint failing: circuit open']);
  // A line about the same endpoint may be repeated after a minute.
  const later = performance.now() + 60_000;
  const elapsed = jest.spyOn(performance, 'now').mockImplementation(() => later);
  try {
    await send({ ...leased('dead'), probe: true });
    await worker.stop();
  } finally {
    elapsed.mockRestore();
  }
  expect(opened).toHaveLength(1);
});

test('logs, under the request of each delivery, a circuit that opens, an endpoint that was disabled, a lost lease and a missing report', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('trial', 'warn', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const answers: (ReportResponse | Error)[] = [stored, { ...stored, endpoint_disabled: true }, { ...stored, lease_lost: true }, new Error('refused'), stored];
  const report = async () => {
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const { worker, send } = harness({ log, report, attempt: async (delivery) => reported(delivery, 503) });
  await worker.start();
  const deliveries = [1, 2, 3, 4, 5].map(() => ({ ...leased('dead'), request_id: randomUUID() }));
  await send(...deliveries);
  await worker.stop();
  const ids = deliveries.map(({ delivery_id }) => delivery_id);
  expect(
    lines.map(({ level, msg, requestId, delivery, endpoint }) => [
      level,
      msg,
      deliveries.findIndex(({ request_id: id }) => id === requestId),
      delivery ?? endpoint,
    ]),
  ).toEqual([
    ['warn', 'webhook endpoint failing: circuit open', 4, 'dead'],
    ['warn', 'a webhook endpoint was disabled', 1, 'dead'],
    ['warn', 'a lease ended before its attempt was reported', 2, ids[2]],
    ['error', 'an attempt was not reported; its delivery will be due again', 3, ids[3]],
  ]);
});
