// The cache of names while the connection for notifications is missing, and at its size limit.
import { randomUUID } from 'node:crypto';
import { catchUpMigrations } from '@truckroll/catch-up';
import type { Database, DatabaseSession, Queryable } from '@truckroll/postgres';
import { createLog, silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { NameCache, writeNames, recordStoreMigrations } from '../src/index.ts';
import { watched } from './watched.ts';

const KEEP_MS = 3_600_000;
const [ANA, BO] = ['0191b3c4-5d6e-8f70-8192-a3b4c5d6e7f8', '0191b3c4-5d6e-8f70-8192-a3b4c5d6e7f9'];

let database: Database;
let close: () => Promise<void>;
let company: string;
beforeAll(async () => {
  const migrations = [catchUpMigrations, recordStoreMigrations];
  ({ database, close } = await openFreshDatabase({ schema: 'names', migrations }));
});
afterAll(() => close());
beforeEach(async () => {
  company = randomUUID();
  await write(ANA, 'Ana');
  await write(BO, 'Bo');
});

const write = (id: string, name: string) => database.transaction((tx) => writeNames(tx, 'names', company, [{ kind: 'technician', id, name, version: 0 }]));
const text = (name: Uint8Array | null | undefined) => (name == null ? name : Buffer.from(name).toString());
const wanted = (ids: readonly string[]) => new Map([['technician', new Set(ids)]]);

function opened(through = database, log = silentLog) {
  const names = new NameCache(through, 'names', log, KEEP_MS);
  const known = (id = ANA, of = company) => text(names.of(of).get('technician', id));
  const fetch = async (id = ANA, query?: Queryable) => text((await names.fetch(company, wanted([id]), query)).get('technician', id));
  const knows = (expected: string | undefined, look = async (): Promise<unknown> => known()) =>
    until(`${expected} to be known`, look, (seen) => seen === expected, { everyMs: 5 });
  const listens = () => knows('Ana', async () => (await fetch()) && known());
  return { names, known, fetch, knows, listens };
}

/** The database, whose sessions are opened by `session`. */
const opening = (session: () => Promise<DatabaseSession>): Database =>
  ({ session, query: database.query.bind(database), of: database.of.bind(database) }) as unknown as Database;

const hangUp = () =>
  database.query({ text: `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query = 'listen names_names'` });
const listeners = async (): Promise<number> =>
  (await database.query({ text: `select from pg_stat_activity where datname = current_database() and query = 'listen names_names'` })).rowCount;

test('keeps no name while the connection for notifications is lost, and notices changes once it is back', async () => {
  let allowed = Promise.resolve();
  const { names, known, fetch, knows, listens } = opened(opening(() => allowed.then(() => database.session())));
  await names.start();
  await fetch();
  expect(known()).toBe('Ana');
  const again = Promise.withResolvers<void>();
  allowed = again.promise;
  await hangUp();
  await knows(undefined);
  expect([await fetch(), known()]).toEqual(['Ana', undefined]);
  again.resolve();
  await listens();
  await write(ANA, 'Ana Ruiz');
  await knows(undefined);
  expect(await fetch()).toBe('Ana Ruiz');
  await names.stop();
});

test('does not keep a name that was read before it began to listen, because it may have changed since', async () => {
  const { names, known, fetch } = opened();
  const changed = async (): Promise<void> => {
    await write(ANA, 'Ana Ruiz');
    await names.start();
  };
  expect(await fetch(ANA, watched(database, { after: changed }))).toBe('Ana');
  expect(known()).toBeUndefined();
  await names.stop();
});

test('reads names from the database without a connection for notifications, says so, and tries again to listen', async () => {
  const logged: string[] = [];
  const failing = [() => Promise.reject(new Error('no more connections'))];
  const through = opening(() => (failing.pop() ?? (() => database.session()))());
  const { names, known, fetch, listens } = opened(through, createLog('test', 'info', { write: (line) => void logged.push(line) }));
  await names.start();
  expect([await fetch(), known()]).toEqual(['Ana', undefined]);
  expect(logged.map((line) => JSON.parse(line) as object)).toMatchObject([{ level: 'warn', err: { message: 'no more connections' } }]);
  await listens();
  await names.stop();
});

test('closes its connection when it stops', async () => {
  const { names, knows } = opened();
  await names.start();
  expect(await listeners()).toBe(1);
  await names.stop();
  await knows('none', async () => ((await listeners()) === 0 ? 'none' : 'some'));
}, 10_000);

test('still knows the names of a page that are dropped from the cache while the others are fetched', async () => {
  const { names, known, fetch, knows } = opened();
  await names.start();
  await fetch(BO);
  const dropped = async (): Promise<void> => {
    await database.query({ text: `select pg_notify('names_names', $1)`, values: [company] });
    await knows(undefined, async () => known(BO));
  };
  const page = await names.fetch(company, wanted([ANA]), watched(database, { after: dropped }));
  expect([ANA, BO].map((id) => text(page.get('technician', id)))).toEqual(['Ana', 'Bo']);
  await names.stop();
});

test('drops the companies that came first once it has 400,000 names, and counts every name once', async () => {
  const { names, known } = opened();
  await names.start();
  const idsOf = (count: number): string[] => Array.from({ length: count }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`);
  const [id] = idsOf(1) as [string];
  const companies = Array.from({ length: 4 }, () => randomUUID()) as [string, string, string, string];
  const knownIn = () => companies.map((of) => known(id, of) === null);
  await names.fetch(companies[0], wanted(idsOf(200_000)));
  await names.fetch(companies[0], wanted(idsOf(200_000)));
  await names.fetch(companies[1], wanted(idsOf(199_999)));
  await names.fetch(companies[2], wanted([id]));
  expect(knownIn()).toEqual([true, true, true, false]);
  await names.fetch(companies[3], wanted([id]));
  expect(knownIn()).toEqual([false, true, true, true]);
  await names.stop();
});
