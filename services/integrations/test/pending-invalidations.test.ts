// Invalidations that a replica has stored and not published, because it died: the others find them without being notified.
import { randomUUID } from 'node:crypto';
import type { Database } from '@truckroll/postgres';
import { parseRedisUrl } from '@truckroll/redis';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { holdingLocks, openFreshDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { InvalidationPublisher } from '../src/identity/invalidations.ts';
import { createBus } from '../src/identity/redis.ts';
import { schema } from '../src/schema.ts';
import { listen } from './harness.ts';

let database: Database;
let close: () => Promise<void>;
let gateway: Awaited<ReturnType<typeof listen>>;
let forwardMs = 0;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema));
  gateway = await listen();
  const real = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => real() + forwardMs);
}, 60_000);
afterAll(async () => {
  jest.restoreAllMocks();
  gateway.close();
  await close();
});

async function storeInvalidations(count: number): Promise<string[]> {
  const subjects = Array.from({ length: count }, () => `user:${randomUUID()}`);
  await database.query({ text: 'insert into pending_invalidations (subject) select unnest($1::text[])', values: [subjects] });
  return subjects;
}

/** A replica that has published nothing for more than a minute. */
async function atRest<T>(isListening: boolean, work: () => Promise<T>): Promise<T> {
  const bus = createBus(parseRedisUrl(process.env['REDIS_URL'] ?? '')!, silentLog, createMetrics('trial'));
  const publisher = new InvalidationPublisher(database, bus, silentLog, () => isListening);
  bus.connect();
  publisher.start();
  publisher.announced();
  const [ready] = await storeInvalidations(1);
  await gateway.receives(ready!);
  forwardMs += 61_000;
  const looks = jest.spyOn(database, 'query');
  await until('a look', () => looks.mock.calls.length > 0);
  await looks.mock.results[0]!.value;
  looks.mockRestore();
  try {
    return await work();
  } finally {
    await publisher.stop();
    bus.close();
  }
}

const allOf = async (subjects: readonly string[]) => {
  for (const subject of subjects) await gateway.receives(subject);
};

test('a replica that receives no announcements publishes them within seconds', () => atRest(false, async () => allOf(await storeInvalidations(1))), 30_000);

test(
  'a replica that receives announcements publishes all of them in one go once a minute, however many, the oldest first',
  () =>
    atRest(true, async () => {
      const subjects = await storeInvalidations(250);
      forwardMs += 61_000;
      await allOf(subjects);
      expect(gateway.received.filter((each) => subjects.includes(each))).toEqual(subjects);
    }),
  30_000,
);

test(
  'a replica publishes them while another is publishing earlier ones',
  () =>
    atRest(true, () =>
      holdingLocks(database.options, async (holder) => {
        const [first, second] = await storeInvalidations(2);
        await holder.run('select from pending_invalidations where subject = $1 for update', [first]);
        forwardMs += 61_000;
        await gateway.receives(second!);
        expect(gateway.received).not.toContain(first);
      }),
    ),
  30_000,
);
