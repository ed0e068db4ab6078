// Tests the time limits of idempotency keys and notifications on both sides, to the microsecond.
import { randomUUID } from 'node:crypto';
import { formatInstant, now } from '@truckroll/contract';
import { forgetEnded, giveUp, hasWork } from '@truckroll/mail';
import { freshDatabase, pinClock, type PinnedClock, type TestDatabase } from '@truckroll/testing';
import { answered, answeringText, answeringValues, purgeKeys } from '../src/assignments/idempotency.ts';
import { postpone, take } from '../src/notifications/store.ts';
import { schema } from '../src/schema.ts';

const SECOND = 1_000_000;
const DAY = 86_400 * SECOND;
const T = now();

let server: TestDatabase;
let clock: PinnedClock;
beforeAll(async () => {
  server = await freshDatabase({ [schema.schema]: schema.migrations });
  clock = await pinClock(server.url, 'scheduling');
}, 60_000);
afterAll(async () => {
  await clock.close();
  await server.drop();
});

/** What `look` resolves to one microsecond before `at` and at it. */
async function around<R>(at: number, look: () => Promise<R>): Promise<R[]> {
  await clock.set(at - 1);
  const before = await look();
  await clock.set(at);
  return [before, await look()];
}

describe('an idempotency key', () => {
  const end = T + 30 * DAY;
  async function stored() {
    const claim = { companyId: randomUUID(), userId: randomUUID(), key: 'key-00001', fingerprint: Buffer.of(1) };
    await clock.database.transaction((tx) =>
      tx.query({ text: answeringText(1), values: answeringValues(claim, { status: 201, location: null, response: Buffer.of(2) }) }),
    );
    await clock.database.query({ text: 'update idempotency_keys set created_at = $1', values: [formatInstant(T)] });
    return claim;
  }

  test('has its answer for 30 days', async () => {
    const claim = await stored();
    const look = async () => (await clock.database.transaction((tx) => answered(tx, claim)))?.status;
    expect(await around(end + 1, look)).toEqual([201, undefined]);
    expect((await clock.database.query({ text: 'select from idempotency_keys' })).rowCount).toBe(0);
  });

  test('is deleted after 30 days', async () => {
    await stored();
    expect(await around(end + 1, () => purgeKeys(clock.database))).toEqual([0, 1]);
  });
});

describe('a notification', () => {
  afterEach(() => clock.database.query({ text: 'delete from notifications' }));

  /** A notification, whose visit does not exist unless it is given. */
  const queued = (status: string, column: string): Promise<unknown> =>
    clock.database.query({
      text: `insert into notifications (company_id, id, appointment_id, job_id, account_id, contact_id, revision, channel, address, subject, message, status, ${column})
        values ($1, $1, $1, $1, $1, $1, '', 'EMAIL', '', '', '', $2, $3)`,
      values: [randomUUID(), status, formatInstant(T)],
    });
  const work = () => hasWork(clock.database, 'notifications');

  test('is taken when it is due: its visit is gone, so it is suppressed', async () => {
    await queued('QUEUED', 'due_at');
    expect(await around(T, work)).toEqual([false, true]);
    expect(await around(T, async () => (await take(clock.database, 9, 45_000)).suppressed.length)).toEqual([0, 1]);
  });

  test('is due again when a pause has passed', async () => {
    await queued('ATTEMPTING', 'due_at');
    await clock.set(T);
    const { rows } = await clock.database.query<{ company_id: string; id: string }>({ text: 'select company_id, id from notifications' });
    const { company_id: companyId, id } = rows[0]!;
    await clock.database.transaction((tx) => postpone(tx, { companyId, id } as Parameters<typeof postpone>[1], 30_000, ''));
    expect(await around(T + 30 * SECOND, work)).toEqual([false, true]);
  });

  test('is UNKNOWN once the time of its attempt is over', async () => {
    await queued('ATTEMPTING', 'attempt_ends_at');
    expect(await around(T + 1, work)).toEqual([false, true]);
    expect(await around(T + 1, () => giveUp(clock.database, 'notifications'))).toEqual([0, 1]);
  });

  test('is kept for 90 days after its end', async () => {
    await queued('SENT', 'finished_at');
    expect(await around(T + 90 * DAY + 1, () => forgetEnded(clock.database, 'notifications'))).toEqual([0, 1]);
  });
});
