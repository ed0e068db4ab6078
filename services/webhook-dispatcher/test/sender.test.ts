import { randomUUID } from 'node:crypto';
import type { LeasedDelivery, ReportResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { createLog, createMetrics } from '@truckroll/telemetry';
import { samplesOf } from '@truckroll/testing';
import type { WorkerOptions } from '../src/queue/worker.ts';
import { harness, leased, reported, stored } from './support/worker.ts';

/** The samples of a metric, as labels and value without the component. */
const samples = async (...of: Parameters<typeof samplesOf>) => (await samplesOf(...of)).map((sample) => sample.replace(/,?component="\w+",?/, ''));
/** Exchanges in flight, and open circuits. */
const gaugesOf = async (metrics: Parameters<typeof samplesOf>[0]) => [
  ...(await samples(metrics, 'webhook_in_flight')),
  ...(await samples(metrics, 'webhook_circuits_open')),
];

describe('on a fake clock', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] }));
  afterEach(() => void jest.useRealTimers());

  const five = () => [1, 2, 3, 4, 5].map(() => leased('dead'));

  /** A worker that has begun. `next` makes it lease these deliveries at once. */
  async function begun(options: Partial<WorkerOptions>) {
    const { worker, batches, reports } = harness(options);
    await worker.start();
    const next = async (...deliveries: LeasedDelivery[]) => {
      batches.push(deliveries);
      worker.wake();
      await jest.advanceTimersByTimeAsync(0);
    };
    return { worker, reports, next };
  }

  test('neither sends nor releases waiting deliveries when the exchange that tests their circuit fails', async () => {
    const sent: string[] = [];
    const { worker, next } = await begun({ attempt: async (delivery) => (sent.push(delivery.delivery_id), reported(delivery, 503)) });
    await next(...five());
    expect(sent).toHaveLength(5);
    await jest.advanceTimersByTimeAsync(5000);
    await next(...five());
    expect(sent).toHaveLength(6);
    await worker.stop();
  });

  test('sends a delivery that waited for a half-open circuit only if its lease lasts for more than 20 s', async () => {
    let status = 503;
    const sent: string[] = [];
    const { worker, next } = await begun({ attempt: async (delivery) => (sent.push(delivery.delivery_id), reported(delivery, status)) });
    await next(...five());
    await jest.advanceTimersByTimeAsync(5000);
    status = 200;
    const expiring = (ms: number) => ({ ...leased('dead'), lease_expires_at: (Date.now() + ms) * 1000 });
    const [probe, early, late] = [leased('dead'), expiring(20_000), expiring(20_001)];
    sent.length = 0;
    await next(probe, early, late);
    expect(sent).toEqual([probe.delivery_id, late.delivery_id]);
    await worker.stop();
  });

  test('sends a probe despite an open circuit; its failure changes nothing, its success closes the circuit', async () => {
    let status = 503;
    const { worker, reports, next } = await begun({ attempt: async (delivery) => reported(delivery, status) });
    const untilAfter = async (...deliveries: LeasedDelivery[]) => (await next(...deliveries), reports.at(-1)?.circuit_open_until);
    const until = await untilAfter(...five());
    expect(until).toBe((Date.now() + 5000) * 1000);
    for (let times = 0; times < 7; times += 1) expect(await untilAfter({ ...leased('dead'), probe: true })).toBe(until);
    // The circuit is tested at its original time, and then stays open twice as long, not longer.
    await jest.advanceTimersByTimeAsync(5000);
    expect(await untilAfter({ ...leased('dead'), probe: true })).toBeNull();
    expect(await untilAfter(leased('dead'))).toBe((Date.now() + 10_000) * 1000);
    status = 200;
    expect(await untilAfter({ ...leased('dead'), probe: true })).toBe(0);
    expect(await untilAfter(leased('dead'), leased('dead'))).toBe(0);
    expect(reports).toHaveLength(17);
    await worker.stop();
  });

  test('asks for deliveries of an endpoint again, and sends those that wait, when its owner has enabled or changed it', async () => {
    let [sent, hangs, excluded] = [0, false, ['']];
    const attempt = async (delivery: LeasedDelivery) => ((sent += 1), hangs ? new Promise<never>(() => undefined) : reported(delivery, 503));
    const batches: LeasedDelivery[][] = [];
    const lease: WorkerOptions['lease'] = async (asked) => ((excluded = asked.excluded_endpoint_ids), { deliveries: batches.shift() ?? [], next_due_at: null });
    const { worker } = await begun({ attempt, lease });
    const next = async (restarted: string[], ...deliveries: LeasedDelivery[]) => {
      batches.push(deliveries);
      worker.wake(restarted);
      await jest.advanceTimersByTimeAsync(0);
      return excluded;
    };
    for (let round = 0; round < 2; round += 1) {
      await next([], ...five());
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
  });

  test('reports nothing for a delivery that found no connection, and frees its slot', async () => {
    let free: number | undefined;
    let status: number | undefined = 503;
    const { worker, reports, next } = await begun({ attempt: async (delivery) => (status === undefined ? undefined : reported(delivery, status)) });
    const reportsAfter = async (...deliveries: LeasedDelivery[]) => (await next(...deliveries), reports.length);
    expect(await reportsAfter(...five().slice(1))).toBe(4);
    status = undefined;
    expect(await reportsAfter(leased('dead'), leased('dead'))).toBe(4);
    status = 503;
    expect(await reportsAfter(leased('dead'))).toBe(5);
    expect(reports.at(-1)!.circuit_open_until).toBe((Date.now() + 5000) * 1000);
    // This delivery should have tested the half-open circuit; the next one does.
    await jest.advanceTimersByTimeAsync(5000);
    status = undefined;
    expect(await reportsAfter(leased('dead'))).toBe(5);
    status = 200;
    expect(await reportsAfter(leased('dead'))).toBe(6);
    await worker.store({ events: 3, waits: false, store: async (_, lease) => ((free = lease?.max_deliveries), { pending: 0, deliveries: [] }) });
    expect(free).toBe(10);
    await worker.stop();
  });

  test('counts no circuit as open that is half-open while an exchange tests it', async () => {
    const metrics = createMetrics('test');
    let answers = true;
    const attempt = async (delivery: LeasedDelivery) => (answers ? reported(delivery, 503) : new Promise<never>(() => undefined));
    const { worker, next } = await begun({ metrics, attempt });
    await next(...five());
    expect(await gaugesOf(metrics)).toEqual([' 0', ' 1']);
    await jest.advanceTimersByTimeAsync(5000);
    answers = false;
    await next(leased('dead'));
    expect(await gaugesOf(metrics)).toEqual([' 1', ' 0']);
    void worker.stop();
  });
});

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
  await worker.start();
  await send(...['dead', 'dead', 'dead', 'dead', 'well', 'dead'].map(leased));
  expect(await gaugesOf(metrics)).toEqual([' 6', ' 0']);
  for (const end of ends.slice(0, 5)) end();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await gaugesOf(metrics)).toEqual([' 1', ' 0']);
  ends[5]!();
  await worker.stop();
  expect(await gaugesOf(metrics)).toEqual([' 0', ' 1']);
  expect(await samples(metrics, 'webhook_attempt_duration_seconds_count')).toEqual(['result="5xx" 5', 'result="2xx" 1']);
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
