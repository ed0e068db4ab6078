import type { Transaction } from '@truckroll/postgres';
import { mustWait, whileOpen } from '@truckroll/testing';
import { takeDeadLetter } from '../src/dead-letters.ts';
import type { IncomingEvent } from '../src/event.ts';
import { unseen } from '../src/inbox.ts';
import { openSetting } from './setting.ts';

const CONSUMER = 'billing';
let setting: Awaited<ReturnType<typeof openSetting>>;
beforeEach(async () => {
  setting = await openSetting();
});
afterEach(() => setting.close());

const event = (key: string, version: number) => ({ topic: 'jobs', key, version, companyId: '7c9e6679-7425-40de-944b-e07fc1f90ae7' }) as IncomingEvent;
const see = async (tx: Transaction, ...events: IncomingEvent[]): Promise<string[]> =>
  (await unseen(tx, CONSUMER, 'version', events)).map(({ key, version }) => `${key}${version}`);

test.each([
  [1, []],
  [2, []],
  [3, ['a3']],
])('applies version %i of a record, while another replica applies version 2, only if it is newer', async (version, expected) => {
  let fresh: string[] = [];
  await whileOpen(
    setting.database,
    (tx) => see(tx, event('a', 2)),
    () => setting.database.transaction(async (tx) => (fresh = await see(tx, event('a', version)))),
  );
  expect(fresh).toEqual(expected);
});

test('locks the versions of records in the order of their keys', async () => {
  await whileOpen(
    setting.database,
    (tx) => see(tx, event('a', 1)),
    () => setting.database.transaction((tx) => see(tx, event('b', 1), event('a', 1))),
    async (tx) => expect(await mustWait(setting.database, see(tx, event('b', 1)), 2)).toBe(false),
  );
});

test('skips a dead letter that another replica is applying, without waiting for it', async () => {
  await setting.database.query({
    text: `insert into parked_event (consumer, topic, partition, log_offset, key, headers, reason)
      select $1, 'jobs', 0, place, 'a', '{"id": "1"}', 'broken' from generate_series(1, 2) place`,
    values: [CONSUMER],
  });
  await setting.database.transaction(async (tx) => {
    const first = await takeDeadLetter(tx, CONSUMER, 0);
    const second = setting.database.transaction((other) => takeDeadLetter(other, CONSUMER, 0));
    expect(await mustWait(setting.database, second)).toBe(false);
    expect([first?.event.offset, (await second)?.event.offset]).toEqual(['1', '2']);
  });
});
