import { pinClock, whileOpen } from '@truckroll/testing';
import { forgetVersions } from '../src/retention.ts';
import { SCHEMA, openSetting } from './setting.ts';

let setting: Awaited<ReturnType<typeof openSetting>>;
beforeEach(async () => {
  setting = await openSetting();
});
afterEach(() => setting.close());

const store = (consumer: string, key: string, days: number) =>
  setting.database.query({
    text: `insert into inbox_version (consumer, topic, key, version, applied_at) values ($1, 'jobs', $2, 7, now() - $3 * interval '1 day')`,
    values: [consumer, key, days],
  });
const deadLetter = (topic: string, key: string) =>
  setting.database.query({
    text: `insert into parked_event (consumer, topic, partition, log_offset, key, headers, reason) values ('billing', $1, 0, 1, $2, '{}', 'broken')`,
    values: [topic, key],
  });
const kept = async () => {
  const { rows } = await setting.database.query<{ kept: string }>({ text: `select consumer || ' ' || key as kept from inbox_version order by 1` });
  return rows.map((row) => row.kept);
};

test('deletes versions that a consumer applied more than two weeks ago, and none of another consumer', async () => {
  await store('billing', 'old', 15);
  await store('billing', 'young', 13);
  await store('reporting', 'old', 15);
  expect(await forgetVersions(setting.database, 'billing')).toBe(1);
  expect(await kept()).toEqual(['billing young', 'reporting old']);
});

test('keeps the version of a key that has a dead letter, which may still be applied', async () => {
  await store('billing', 'dead', 100);
  await deadLetter('jobs', 'dead');
  expect(await forgetVersions(setting.database, 'billing')).toBe(0);
  await setting.database.query({ text: 'delete from parked_event' });
  expect(await forgetVersions(setting.database, 'billing')).toBe(1);
});

test('deletes the version of a key that has a dead letter only in another topic', async () => {
  await store('billing', 'dead', 100);
  await deadLetter('visits', 'dead');
  expect(await forgetVersions(setting.database, 'billing')).toBe(1);
});

test('keeps the version of an event that is applied while old versions are deleted', async () => {
  await store('billing', 'again', 100);
  const forgetting = async () => expect(await forgetVersions(setting.database, 'billing')).toBe(0);
  await whileOpen(setting.database, (tx) => tx.query({ text: `update inbox_version set version = 8, applied_at = now()` }), forgetting);
  expect(await kept()).toEqual(['billing again']);
});

test('checks every version of a consumer in slices', async () => {
  await setting.database.query({
    text: `insert into inbox_version (consumer, topic, key, version, applied_at)
      select 'billing', 'topic ' || i % 3, i::text, 1, case when i % 2 = 0 then now() else now() - interval '20 days' end from generate_series(1, 12000) i`,
  });
  expect(await forgetVersions(setting.database, 'billing')).toBe(6000);
  expect(await kept()).toHaveLength(6000);
});

test('keeps a version for two weeks, to the microsecond', async () => {
  await store('billing', 'one', 0);
  const { rows } = await setting.database.query<{ applied_at: number }>({ text: 'select applied_at from inbox_version' });
  const end = rows[0]!.applied_at + 14 * 86_400_000_000;
  const clock = await pinClock(setting.server.url, SCHEMA);
  const forgottenAt = async (at: number) => {
    await clock.set(at);
    return await forgetVersions(clock.database, 'billing');
  };
  try {
    expect([await forgottenAt(end), await forgottenAt(end + 1)]).toEqual([0, 1]);
  } finally {
    await clock.close();
  }
});
