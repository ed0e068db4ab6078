// The table of e-mails: a sender neither sends nor settles what another sender has given up.
import { randomUUID } from 'node:crypto';
import { giveUp } from '@truckroll/mail';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { finish, postpone, take, type Mail } from '../src/mails/store.ts';
import { giveUpMails } from '../src/restored.ts';
import { schema } from '../src/schema.ts';

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema)), 60_000);
afterAll(() => close());

async function queue(subject = ''): Promise<void> {
  const [company, user] = [randomUUID(), randomUUID()];
  await database.query({
    text: `insert into companies (id, name, timezone, costing_enabled, verified_only) values ($1, 'x', 'UTC', true, false)`,
    values: [company],
  });
  await database.query({
    text: `insert into users (id, company_id, subject, email, first_name, last_name) values ($1, $2, $3, 'ana@example.com', 'Ana', 'Ruiz')`,
    values: [user, company, user],
  });
  await database.query({ text: `insert into mails (company_id, user_id, subject, body) values ($1, $2, $3, '')`, values: [company, user, subject] });
}

async function attempted(leaseMs: number): Promise<Mail> {
  await queue();
  const [mail] = await take(database, 1, leaseMs);
  return mail!;
}

const statusOf = async ({ id }: Mail) =>
  (await database.query<{ status: string }>({ text: 'select status from mails where message_id = $1', values: [id] })).rows[0]?.status;

test('what has been due for longest is sent first', async () => {
  for (const subject of ['later', 'earlier']) await queue(subject);
  await database.query({ text: `update mails set due_at = now() - interval '1 hour' where subject = 'earlier'` });
  expect((await take(database, 1, 30_000)).map(({ subject }) => subject)).toEqual(['earlier']);
  expect((await take(database, 1, 30_000)).map(({ subject }) => subject)).toEqual(['later']);
});

test.each([
  ['is inactive', 'update users set active = false'],
  ['has left the company', 'update users set company_id = (select id from companies where id <> users.company_id limit 1)'],
  ['has no address', `update users set email = ''`],
])('nothing is sent to a user who %s, although it was not suppressed before', async (_, statement) => {
  await queue();
  await database.query({ text: statement });
  expect(await take(database, 9, 1000)).toEqual([]);
  await database.query({ text: 'delete from mails' });
});

test('an attempt is given up when its time is over, and then stays UNKNOWN whatever outcome its sender stores later', async () => {
  const [lost, underWay] = [await attempted(-1), await attempted(30_000)];
  expect(await giveUp(database, 'mails')).toBe(1);
  expect([await statusOf(lost), await statusOf(underWay)]).toEqual(['UNKNOWN', 'ATTEMPTING']);
  await finish(database, lost, 'SENT', '');
  await postpone(database, lost, 0, '');
  expect(await statusOf(lost)).toBe('UNKNOWN');
  expect(await take(database, 1, 1000)).toEqual([]);
});

test('a restore gives up whatever had no outcome at the restored moment, because it may have been sent since', async () => {
  const [queued, underWay, sent] = [await attempted(30_000), await attempted(30_000), await attempted(30_000)];
  await postpone(database, queued, 0, '');
  await finish(database, sent, 'SENT', '');
  const given = (await database.transaction((tx) => giveUpMails(tx))).map(({ message_id }) => message_id);
  expect(given).toEqual(expect.arrayContaining([queued.id, underWay.id]));
  expect([await statusOf(queued), await statusOf(underWay), await statusOf(sent)]).toEqual(['UNKNOWN', 'UNKNOWN', 'SENT']);
});
