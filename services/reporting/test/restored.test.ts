// Where reporting continues after PostgreSQL was restored to an earlier moment.
import { topics } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { storedOffsets } from '../src/freshness/progress.ts';
import { lastKnown, restored, skipTo } from '../src/restored.ts';
import { schema } from '../src/schema.ts';

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema)), 60_000);
afterAll(() => close());

test('reads each partition on from its end at the restore, and drops watermarks from before', async () => {
  const { payments, invoices, names } = topics;
  await database.query({ text: 'insert into positions (topic, partition, log_offset) values ($1, 0, 99), ($2, 5, 7)', values: [payments.name, invoices.name] });
  await database.query({ text: `insert into watermarks (source, at, positions) values ('/truckroll/billing', now(), '[]')` });
  const ends = new Map([
    [
      payments.name,
      [
        { partition: 0, offset: '12' },
        { partition: 1, offset: '0' },
      ],
    ],
    [names.name, [{ partition: 0, offset: '3' }]],
  ]);
  await database.transaction((tx) => skipTo(tx, ends));
  const offsetOf = await storedOffsets(database);
  expect([offsetOf(payments.name, 0), offsetOf(payments.name, 1), offsetOf(invoices.name, 5), offsetOf(names.name, 0)]).toEqual([12, 0, 0, undefined]);
  expect((await database.query({ text: 'select from watermarks' })).rowCount).toBe(0);
});

test('knows the newest time up to which anything was in the figures', async () => {
  expect(await lastKnown(database)).toBeUndefined();
  await database.query({ text: `insert into applied_until values ('/truckroll/billing', to_timestamp(5)), ('/truckroll/scheduling', to_timestamp(9))` });
  expect(await lastKnown(database)).toBe(9_000_000);
});

test('continues with every topic that the service reads, and publishes nothing again', () => {
  const { companies, names, jobs, assignments, invoices, payments, refunds, watermarks } = topics;
  const read = [companies, names, jobs, assignments, invoices, payments, refunds, watermarks].map(({ name }) => name).sort();
  expect(restored.groups.map(({ group, topics: of }) => [group, of.map(({ name }) => name).sort()])).toEqual([['reporting', read]]);
  expect(restored.states).toEqual([]);
  const kept = restored.readModels.map(({ topic, table }) => [topic.name, table]).sort();
  expect(kept).toEqual(
    [
      [companies.name, 'companies'],
      [names.name, 'names'],
      [jobs.name, 'jobs'],
      [assignments.name, 'assignments'],
      [invoices.name, 'invoices'],
      [payments.name, 'payments'],
      [refunds.name, 'refunds'],
    ].sort(),
  );
});
