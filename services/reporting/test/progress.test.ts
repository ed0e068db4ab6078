import { Watermark } from '@truckroll/contract/gen/events/v1/watermarks';
import { topics } from '@truckroll/contract';
import type { IncomingEvent } from '@truckroll/outbox';
import { silentLog, type Database } from '@truckroll/service-kit';
import { openFreshDatabase } from '@truckroll/testing';
import { followProgress } from '../src/freshness/progress.ts';
import { schema } from '../src/schema.ts';

const SOURCE = '/truckroll/billing';
const NAMED = [
  { topic: topics.payments.name, partition: 1, offset: 7 },
  { topic: topics.invoices.name, partition: 2, offset: 3 },
];

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema));
});
afterAll(() => close());

test('counts a watermark that arrives early as soon as everything it names is applied, and not before', async () => {
  const { reached, watermarks } = followProgress(database, silentLog);
  const counted = async (): Promise<boolean> =>
    (await database.query({ text: 'select from applied_until where source = $1 and at = to_timestamp(5)', values: [SOURCE] })).rowCount > 0;
  const apply = ({ topic, partition, offset }: (typeof NAMED)[number]) => database.transaction((tx) => reached(tx, topic, new Map([[partition, offset]])));
  const watermark = Buffer.from(Watermark.encode({ at: 5_000_000, positions: NAMED }).finish());

  await apply({ ...NAMED[0]!, offset: 6 });
  await database.transaction((tx) => watermarks.apply(tx, [{ source: SOURCE, payload: watermark } as IncomingEvent]));
  await apply(NAMED[0]!);
  expect(await counted()).toBe(false);
  // Concurrently, as from another replica or topic.
  await Promise.all([apply(NAMED[1]!), apply(NAMED[0]!)]);
  while (!(await counted())) await new Promise((resolve) => setImmediate(resolve));
});
