// The table of notifications: a sender neither sends nor settles what another sender holds or has given up.
import { randomUUID } from 'node:crypto';
import { forgetEnded, giveUp } from '@truckroll/mail';
import type { Database } from '@truckroll/postgres';
import { holdingLocks, openFreshDatabase } from '@truckroll/testing';
import { finish, postpone, take, type LeasedNotification } from '../src/notifications/store.ts';
import { giveUpMessages } from '../src/restored.ts';
import { schema } from '../src/schema.ts';

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema)), 60_000);
afterEach(() => database.query({ text: 'delete from notifications' }));
afterAll(() => close());

const companyId = randomUUID();

async function notification(status: string, fields: { attempt_ends_at?: string; finished_at?: string } = {}): Promise<LeasedNotification> {
  const id = randomUUID();
  const { attempt_ends_at = 'null', finished_at = 'null' } = fields;
  await database.query({
    text: `insert into notifications (company_id, id, appointment_id, job_id, account_id, contact_id, revision, channel, address, subject, message, status,
        attempted_at, attempt_ends_at, finished_at)
      values ($1, $2, $1, $1, $1, $1, '', 'EMAIL', '', '', '', $3, now(), ${attempt_ends_at}, ${finished_at})`,
    values: [companyId, id, status],
  });
  const none = { id: companyId, name: '' };
  return {
    companyId,
    id,
    channel: 'EMAIL',
    address: '',
    subject: '',
    text: '',
    attempts: 1,
    visitId: companyId,
    jobId: companyId,
    account: none,
    contact: none,
    people: [],
  };
}

const statusOf = async ({ id }: LeasedNotification) =>
  (await database.query<{ status: string }>({ text: 'select status from notifications where id = $1', values: [id] })).rows[0]?.status;

const taken = async (): Promise<number> => {
  const { leases, suppressed } = await take(database, 10, 1000);
  return leases.length + suppressed.length;
};

test.each([
  ['takes', 'QUEUED', {}, taken],
  ['deletes', 'SENT', { finished_at: `now() - interval '91 days'` }, () => forgetEnded(database, 'notifications')],
] as const)('%s nothing that another sender holds, without waiting', async (_, status, fields, work) => {
  await notification(status, fields);
  await holdingLocks(database.options, async (holder) => {
    await holder.run(`update notifications set status = 'ATTEMPTING'`);
    const working = work();
    expect(await holder.waiting(1, working)).toBe(false);
    expect(await working).toBe(0);
    await holder.rollback();
  });
  expect(await work()).toBe(1);
});

test('takes what has been due for longest', async () => {
  // The index has this order by itself.
  await database.query({ text: 'drop index notifications_due' });
  const [later, earlier] = [await notification('QUEUED'), await notification('QUEUED')];
  await database.query({ text: `update notifications set due_at = now() - interval '1 hour' where id = $1`, values: [earlier.id] });
  await take(database, 1, 1000);
  expect([await statusOf(later), await statusOf(earlier)]).toEqual(['QUEUED', 'SUPPRESSED']);
});

test('what it does not send has ended, so that it is deleted later', async () => {
  await notification('QUEUED');
  expect((await take(database, 1, 1000)).suppressed).toEqual(['EMAIL']);
  const { rows } = await database.query({ text: 'select status, detail, finished_at is not null as ended from notifications' });
  expect(rows).toEqual([{ status: 'SUPPRESSED', detail: 'the visit has changed', ended: true }]);
});

test('queues a message again without an end of its attempt', async () => {
  const untaken = await notification('ATTEMPTING', { attempt_ends_at: `now() + interval '30 seconds'` });
  await database.transaction((tx) => postpone(tx, untaken, 0, 'ECONNREFUSED'));
  const { rows } = await database.query({ text: 'select status, detail, attempt_ends_at from notifications' });
  expect(rows).toEqual([{ status: 'QUEUED', detail: 'ECONNREFUSED', attempt_ends_at: null }]);
});

test('an attempt that was given up stays UNKNOWN, whatever outcome its sender stores later', async () => {
  const lost = await notification('ATTEMPTING', { attempt_ends_at: 'now()' });
  await giveUp(database, 'notifications');
  expect(await database.transaction((tx) => finish(tx, lost, 'SENT', ''))).toBeUndefined();
  await database.transaction((tx) => postpone(tx, lost, 0, ''));
  expect(await statusOf(lost)).toBe('UNKNOWN');
  expect(await taken()).toBe(0);
});

test('a restore gives up whatever had no outcome at the restored moment, because it may have been sent since', async () => {
  const [queued, attempted, sent] = [await notification('QUEUED'), await notification('ATTEMPTING'), await notification('SENT')];
  const given = await database.transaction((tx) => giveUpMessages(tx));
  expect(given.map(({ id }) => id).toSorted()).toEqual([queued.id, attempted.id].toSorted());
  expect([await statusOf(queued), await statusOf(attempted), await statusOf(sent)]).toEqual(['UNKNOWN', 'UNKNOWN', 'SENT']);
  expect((await database.query({ text: `select from notifications where status = 'UNKNOWN' and finished_at is null` })).rowCount).toBe(0);
});
