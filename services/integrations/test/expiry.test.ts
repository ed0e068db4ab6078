// Tests the time limits of keys, e-mails and audit events on both sides, to the microsecond.
import { formatInstant, hashApiKey, now } from '@truckroll/contract';
import { hasWork } from '@truckroll/mail';
import { KeyRing } from '@truckroll/process';
import { pinClock, type PinnedClock } from '@truckroll/testing';
import { purgeAuditEvents } from '../src/audit/store.ts';
import type { Context } from '../src/context.ts';
import { identity } from '../src/identity/authenticate.ts';
import { purgeRevokedKeys, requireRoom, selectKeys } from '../src/keys/store.ts';
import { postpone, suppress, take } from '../src/mails/store.ts';
import { removeExpired } from '../src/webhooks/endpoints/expiry.ts';
import { createSecretBox } from '../src/webhooks/endpoints/secrets.ts';
import { DAY, SECOND, startDesk } from './webhooks.ts';

const HOUR = 3600 * SECOND;
/** Later than all times that the tests store by the real clock, so that the running service does nothing about the rows. */
const T = Math.ceil(now() / HOUR) * HOUR + HOUR;

let desk: Awaited<ReturnType<typeof startDesk>>;
let clock: PinnedClock;
beforeAll(async () => {
  desk = await startDesk();
  clock = await pinClock(desk.database.url, 'integrations');
}, 60_000);
afterAll(async () => {
  await clock.close();
  await desk.stop();
});

/** What `look` resolves to one microsecond before T and at T, or at other times. */
async function around<R>(look: () => Promise<R>, times = [T - 1, T]): Promise<R[]> {
  const found: R[] = [];
  for (const at of times) {
    await clock.set(at);
    found.push(await look());
  }
  return found;
}

describe('an API key', () => {
  async function ending() {
    const company = await desk.company();
    const user = await desk.user(company.id);
    const limits = { reads_per_minute: 70, reports_per_minute: null, writes_per_minute: null };
    const { key, value } = await desk.keys.createKey({ company_id: company.id, user_id: user.id, name: 'Nightly', expires_at: T, limits });
    return { company, user, key: key!, value };
  }
  const authenticate = async (value: string) =>
    (await identity.authenticate({ database: clock.database } as Context, { key_hash: hashApiKey(value) })).principal;

  test('authenticates until its end', async () => {
    const { value } = await ending();
    expect(await around(async () => (await authenticate(value)) !== null)).toEqual([true, false]);
  });

  test('counts for the limit of its company until its end', async () => {
    const { company, user } = await ending();
    const { value } = await desk.keys.createKey({ company_id: company.id, user_id: user.id, name: 'Lasting', limits: null });
    expect(await around(async () => (await authenticate(value))?.highest_limits?.reads)).toEqual([70, null]);
  });

  test('counts no more for the limit of its company once it is revoked', async () => {
    const { company, user, key } = await ending();
    const { value } = await desk.keys.createKey({ company_id: company.id, user_id: user.id, name: 'Lasting', limits: null });
    await clock.set(T - 1);
    const highest = async () => (await authenticate(value))?.highest_limits?.reads;
    expect(await highest()).toBe(70);
    await desk.keys.revokeKey({ id: key.id });
    expect(await highest()).toBeNull();
    await desk.sql('delete from api_keys where id = $1', [key.id]);
  });

  test('takes one of its company’s keys until its end, and is shown as expired from then on', async () => {
    const { company } = await ending();
    await desk.sql('update companies set key_limit = 1 where id = $1', [company.id]);
    const room = () =>
      clock.database.transaction((tx) =>
        requireRoom(tx, company.id).then(
          () => true,
          () => false,
        ),
      );
    expect(await around(room)).toEqual([false, true]);
    expect(await around(async () => (await selectKeys(clock.database, company.id))[0]?.state)).toEqual(['KEY_STATE_ACTIVE', 'KEY_STATE_EXPIRED']);
  });

  test('is kept for 30 days after it was revoked', async () => {
    const { key } = await ending();
    await desk.sql('update api_keys set revoked_at = $2 where id = $1', [key.id, formatInstant(T)]);
    expect(await around(() => purgeRevokedKeys(clock.database), [T + 30 * DAY, T + 30 * DAY + 1])).toEqual([0, 1]);
  });
});

describe('an endpoint', () => {
  const secrets = createSecretBox(new KeyRing([['k1', Buffer.alloc(32)]]));
  const remove = () => removeExpired(clock.database, secrets);
  const audited = (id: string) => desk.sql("select actor_id, action, before from audit_events where object_id = $1 and action = 'webhook.expired'", [id]);

  test('is removed with its deliveries at its end, and that is in the audit trail', async () => {
    const one = await desk.endpoint({ expires_at: T });
    expect((await one.read()).expires_at).toBe(T);
    await desk.fanOut(one.event());
    expect(await around(remove)).toEqual([0, 1]);
    await expect(one.read()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await desk.sql('select from webhook_queue where endpoint_id = $1', [one.id])).toEqual([]);
    expect(await audited(one.id)).toMatchObject([{ actor_id: 'integrations', before: expect.stringContaining(one.id) }]);
  });

  test('whose end was moved or removed stays', async () => {
    const moved = await desk.endpoint({ expires_at: T });
    await moved.update({ expires_at: T + 1 });
    const lasting = await desk.endpoint({ expires_at: T });
    await lasting.update({ expires_at: 0 });
    await lasting.update({ name: 'Renamed' });
    expect(await around(remove, [T, T + 1])).toEqual([0, 1]);
    expect((await lasting.read()).expires_at).toBeNull();
  });

  test('cannot end in the past', async () => {
    const past = { code: 'INVALID_REQUEST', details: [{ field: 'expiresAt', code: 'OUT_OF_RANGE' }] };
    await expect(desk.endpoint({ expires_at: now() - SECOND })).rejects.toMatchObject(past);
    const one = await desk.endpoint();
    await expect(one.update({ expires_at: now() - SECOND })).rejects.toMatchObject(past);
  });
});

describe('an e-mail', () => {
  afterEach(() => desk.sql('delete from mails'));

  async function queued(fields: Record<string, string | null>): Promise<void> {
    const one = await desk.endpoint();
    const names = Object.keys(fields);
    await desk.sql(
      `insert into mails (company_id, user_id, subject, body, ${names.join()}) values ($1, $2, '', '', ${names.map((_, i) => `$${i + 3}`).join()})`,
      [one.company.id, one.user.id, ...Object.values(fields)],
    );
  }
  const work = () => hasWork(clock.database, 'mails');

  test('is taken when it is due, and again when a pause has passed', async () => {
    await queued({ due_at: formatInstant(T) });
    expect(await around(work)).toEqual([false, true]);
    const taken = await around(() => take(clock.database, 9, 45_000));
    expect(taken.map((mails) => mails.length)).toEqual([0, 1]);
    await postpone(clock.database, taken[1]![0]!, 30_000, '');
    const later = T + 30 * SECOND;
    expect((await around(() => take(clock.database, 9, 45_000), [later - 1, later])).map((mails) => mails.length)).toEqual([0, 1]);
  });

  test('to an inactive user is suppressed when it is due', async () => {
    await queued({ due_at: formatInstant(T) });
    await desk.sql('update users set active = false where id in (select user_id from mails)');
    expect((await around(() => suppress(clock.database))).map((mails) => mails.length)).toEqual([0, 1]);
  });
});

describe('an audit event', () => {
  async function recorded() {
    const company = await desk.company();
    const [event] = await desk.sql('select id, at from audit_events where company_id = $1 order by at limit 1', [company.id]);
    const { id, at } = event as { id: string; at: number };
    return { id, end: at + 365 * DAY };
  }

  test('is kept for 365 days by the clock of PostgreSQL, even if that of the service is ahead', async () => {
    const { id, end } = await recorded();
    const left = async () => {
      await purgeAuditEvents(clock.database, T + 3650 * DAY);
      return (await desk.sql('select from audit_events where id = $1', [id])).length;
    };
    expect(await around(left, [end, end + 1])).toEqual([1, 0]);
  });

  test('cannot be deleted for 365 days', async () => {
    const { id, end } = await recorded();
    const remove = () =>
      clock.database.query({ text: 'delete from audit_events where id = $1', values: [id] }).then(
        ({ rowCount }) => rowCount,
        () => 'refused',
      );
    expect(await around(remove, [end, end + 1])).toEqual(['refused', 1]);
  });
});
