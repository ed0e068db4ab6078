import { randomUUID } from 'node:crypto';
import { catchUpMigrations } from '@truckroll/catch-up';
import { Name as NameEvent } from '@truckroll/contract/gen/events/v1/names';
import type { IncomingEvent } from '@truckroll/outbox';
import type { Database, Queryable } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { holdingLocks, openFreshDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { NameCache, nameSubscription, writeNames, recordStoreMigrations } from '../src/index.ts';
import { removeNames } from '../src/names.ts';
import { watched } from './watched.ts';

const COMPANY = '0191b3c4-5d6e-8f70-8192-a3b4c5d6e7f8';
const ID = '0191b3c4-5d6e-8f70-8192-a3b4c5d6e7f9';

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  const migrations = [catchUpMigrations, recordStoreMigrations];
  ({ database, close } = await openFreshDatabase({ schema: 'names', migrations }));
});
afterAll(() => close());

async function cache(keepMs?: number) {
  const names = new NameCache(database, 'names', silentLog, keepMs);
  await names.start();
  const text = (name: Uint8Array | null | undefined) => (name == null ? name : Buffer.from(name).toString());
  const known = () => text(names.of(COMPANY).get('technician', ID));
  const fetch = async (through: Queryable = database) =>
    text((await names.fetch(COMPANY, new Map([['technician', new Set([ID])]]), through)).get('technician', ID));
  const forgets = () => until('a forgotten name', () => known() === undefined);
  return { known, fetch, forgets, stop: () => names.stop() };
}

const write = (name: string, version = 0) => database.transaction((tx) => writeNames(tx, 'names', COMPANY, [{ kind: 'technician', id: ID, name, version }]));

test('drops a cached name when another process has written it', async () => {
  await write('Ana');
  const { known, fetch, forgets, stop } = await cache(3_600_000);
  await fetch();
  expect(known()).toBe('Ana');
  await write('Ana Ruiz');
  await forgets();
  expect(await fetch()).toBe('Ana Ruiz');
  await stop();
});

test('drops a cached name when another process has removed it, and removes it from its own company only', async () => {
  await write('Ana');
  const { known, fetch, forgets, stop } = await cache(3_600_000);
  await fetch();
  const remove = (companyId: string) => database.transaction((tx) => removeNames(tx, 'names', companyId, [`${companyId}/technician/${ID}`]));
  await remove(ID);
  expect(await fetch()).toBe('Ana');
  expect(known()).toBe('Ana');
  await remove(COMPANY);
  await forgets();
  expect((await fetch()) ?? 'no name').toBe('no name');
  await stop();
});

test('does not cache a name that was written again while it was being fetched', async () => {
  await write('Ana');
  const { known, fetch, forgets, stop } = await cache(3_600_000);
  await fetch();
  const written = () => write('Ana Ruiz').then(forgets);
  expect(await fetch(watched(database, { after: written }))).toBe('Ana');
  expect(known()).toBeUndefined();
  await stop();
});

test('keeps the name of the latest version when an earlier one arrives after it', async () => {
  await database.query({ text: 'delete from names' });
  await write('Ana Ruiz', 2);
  expect(await write('Ana', 1)).toEqual([]);
  expect(await write('Ana R.', 3)).toMatchObject([{ name: 'Ana R.' }]);
});

test('drops a cached name after a time, as its notification may have been lost', async () => {
  await write('Ana');
  const { fetch, forgets, stop } = await cache(50);
  await fetch();
  await database.query({ text: `update names set name = 'Bo'` });
  await forgets();
  expect(await fetch()).toBe('Bo');
  await stop();
});

test('answers null for a name that does not exist', async () => {
  await database.query({ text: 'delete from names' });
  const { fetch, stop } = await cache();
  expect(await fetch()).toBeNull();
  await stop();
});

test('answers null for a name that was cached and is removed before it is read', async () => {
  await write('Ana');
  const { known, fetch, forgets, stop } = await cache(3_600_000);
  await fetch();
  const removed = () => database.transaction((tx) => removeNames(tx, 'names', COMPANY, [`${COMPANY}/technician/${ID}`])).then(forgets);
  expect([known(), await fetch(watched(database, { before: removed }))]).toEqual(['Ana', null]);
  await stop();
});

test('removes only the name of the given kind and id', async () => {
  await database.query({ text: 'delete from names' });
  const other = '0191b3c4-5d6e-8f70-8192-a3b4c5d6e7fa';
  const all = ['technician', 'contact'].flatMap((kind) => [ID, other].map((id) => ({ kind, id, name: 'Ana', version: 0 })));
  await database.transaction((tx) => writeNames(tx, 'names', COMPANY, all));
  await database.transaction((tx) => removeNames(tx, 'names', COMPANY, [`${COMPANY}/technician/${ID}`]));
  const { rows } = await database.query<{ kind: string; id: string }>({ text: 'select kind, id from names order by kind, id' });
  expect(rows.map(({ kind, id }) => `${kind} ${id}`)).toEqual([`contact ${ID}`, `contact ${other}`, `technician ${other}`]);
});

test('reads the name of a record of the given kind, not of another record with the same id', async () => {
  await database.query({ text: 'delete from names' });
  await database.transaction((tx) => writeNames(tx, 'names', COMPANY, [{ kind: 'contact', id: ID, name: 'Ana', version: 0 }]));
  const { fetch, stop } = await cache();
  expect(await fetch()).toBeNull();
  await stop();
});

test('stores the last of several names of a record that come together', async () => {
  await database.query({ text: 'delete from names' });
  const named = (name: string, version: number) => ({ kind: 'technician', id: ID, name, version });
  const write = () => database.transaction((tx) => writeNames(tx, 'names', COMPANY, [named('Ana', 1), named('Ana Ruiz', 2)]));
  expect(await write()).toMatchObject([{ name: 'Ana Ruiz', version: 2 }]);
});

test.each([50, 51])('notifies of %i names that change at once: of each up to 50, of the whole company above', async (count) => {
  await database.query({ text: 'delete from names' });
  await write('Ana');
  const { known, fetch, stop } = await cache(3_600_000);
  await fetch();
  const session = await database.session();
  const payloads: string[] = [];
  session.onNotification((payload) => void payloads.push(payload));
  await session.query({ text: 'listen names_names' });
  const others = Array.from({ length: count }, (_, n) => ({ kind: 'contact', id: randomUUID(), name: `Contact ${n}`, version: 0 }));
  const expected = count === 50 ? others.map(({ id }) => `${COMPANY} contact ${id}`).toSorted() : [COMPANY];
  await database.transaction((tx) => writeNames(tx, 'names', COMPANY, others));
  await until('the notifications', () => payloads.length >= expected.length);
  expect(payloads.toSorted()).toEqual(expected);
  if (count === 50) expect(known()).toBe('Ana');
  await session.close();
  await stop();
});

describe('published names', () => {
  const [low, high] = ['0191b3c4-5d6e-8f70-8192-a3b4c5d6e700', '0191b3c4-5d6e-8f70-8192-a3b4c5d6e7ff'];
  const event = (companyId: string, name: string | null, version: number): IncomingEvent =>
    ({
      companyId,
      key: `${companyId}/technician/${ID}`,
      version,
      payload: name === null ? null : Buffer.from(NameEvent.encode({ company_id: companyId, kind: 'technician', id: ID, name }).finish()),
    }) as IncomingEvent;
  const apply = (...events: IncomingEvent[]) => database.transaction((tx) => nameSubscription('names').apply(tx, events));
  const stored = async () => (await database.query<{ name: string }>({ text: 'select name from names order by company_id' })).rows.map(({ name }) => name);
  beforeEach(() => database.query({ text: 'delete from names' }));

  test('are stored for their company, and removed once their record is gone', async () => {
    await apply(event(high, 'Bo', 1), event(low, 'Ana', 1));
    expect(await stored()).toEqual(['Ana', 'Bo']);
    await apply(event(low, null, 2), event(high, 'Bo Lind', 2));
    expect(await stored()).toEqual(['Bo Lind']);
  });

  test('are stored company by company in the order of the companies’ ids, as every replica does', async () => {
    await apply(event(high, 'Bo', 1), event(low, 'Ana', 1));
    await holdingLocks(database.options, async (holder) => {
      await holder.run('select from names where company_id = $1 for update', [low]);
      const applied = apply(event(high, 'Bo Lind', 2), event(low, 'Ana Ruiz', 2));
      expect(await holder.waiting(1, applied)).toBe(true);
      expect(await holder.isFree('names', high, 'company_id')).toBe(true);
      await holder.rollback();
      await applied;
    });
    expect(await stored()).toEqual(['Ana Ruiz', 'Bo Lind']);
  });
});
