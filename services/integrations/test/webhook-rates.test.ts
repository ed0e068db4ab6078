// The rate limit of an endpoint holds over all replicas, whatever leases its deliveries (decisions §15).
import { now } from '@truckroll/contract';
import { pinClock, type PinnedClock } from '@truckroll/testing';
import type { Context } from '../src/context.ts';
import { lease } from '../src/webhooks/queue/lease.ts';
import { refusal } from './harness.ts';
import { SECOND, startDesk, type LeaseOptions } from './webhooks.ts';

const MS = SECOND / 1000;
/** Later than all times that the tests store by the real clock. */
const T = Math.ceil(now() / SECOND) * SECOND + 3600 * SECOND;

let desk: Awaited<ReturnType<typeof startDesk>>;
let clock: PinnedClock;
let context: Context;
beforeAll(async () => {
  desk = await startDesk();
  clock = await pinClock(desk.database.url, 'integrations');
  const secrets = { seal: (_: string, secret: Uint8Array) => Buffer.from(secret), open: (_: string, sealed: Buffer) => sealed };
  context = { database: clock.database, secrets } as unknown as Context;
}, 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(async () => {
  await clock.close();
  await desk.stop();
});

async function leaseAt(at: number, options: LeaseOptions = {}) {
  await clock.set(at);
  return await lease(context, desk.asked({ max: 1000, cap: 1000, ...options }));
}
const countAt = async (at: number, options?: LeaseOptions) => (await leaseAt(at, options)).deliveries.length;

async function limited(max_per_second: number, waiting: number) {
  const one = await desk.endpoint({ max_per_second });
  await desk.fanOut(...Array.from({ length: waiting }, () => one.event()));
  return one;
}

test('leases one at a time, at equal distances, below ten a second', async () => {
  await limited(3, 5);
  const counts: number[] = [];
  for (const ms of [0, 300, 340, 600, 680, 1680]) counts.push(await countAt(T + ms * MS));
  expect(counts).toEqual([1, 0, 1, 0, 1, 1]);
});

test('drains a backlog at exactly the rate', async () => {
  await limited(50, 300);
  let sent = 0;
  for (let ms = 0; ms < 4000; ms += 20) {
    const count = await countAt(T + ms * MS);
    expect(count).toBeLessThanOrEqual(5);
    sent += count;
  }
  expect(sent).toBeGreaterThanOrEqual(199);
  expect(sent).toBeLessThanOrEqual(205);
});

test('lets an endpoint that received nothing catch up on a tenth of a second', async () => {
  await limited(1000, 300);
  expect([await countAt(T), await countAt(T), await countAt(T + 10 * MS), await countAt(T + SECOND)]).toEqual([100, 0, 10, 100]);
});

test('holds over replicas that lease at the same moment', async () => {
  await limited(40, 20);
  await clock.set(T);
  const replicas = Array.from({ length: 4 }, (_, index) => lease(context, desk.asked({ worker: `w${index}` })));
  expect((await Promise.all(replicas)).flatMap(({ deliveries }) => deliveries)).toHaveLength(4);
});

test('leaves the deliveries of a limited endpoint to Lease when they are stored, and those of others not', async () => {
  const [slow, free] = [await desk.endpoint({ max_per_second: 10 }), await desk.endpoint()];
  const events = [slow.event(), slow.event(), free.event()];
  const { deliveries } = await desk.deliveries.fanOut({ events, dead_letter_ids: [], lease: desk.asked({}) });
  expect(deliveries.map(({ endpoint_id: id }) => id)).toEqual([free.id]);
  expect((await leaseAt(T)).deliveries.filter(({ endpoint_id: id }) => id === slow.id)).toHaveLength(1);
});

test('counts deliveries that users request, which go first', async () => {
  const one = await limited(10, 3);
  const tests = [await desk.webhooks.testWebhook({ caller: one.caller, id: one.id }), await desk.webhooks.testWebhook({ caller: one.caller, id: one.id })];
  const steps = [];
  for (const ms of [0, 100, 200]) steps.push((await leaseAt(T + ms * MS)).deliveries);
  expect(steps.map((sent) => sent.map(({ probe }) => probe))).toEqual([[true], [true], [false]]);
  expect(
    steps
      .flat()
      .slice(0, 2)
      .map(({ event_id: id }) => id),
  ).toEqual(tests.map(({ data }) => data!.event_id));
});

test('answers when the next delivery may be sent, while any is due', async () => {
  await limited(4, 2);
  expect((await leaseAt(T)).next_due_at).toBe(T + 250 * MS);
  expect(await leaseAt(T + 250 * MS)).toMatchObject({ deliveries: [{}], next_due_at: null });
});

test('is changed and removed: null in JSON arrives as 0', async () => {
  const one = await limited(10, 30);
  await one.update({ name: 'Another name' });
  expect((await one.read()).max_per_second).toBe(10);
  await one.update({ max_per_second: 100 });
  expect(await countAt(T)).toBe(10);
  await one.update({ max_per_second: 0 });
  expect((await one.read()).max_per_second).toBeNull();
  expect(await countAt(T)).toBe(20);
});

test.each([-1, 1001])('is refused as %i', async (max_per_second) => {
  const one = await desk.endpoint();
  expect((await refusal(one.update({ max_per_second }))).details).toMatchObject([{ field: 'maxPerSecond', code: 'OUT_OF_RANGE' }]);
});
