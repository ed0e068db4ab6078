// A freeze whose triggers were made beforehand waits only for transactions that have written something of the company.
import { randomUUID } from 'node:crypto';
import { createSession, type DatabaseSession } from '@truckroll/postgres';
import { until } from '@truckroll/testing/until';
import type { FreezeOptions } from '../../packages/erasure/src/freeze.ts';
import { kafka, openSetting } from '../../packages/outbox/test/setting.ts';
import { callsOf } from './freezing.ts';

const company_id = '0e37df36-f698-11e6-8dd4-cb9ced3df976';
const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const CLOSED = { state: { begun: true, closed: true } };

let setting: Awaited<ReturnType<typeof openSetting>>;
let writer: DatabaseSession;
beforeAll(async () => {
  setting = await openSetting();
  writer = await createSession({ url: setting.server.url, schema: setting.database.options.schema! });
}, 60_000);
afterEach(async () => {
  await calls().unfreeze({ company_id });
  await calls().removeFences({ company_id });
});
afterAll(async () => {
  await writer?.close();
  await setting?.close();
});

const calls = (own: Partial<FreezeOptions> = {}) => callsOf({ database: setting.database, kafka, restored: { groups: [] }, ...own });
const sql = (text: string) => writer.query({ text });
const write = (of = company_id) => sql(`insert into erased_people (company_id, kind, id) values ('${of}', 'accounts', '${randomUUID()}')`);
const rowsOf = async (of = company_id) => (await setting.database.query({ text: 'select from erased_people where company_id = $1', values: [of] })).rowCount;
const sqlElsewhere = (text: string) => setting.database.query({ text });
const WAITING = `select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`;
const refused = { status: 503, message: expect.stringContaining('The company is frozen') };

test('refuses nothing before it is closed, and leaves the company’s background work alone', async () => {
  expect(await calls().prepareFreeze({ company_id })).toEqual({ tables: [] });
  await write();
  expect(await calls().getFreeze({ company_id })).toEqual({ state: { begun: true, closed: false } });
  expect((await sql('select from frozen_companies')).rowCount).toBe(0);
  expect(await calls().freeze({ company_id })).toEqual(CLOSED);
  await expect(write()).rejects.toMatchObject(refused);
  await expect(sql(`delete from erased_people where company_id = '${company_id}'`)).rejects.toMatchObject(refused);
  await write(OTHER);
});

test('names the tables that others use, and makes the triggers once they are free', async () => {
  await sql('begin');
  await write(OTHER);
  expect(await calls().prepareFreeze({ company_id })).toEqual({ tables: ['erased_people'] });
  await sql('commit');
  expect(await calls().prepareFreeze({ company_id })).toEqual({ tables: [] });
});

test('closes while others write to the tables', async () => {
  await calls().prepareFreeze({ company_id });
  await sql('begin');
  await write(OTHER);
  expect(await calls().freeze({ company_id })).toEqual(CLOSED);
  await sql('commit');
});

test('waits for a transaction that has written something of the company, whose rows are then there', async () => {
  await calls().prepareFreeze({ company_id });
  const before = await rowsOf();
  await sql('begin');
  await write();
  expect(await calls().freeze({ company_id })).toEqual({
    state: { begun: true, closed: false, waits_for: 'transactions that have changed something of the company', ask_seldom: true },
  });
  // It is not closed for this one in the meantime.
  await write();
  await sql('commit');
  expect(await calls().freeze({ company_id })).toEqual(CLOSED);
  expect(await rowsOf()).toBe(before + 2);
});

test('refuses a write that comes while it is being closed', async () => {
  await calls().prepareFreeze({ company_id });
  const before = await rowsOf();
  let late: Promise<unknown> | undefined;
  const { freeze } = calls({
    // Runs when the company’s lock is held and its writers still pass.
    lock: async (tx) => {
      const { query } = tx;
      Object.assign(tx, {
        query: async (statement: { text: string }) => {
          const answer = await query(statement);
          // Closed, and not committed: the write finds the lock taken.
          if (statement.text.startsWith('update frozen_companies')) {
            late = write().catch((error: unknown) => error);
            await until('the write that waits', async () => (await sqlElsewhere(WAITING)).rowCount > 0);
          }
          return answer;
        },
      });
    },
  });
  expect(await freeze({ company_id })).toEqual(CLOSED);
  expect(await late).toMatchObject(refused);
  expect(await rowsOf()).toBe(before);
});

test('lets a transaction go on that waits for the company’s lock after it has written something', async () => {
  await calls().prepareFreeze({ company_id });
  const key = 'select pg_advisory_xact_lock(7)';
  let waiting: Promise<unknown> | undefined;
  const lock: FreezeOptions['lock'] = async (tx) => {
    await tx.query({ text: key });
    waiting ??= sql(key);
  };
  await sql('begin');
  await write();
  expect(await calls({ lock }).freeze({ company_id })).toMatchObject({ state: { closed: false } });
  await waiting;
  await sql('commit');
  expect(await calls({ lock }).freeze({ company_id })).toEqual(CLOSED);
});

test('can be given up', async () => {
  await calls().prepareFreeze({ company_id });
  expect(await calls().removeFences({ company_id })).toEqual({ tables: [] });
  expect(await calls().getFreeze({ company_id })).toEqual({ state: { begun: false, closed: false } });
});
