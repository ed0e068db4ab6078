import { formatDate, now } from '@truckroll/contract';
import { Database, silentLog } from '@truckroll/service-kit';
import { Partitions, oldestDay } from '../src/webhooks/partitions.ts';
import { DAY, startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
let database: Database;
beforeAll(async () => {
  desk = await startDesk();
  database = new Database({ url: desk.database.url, schema: 'integrations', maxConnections: 2 });
}, 60_000);
afterAll(async () => {
  await database.close();
  await desk.stop();
});

const partitions = async (): Promise<string[]> =>
  (await desk.sql(`select relname from pg_class where relname ~ '^webhook_(events|deliveries|attempts)_[0-9]{8}$' order by 1`)).map(({ relname }) => relname);

test('an event of long ago that is still kept is stored in its own day, and one that is older adds nothing', async () => {
  const one = await desk.endpoint();
  const timestamp = now() - 20 * DAY;
  expect(await desk.fanOut(one.event({ timestamp }), one.event({ timestamp: now() - 40 * DAY }))).toEqual({ pending: 1, skipped: 0 });
  const day = formatDate(Math.floor(timestamp / DAY)).replaceAll('-', '');
  expect(await partitions()).toEqual(expect.arrayContaining([`webhook_events_${day}`, `webhook_deliveries_${day}`, `webhook_attempts_${day}`]));
  const [delivery] = await desk.lease();
  await desk.report(delivery!);
  expect(await one.deliveries()).toMatchObject([{ created_at: timestamp, status: 'DELIVERY_STATUS_SUCCEEDED' }]);
});

test('days older than 30 days are dropped with what was still queued of them, and nothing else', async () => {
  const one = await desk.endpoint();
  const timestamp = now() - 29 * DAY;
  await desk.fanOut(one.event({ timestamp }), one.event());
  const tidy = new Partitions(database, silentLog);
  expect((await tidy.drop()).filter((name) => name.includes(oldestDay().replaceAll('-', '')))).toEqual([]);
  const dropped = await tidy.drop(now() + 2 * DAY);
  expect(dropped).toHaveLength(3);
  expect(await partitions()).not.toEqual(expect.arrayContaining(dropped));
  const left = await one.deliveries();
  expect(left).toHaveLength(1);
  expect((await desk.lease()).map(({ delivery_id }) => delivery_id)).toEqual([left[0]!.id]);
  expect(await tidy.drop()).toEqual([]);
});

test('two processes that meet the same new day make it once', async () => {
  const day = formatDate(Math.floor(now() / DAY) - 10);
  await Promise.all([new Partitions(database, silentLog), new Partitions(database, silentLog)].map((each) => each.ensure([day])));
  expect((await partitions()).filter((name) => name.endsWith(day.replaceAll('-', '')))).toHaveLength(3);
});
