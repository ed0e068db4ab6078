// How a pool shares its connections, what it keeps and drops, and how it sets them up.
import { setImmediate as turn } from 'node:timers/promises';
import { createMetrics, type Metrics } from '@truckroll/telemetry';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { Database, createSession, type CompanyDatabase } from '../src/index.ts';
import type { DatabaseOptions } from '../src/database.ts';

const { advanceTimersByTime, spyOn, useFakeTimers, useRealTimers } = jest;
let server: TestDatabase;
const open: Database[] = [];

beforeAll(async () => {
  const sql = 'create table thing (id int primary key)';
  server = await freshDatabase({ trial: [{ name: 'trial', migrations: [{ name: '0001_thing', sql }] }] });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((database) => database.close()));
});
afterAll(() => server.drop());

function pool(options: Partial<DatabaseOptions> = {}): Database {
  const database = new Database({ url: server.url, schema: 'trial', ...options });
  open.push(database);
  return database;
}

/** Begins transactions that stay open until `end`. `begun` counts those that have a connection. */
function hold(database: Pick<CompanyDatabase, 'transaction'>, count: number) {
  const ended = Promise.withResolvers<void>();
  const held = { begun: 0, end: async () => (ended.resolve(), void (await Promise.all(all))) };
  const all = Array.from({ length: count }, () =>
    database.transaction(async (tx) => {
      await tx.query({ text: 'select 1' });
      held.begun += 1;
      await ended.promise;
    }),
  );
  return held;
}

/** Not by time, which some of these tests stop. */
async function turnsUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await turn();
}

const gauge = async (metrics: Metrics, name: string) =>
  (await metrics.render()).body.match(new RegExp(`^${name}\\{.*$`, 'm'))?.[0].replace(/,?component="\w+",?/, '');

test('leaves two of seven connections to reads, however many transactions of the service itself wait', async () => {
  const metrics = createMetrics('test');
  const database = pool({ maxConnections: 7, maxWaiting: 2, metrics });
  const held = hold(database, 9);
  await turnsUntil(() => held.begun === 5);
  expect((await database.query({ text: 'select 1 as one' })).rows).toEqual([{ one: 1 }]);
  expect(held.begun).toBe(5);
  // Work of the service itself is never shed.
  expect(await gauge(metrics, 'database_transactions_waiting')).toBe('database_transactions_waiting{} 4');
  expect(await gauge(metrics, 'database_reads_waiting')).toBe('database_reads_waiting{} 0');
  expect(await gauge(metrics, 'database_connections')).toBe('database_connections{} 6');
  expect((await metrics.render()).body).not.toMatch(/^database_refused_total\{kind/m);
  await held.end();
  expect([held.begun, await gauge(metrics, 'database_transactions_waiting')]).toEqual([9, 'database_transactions_waiting{} 0']);
});

test('gives a company four of five connections while it is alone, and refuses its newest call by kind when too many wait', async () => {
  const metrics = createMetrics('test');
  const database = pool({ maxConnections: 7, maxWaiting: 2, metrics });
  const held = hold(database.of('flood'), 6);
  await turnsUntil(() => held.begun === 4);
  await expect(database.of('flood').transaction(async () => undefined)).rejects.toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(held.begun).toBe(4);
  expect((await metrics.render()).body).toMatch(/^database_refused_total\{kind="transaction",component="test"\} 1$/m);
  await held.end();
  expect(held.begun).toBe(6);
});

test('does not count as refused a call that waited for a connection in vain', async () => {
  const metrics = createMetrics('test');
  const database = pool({ maxConnections: 7, metrics });
  const held = hold(database.of('busy'), 4);
  await turnsUntil(() => held.begun === 4);
  useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  try {
    const late = expect(database.of('busy').transaction(async () => undefined)).rejects.toMatchObject({ status: 503 });
    advanceTimersByTime(5000);
    await late;
  } finally {
    useRealTimers();
  }
  expect((await metrics.render()).body).not.toMatch(/^database_refused_total\{kind/m);
  await held.end();
});

test('leaves connections to reads, however many companies have transactions', async () => {
  const database = pool({ maxConnections: 7 });
  const companies = ['flood', 'second', 'third'].map((name) => database.of(name));
  const flood = hold(companies[0]!, 4);
  await turnsUntil(() => flood.begun === 4);
  const second = hold(companies[1]!, 1);
  await turnsUntil(() => second.begun === 1);
  const third = hold(companies[2]!, 1);
  for (const company of companies) await company.query({ text: 'select 1' });
  expect(third.begun).toBe(0);
  await Promise.all([flood, second, third].map(({ end }) => end()));
  expect(third.begun).toBe(1);
});

describe('at times that the test sets', () => {
  let now = 0;
  beforeEach(() => void spyOn(performance, 'now').mockImplementation(() => now));
  afterEach(() => void spyOn(performance, 'now').mockRestore());

  test('runs the transactions of a company one at a time while another company is active', async () => {
    const database = pool({ maxConnections: 7 });
    await database.of('other').query({ text: 'select 1' });
    const held = hold(database.of('flood'), 2);
    await turnsUntil(() => held.begun === 1);
    // Neither its reads nor a transaction of the other company waits for that.
    const locking = await createSession({ url: server.url });
    await locking.query({ text: 'select pg_advisory_lock(8)' });
    const waiting = database.of('flood').query({ text: 'select pg_advisory_lock_shared(8), pg_advisory_unlock_shared(8)' });
    await database.of('flood').query({ text: 'select 1' });
    await locking.close();
    await waiting;
    await database.of('other').transaction((tx) => tx.query({ text: 'select 1' }));
    expect(held.begun).toBe(1);
    await held.end();
    now += 1000;
    const alone = hold(database.of('flood'), 2);
    await turnsUntil(() => alone.begun === 2);
    await alone.end();
  });

  test('counts as healthy while it is busy and has had an answer within two seconds, and only then without a query', async () => {
    const database = pool({ maxConnections: 1 });
    await database.query({ text: 'select 1' });
    const held = hold(database, 1);
    await turnsUntil(() => held.begun === 1);
    let checked = 0;
    const check = () => database.check().then(() => (checked += 1));
    // Nothing waits, so the check itself has to.
    const first = check();
    await turn();
    expect(checked).toBe(0);
    now += 1999;
    await check();
    expect(checked).toBe(1);
    now += 1;
    const last = check();
    await turn();
    expect(checked).toBe(1);
    await held.end();
    await Promise.all([first, last]);
  });
});

describe('a connection', () => {
  const PID = { text: 'select pg_backend_pid() as pid' };
  const pidOf = async (database: Database) => (await database.query<{ pid: number }>(PID)).rows[0]!.pid;

  test.each([
    ['a refused statement', true, 'select 1 / 0'],
    ['a statement timeout', true, 'select pg_sleep(20)'],
    ['a lock timeout', true, 'select pg_advisory_lock(7)'],
    ['the end of its server process', false, 'select pg_terminate_backend(pg_backend_pid())'],
  ])('is kept after %s: %p', async (_, kept, text) => {
    const database = pool({ maxConnections: 1, statementTimeoutMs: 200 });
    const locking = await createSession({ url: server.url });
    await locking.query({ text: 'select pg_advisory_lock(7)' });
    const before = await pidOf(database);
    await database.query({ text: `set lock_timeout = '10ms'` });
    await expect(database.query({ text })).rejects.toThrow();
    expect((await pidOf(database)) === before).toBe(kept);
    const again = await pidOf(database);
    await expect(database.transaction((tx) => tx.query({ text }))).rejects.toThrow();
    expect((await pidOf(database)) === again).toBe(kept);
    await locking.close();
  });

  test('is dropped when the plan of a statement is stale, alone or in a transaction', async () => {
    const database = pool({ maxConnections: 1 });
    await database.query({ text: 'create table if not exists changing (a int)' });
    for (const run of [(read: object) => database.query(read as never), (read: object) => database.transaction((tx) => tx.query(read as never))]) {
      const read = { name: 'changing', text: 'select * from changing' };
      await run(read);
      const before = await pidOf(database);
      await database.query({ text: `alter table changing add c${before} int` });
      await expect(run(read)).rejects.toMatchObject({ sqlState: '0A000' });
      expect(await pidOf(database)).not.toBe(before);
    }
  });

  const settings = async (database: Pick<Database, 'query'>, ...names: string[]) => {
    const { rows } = await database.query<{ name: string; value: string }>({
      text: `select name, current_setting(name, true) as value from unnest($1::text[]) name`,
      values: [names],
    });
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  };
  /** Other defaults than the server's usual ones, which equal some settings. */
  beforeAll(async () => {
    const session = await createSession({ url: server.url });
    await session.query({ text: `do $$ begin execute format('alter database %I set timezone = ''America/New_York''', current_database()); end $$` });
    await session.close();
  });
  const NAMES = [
    'TimeZone',
    'jit',
    'statement_timeout',
    'idle_in_transaction_session_timeout',
    'search_path',
    'application_name',
    'plan_cache_mode',
    'truckroll.release',
  ];

  test('of a pool has the settings that statements rely on, and its own settings only in transactions that may write', async () => {
    const own = { 'truckroll.release': '7', plan_cache_mode: 'force_custom_plan' };
    const database = pool({ maxConnections: 1, settings: own, applicationName: 'truckroll-trial' });
    const general = {
      TimeZone: 'UTC',
      jit: 'off',
      statement_timeout: '15s',
      idle_in_transaction_session_timeout: '1min',
      search_path: '"trial"',
      application_name: 'truckroll-trial',
      plan_cache_mode: 'force_custom_plan',
    };
    const none = expect.stringMatching(/^$/);
    const release = async (options: object) => (await database.transaction((tx) => settings(tx, 'truckroll.release'), options))['truckroll.release'];
    expect(await settings(database, ...NAMES)).toEqual({ ...general, 'truckroll.release': null });
    expect(await database.transaction((tx) => settings(tx, ...NAMES))).toEqual({ ...general, 'truckroll.release': '7' });
    // On the same connection, whose transaction has ended.
    expect([await release({ readOnly: true }), await release({})]).toEqual([none, '7']);
    expect((await settings(database, 'truckroll.release'))['truckroll.release']).toEqual(none);
  });

  test('outside a pool has the same settings, and its own ones for good', async () => {
    const session = await createSession({ url: server.url, schema: 'trial', settings: { 'truckroll.release': '7' }, statementTimeoutMs: 0 });
    expect(await settings(session, ...NAMES)).toMatchObject({
      TimeZone: 'UTC',
      jit: 'off',
      statement_timeout: '0',
      search_path: '"trial"',
      application_name: 'truckroll',
      'truckroll.release': '7',
    });
    await session.close();
  });
});

test('a transaction that only reads cannot write, and one may have any isolation', async () => {
  const database = pool();
  const insert = { text: 'insert into thing values (1)' };
  await expect(database.transaction((tx) => tx.query(insert), { readOnly: true })).rejects.toMatchObject({ cause: { code: '25006' } });
  const isolation = async (options: object) =>
    (await database.transaction((tx) => tx.query<{ level: string }>({ text: `select current_setting('transaction_isolation') as level` }), options)).rows[0]!
      .level;
  expect([await isolation({}), await isolation({ isolation: 'SERIALIZABLE', readOnly: true }), await isolation({ isolation: 'REPEATABLE READ' })]).toEqual([
    'read committed',
    'serializable',
    'repeatable read',
  ]);
});

test('a deadlock is retried if the caller allows it, and then once; another error never', async () => {
  const database = pool();
  const fail = async (sqlState: string, retryContention: boolean) => {
    let runs = 0;
    const run = database.transaction(
      async (tx) => {
        runs += 1;
        await tx.query({ text: `do $$ begin raise exception using errcode = '${sqlState}'; end $$` });
      },
      { retryContention },
    );
    await expect(run).rejects.toMatchObject({ sqlState });
    return runs;
  };
  expect([await fail('40P01', false), await fail('40P01', true), await fail('23505', true)]).toEqual([1, 2, 1]);
});

test('statements are measured by name or label, with the SQLSTATE of a refusal, in and outside a transaction', async () => {
  const metrics = createMetrics('test');
  const database = pool({ metrics });
  await database.query({ name: 'one', text: 'select 1' });
  await database.query({ text: 'select 1' });
  await expect(database.query({ name: 'two', label: 'divide', text: 'select 1 / 0' })).rejects.toThrow();
  await expect(database.transaction((tx) => tx.query({ name: 'two', label: 'divide', text: 'select 1 / 0' }), { readOnly: true })).rejects.toThrow();
  await expect(database.query({ name: 'gone', text: 'select pg_terminate_backend(pg_backend_pid())' })).rejects.toThrow();
  const { body } = await metrics.render();
  const counts = [...body.matchAll(/^db_client_operation_duration_seconds_count\{.*db_query_summary="(.*?)",error_type="(.*?)"\} (\d+)$/gm)];
  expect(counts.map(([, name, error, count]) => [name, error, Number(count)])).toEqual([
    ['one', '', 1],
    ['unnamed', '', 1],
    ['divide', '22012', 2],
    ['begin read only', '', 1],
    ['gone', 'unavailable', 1],
  ]);
});
