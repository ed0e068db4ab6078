import { connect, createServer, type AddressInfo } from 'node:net';
import { ApiError } from '@truckroll/contract';
import { createMetrics } from '@truckroll/telemetry';
import { freshDatabase, openProxy, type TestDatabase } from '@truckroll/testing';
import { Database, StatementError, arrayOf, binaryArrays, isUnavailable, isUniqueViolation } from '../src/index.ts';
import { MOST_PREPARED } from '../src/driver/connection.ts';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  const sql = 'create table thing (id int primary key, doc bytea, amount bigint, at timestamptz)';
  server = await freshDatabase({ trial: [{ name: 'trial', migrations: [{ name: '0001_thing', sql }] }] });
  database = new Database({ url: server.url, schema: 'trial' });
});
afterAll(async () => {
  await database.close();
  await server.drop();
});
beforeEach(() => database.query({ text: 'truncate thing' }));

const insert = (id: number) => ({ text: 'insert into thing (id) values ($1)', values: [id] });
const count = async () => (await database.query<{ count: number }>({ text: 'select count(*) from thing' })).rows[0]?.count;

describe('columns', () => {
  test('bytea arrives byte for byte in binary rows, even across many packets', async () => {
    const documents = [0, 1, 100, 70_000, 1_000_000].map((size) => Buffer.from(Array.from({ length: size }, (_, index) => index % 256)));
    await database.query({
      text: 'insert into thing (id, doc) select * from unnest($1::int[], $2::bytea[])',
      values: [documents.map((_, id) => id), documents],
    });
    for (let round = 0; round < 2; round += 1) {
      const rows = await database.queryBinary({ name: 'read', text: 'select doc, null::int from thing order by id' });
      expect(rows.map((row) => row[0]?.equals(documents[rows.indexOf(row)]!))).toEqual(documents.map(() => true));
      expect(rows.every((row) => row[1] === null)).toBe(true);
    }
  });

  test('arrays in binary format equal the same arrays in text, for all element types', async () => {
    const id = '0191b3c4-5d6e-8f70-8192-a3b4c5d6e7f8';
    const arrays: [type: string, binary: Buffer, text: unknown[]][] = [
      ['uuid', binaryArrays.uuid([id, null, id.toUpperCase()]), [id, null, id]],
      ['text', binaryArrays.text(['', 'a "b", {c} \\d', 'Ünïcødé 🛠', null]), ['', 'a "b", {c} \\d', 'Ünïcødé 🛠', null]],
      ['bytea', binaryArrays.bytea([Buffer.from([0, 92, 255]), Buffer.alloc(0), null]), [Buffer.from([0, 92, 255]), Buffer.alloc(0), null]],
      ['boolean', binaryArrays.boolean([true, false, null]), [true, false, null]],
      ['integer', binaryArrays.integer([-2_147_483_648, 7]), [-2_147_483_648, 7]],
      ['bigint', binaryArrays.bigint([Number.MAX_SAFE_INTEGER, -1, -Number.MAX_SAFE_INTEGER]), [Number.MAX_SAFE_INTEGER, -1, -Number.MAX_SAFE_INTEGER]],
      ['double precision', binaryArrays['double precision']([0.1, -1e300, 0, null]), [0.1, -1e300, 0, null]],
      ['bigint', arrayOf('bigint', [7, undefined]), [7, null]],
      [
        'timestamptz',
        binaryArrays.timestamptz([1_772_377_445_123_457, 0, -1, null]),
        ['2026-03-01T15:04:05.123457Z', '1970-01-01T00:00:00Z', '1969-12-31T23:59:59.999999Z', null],
      ],
      ['date', binaryArrays.date(['1970-01-01', '2026-03-01', '9999-12-31']), ['1970-01-01', '2026-03-01', '9999-12-31']],
      ['date', binaryArrays.day([0, 20_513, -1]), ['1970-01-01', '2026-03-01', '1969-12-31']],
      ['jsonb', binaryArrays.jsonb(['[{"name":"a\\"","value":"é"}]', 'null', null]), ['[{"name":"a\\"","value":"é"}]', 'null', null]],
      [
        'numeric',
        binaryArrays.numeric([0n, 7, -10_000, 123_400_005_678, Number.MAX_SAFE_INTEGER, -0, 10_000n, -(10n ** 30n) - 1n, null]),
        ['0', '7', '-10000', '123400005678', '9007199254740991', '0', '10000', '-1000000000000000000000000000001', null],
      ],
      ['text', binaryArrays.text([]), []],
    ];
    for (const [type, binary, text] of arrays) {
      const { rows } = await database.query({
        text: `select $1::${type}[] = $2::${type}[] as same, cardinality($1::${type}[]) as count`,
        values: [binary, text],
      });
      expect([type, rows[0]]).toEqual([type, { same: true, count: text.length }]);
    }
    for (const text of ['0191b3c4', `${id.slice(0, 35)}g`, `${id.slice(0, 35)}\u0131`, `${id}0`])
      expect(() => binaryArrays.uuid([id, text])).toThrow(`${text} is not a UUID`);
  });

  test('binary rows work without parameters and without rows', async () => {
    expect(await database.queryBinary({ text: 'select 7' })).toEqual([[Buffer.from([0, 0, 0, 7])]]);
    expect(await database.queryBinary({ text: 'select 7 where false' })).toEqual([]);
  });

  test('a repeated statement gives correct rows, whether it reads or writes', async () => {
    const read = { name: 'again_read', text: 'select id, doc, amount from thing order by id' };
    const write = { name: 'again_write', text: 'insert into thing (id, amount) values ($1, $2)' };
    const run = async (round: number) => {
      await database.query({ ...write, values: [round, round * 10] });
      const before = await database.query(read);
      const [row] = await database.queryBinary({ name: 'again_binary', text: 'select count(*)::int from thing' });
      return [before, row?.[0]?.readInt32BE(0)];
    };
    for (let round = 1; round <= 3; round += 1) {
      const rows = Array.from({ length: round }, (_, index) => ({ id: index + 1, doc: null, amount: (index + 1) * 10 }));
      expect(await run(round)).toEqual([{ rows, rowCount: round, command: 'SELECT' }, round]);
    }
  });

  test('a statement whose columns have changed is refused once and then returns the new columns', async () => {
    const one = new Database({ url: server.url, schema: 'trial', maxConnections: 1 });
    try {
      const read = { name: 'changing', text: 'select * from changing' };
      await one.query({ text: 'create table changing as select 1 as a' });
      for (let round = 0; round < 2; round += 1) expect((await one.query(read)).rows).toEqual([{ a: 1 }]);
      await one.query({ text: 'alter table changing add b text default $$new$$' });
      await expect(one.query(read)).rejects.toMatchObject({ sqlState: '0A000' });
      for (let round = 0; round < 2; round += 1) expect((await one.query(read)).rows).toEqual([{ a: 1, b: 'new' }]);
    } finally {
      await one.close();
    }
  });

  test('bigint is a number, a timestamp is microseconds, a date stays text', async () => {
    const { rows } = await database.query({
      text: `select 9007199254740991::bigint as big, '2026-03-01T15:04:05.123456-05'::timestamptz as at, date '2026-03-01' as day`,
    });
    expect(rows).toEqual([{ big: Number.MAX_SAFE_INTEGER, at: 1772395445123456, day: '2026-03-01' }]);
  });

  test('a bigint beyond the safe integers is refused, not rounded', async () => {
    await expect(database.query({ text: 'select 9007199254740993::bigint' })).rejects.toThrow('beyond 2^53 - 1');
  });
});

describe('transactions', () => {
  test('pipelined statements fail with the error of the first failed statement', async () => {
    const together = database.transaction(async (tx) => {
      const through = async (steps: number): Promise<unknown> => (steps === 0 ? tx.query({ text: 'select 1 / 0' }) : await through(steps - 1));
      const both = Promise.all([through(10), tx.query({ text: 'select 1' })]);
      both.catch(() => undefined);
      await new Promise(setImmediate);
      // Blocks so that both answers arrive in one packet, as on a busy machine.
      for (const until = performance.now() + 50; performance.now() < until; );
      await both;
    });
    await expect(together).rejects.toMatchObject({ sqlState: '22012' });
  });

  test('a rejection undoes the changes made before it', async () => {
    const run = database.transaction(async (tx) => {
      await tx.query(insert(1));
      throw new Error('changed my mind');
    });
    await expect(run).rejects.toThrow('changed my mind');
    expect(await count()).toBe(0);
  });

  test('a failed statement whose error was caught fails the transaction, so that no change is lost unnoticed', async () => {
    const run = database.transaction(async (tx) => {
      await tx.query(insert(1));
      await tx.query(insert(1)).catch(() => undefined);
    });
    await expect(run).rejects.toThrow('one of its statements had failed');
    expect(await count()).toBe(0);
  });

  test('afterCommit actions run after the commit, and not after a rollback', async () => {
    const ran: string[] = [];
    await database.transaction(async (tx) => {
      tx.afterCommit(() => ran.push('committed'));
      await tx.query(insert(1));
      expect(ran).toEqual([]);
    });
    await database
      .transaction(async (tx) => {
        tx.afterCommit(() => ran.push('rolled back'));
        await tx.query(insert(1));
      })
      .catch(() => undefined);
    expect(ran).toEqual(['committed']);
  });

  test('a statement after the end of the transaction is refused', async () => {
    const kept = await database.transaction(async (tx) => tx);
    await expect(kept.query(insert(1))).rejects.toThrow('after its transaction had ended');
  });

  test('the statements of finish are committed together with their COMMIT, or not at all', async () => {
    await database.transaction((tx) => tx.finish([insert(1), insert(2)]));
    expect(await count()).toBe(2);
    const refused = database.transaction((tx) => tx.finish([insert(3), insert(1), insert(4)]));
    await expect(refused).rejects.toMatchObject({ sqlState: '23505' });
    expect(await count()).toBe(2);
  });

  test('no statement may follow those of finish', async () => {
    const run = database.transaction(async (tx) => {
      await tx.finish([insert(1)]);
      await tx.query(insert(2)).catch((error: unknown) => expect(String(error)).toMatch('after its transaction had ended'));
    });
    await run;
    expect(await count()).toBe(1);
  });

  test('an aborted signal stops further statements and the commit', async () => {
    const abort = new AbortController();
    const run = database.transaction(
      async (tx) => {
        await tx.query(insert(1));
        abort.abort(new Error('caller gone'));
      },
      { signal: abort.signal },
    );
    await expect(run).rejects.toThrow('caller gone');
    expect(await count()).toBe(0);
  });

  test('a serialization failure is retried if the caller allows it', async () => {
    await database.query({ text: 'insert into thing (id, amount) values (1, 0)' });
    let runs = 0;
    await database.transaction(
      async (tx) => {
        runs += 1;
        await tx.query({ text: 'select amount from thing where id = 1' });
        if (runs === 1) await database.query({ text: 'update thing set amount = 5 where id = 1' });
        await tx.query({ text: 'update thing set amount = amount + 1 where id = 1' });
      },
      { isolation: 'REPEATABLE READ', retryContention: true },
    );
    expect(runs).toBe(2);
    expect((await database.query({ text: 'select amount from thing' })).rows).toEqual([{ amount: 6 }]);
  });
});

describe('errors', () => {
  test('a refused statement reports its SQLSTATE and constraint, and no SQL', async () => {
    await database.query(insert(1));
    const error = await database.query(insert(1)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StatementError);
    expect(isUniqueViolation(error, 'thing_pkey')).toBe(true);
    expect((error as Error).message).not.toMatch(/insert|Key/);
  });

  test('a statement that times out is a 503 and leaves the connection usable', async () => {
    const impatient = new Database({ url: server.url, schema: 'trial', maxConnections: 1, statementTimeoutMs: 50 });
    await expect(impatient.query({ text: 'select pg_sleep(20)' })).rejects.toMatchObject({ status: 503 });
    expect((await impatient.query({ text: 'select 1 as one' })).rows).toEqual([{ one: 1 }]);
    await impatient.close();
  });

  test('an answer that never comes is a 503 a second after the statement timeout, and another connection is used', async () => {
    const { hostname, port } = new URL(server.url);
    let silent = false;
    const relay = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      client.pipe(upstream);
      upstream.on('data', (bytes) => silent || client.write(bytes));
      client.on('close', () => upstream.destroy()).on('error', () => undefined);
      upstream.on('error', () => client.destroy());
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const url = new URL(server.url);
    url.port = String((relay.address() as AddressInfo).port);
    const distant = new Database({ url: url.href, schema: 'trial', statementTimeoutMs: 200, maxConnections: 1 });
    try {
      await distant.check();
      silent = true;
      const startedAt = performance.now();
      await expect(distant.check()).rejects.toMatchObject({ status: 503 });
      expect(performance.now() - startedAt).toBeGreaterThan(1100);
      silent = false;
      await distant.check();
    } finally {
      await distant.close();
      relay.close();
    }
  });

  test('a pool without a free connection answers 503 instead of waiting forever', async () => {
    const small = new Database({ url: server.url, schema: 'trial', maxConnections: 1, connectTimeoutMs: 500 });
    await small.transaction(async () => {
      await expect(small.query({ text: 'select 1' })).rejects.toMatchObject({ status: 503 });
    });
    await small.close();
  });

  test('a company whose transactions wait for its own locks does not block reads or transactions of others', async () => {
    const shared = new Database({ url: server.url, schema: 'trial', maxWaiting: 20 });
    await shared.query(insert(1));
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let locked = (): void => undefined;
    const isLocked = new Promise<void>((resolve) => (locked = resolve));
    const lock = { text: 'select from thing where id = 1 for update' };
    const holder = shared.of('flood').transaction(async (tx) => {
      await tx.query(lock);
      locked();
      await released;
    });
    await isLocked;
    const waiters = Array.from({ length: 40 }, () =>
      shared
        .of('flood')
        .transaction((tx) => tx.query(lock))
        .then(
          () => 200,
          (error: ApiError) => error.status,
        ),
    );
    expect((await shared.of('flood').query({ text: 'select 1 as one' })).rows).toEqual([{ one: 1 }]);
    await shared.of('other').transaction((tx) => tx.query(insert(2)));
    expect((await shared.of('other').query({ text: 'select count(*) from thing' })).rows).toEqual([{ count: 2 }]);
    release();
    await holder;
    const statuses = await Promise.all(waiters);
    // The share of one company minus the holder run, and twenty wait.
    expect(statuses.filter((status) => status === 429)).toHaveLength(40 - 7 - 20);
    expect(statuses.filter((status) => status === 200)).toHaveLength(27);
    await shared.close();
  });

  test('losing PostgreSQL is a 503 with Retry-After that names no host, until PostgreSQL returns', async () => {
    const { hostname, port } = new URL(server.url);
    const proxy = await openProxy({ host: hostname, port: Number(port) });
    const url = new URL(server.url);
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    const distant = new Database({ url: url.href, schema: 'trial', maxConnections: 3 });
    const read = () => distant.query({ name: 'one', text: 'select 1 as one' });
    await Promise.all([read(), read(), read()]);
    const running = distant.query({ text: 'select pg_sleep(20)' }).catch((error: unknown) => error);
    await proxy.cut();
    for (const error of [await running, await read().catch((thrown: unknown) => thrown)]) {
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ code: 'INTERNAL_ERROR', status: 503, retryAfterSeconds: expect.any(Number) });
      expect((error as Error).message).not.toMatch(/127|ECONN|select/);
    }
    await proxy.restore();
    expect((await read()).rows).toEqual([{ one: 1 }]);
    await distant.close();
    await proxy.close();
  });

  test('a connection that an administrator terminates only fails its statement', async () => {
    const ended = database.transaction((tx) => tx.query({ text: 'select pg_terminate_backend(pg_backend_pid())' }));
    expect(isUnavailable(await ended.catch((error: unknown) => error))).toBe(true);
    expect(await count()).toBe(0);
  });
});

test('a session delivers notifications and reports the end of its connection', async () => {
  const session = await database.session();
  const notified = new Promise((resolve) => session.onNotification((payload, channel) => resolve([channel, payload])));
  await session.query({ text: 'listen news' });
  await database.query({ text: `select pg_notify('news', 'hello')` });
  expect(await notified).toEqual(['news', 'hello']);
  const { rows } = await session.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
  await database.query({ text: 'select pg_terminate_backend($1)', values: [rows[0]?.pid] });
  await session.ended;
  await expect(session.query({ text: 'select 1' })).rejects.toMatchObject({ status: 503 });
  await session.close();
});

describe('an unlimited number of different statements', () => {
  const endless = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `combination_${i}`, label: 'list_things', text: `select ${i} as n` }));

  test('a connection closes the least recently used prepared statements beyond the limit, even within a transaction', async () => {
    const one = new Database({ url: server.url, schema: 'trial', maxConnections: 1 });
    const favourite = { name: 'favourite', text: 'select 7 as n' };
    await one.transaction(async (tx) => {
      for (const statement of endless(2 * MOST_PREPARED)) {
        expect((await tx.query(statement)).rows).toEqual([{ n: Number(statement.name.slice(12)) }]);
        await tx.query(favourite);
      }
    });
    const { rows } = await one.query<{ name: string }>({ text: 'select name from pg_prepared_statements' });
    expect(rows).toHaveLength(MOST_PREPARED);
    expect(rows.map(({ name }) => name)).toContain('favourite');
    expect((await one.query(endless(1)[0]!)).rows).toEqual([{ n: 0 }]);
    await one.close();
  });

  test('closing a prepared statement after one that fails leaves the connection usable', async () => {
    const one = new Database({ url: server.url, schema: 'trial', maxConnections: 1 });
    for (const statement of endless(MOST_PREPARED)) await one.query(statement);
    const failing = one.transaction((tx) => Promise.all([tx.query({ name: 'wrong', text: 'select 1 / 0' }), tx.query({ name: 'after', text: 'select 1' })]));
    await expect(failing).rejects.toMatchObject({ sqlState: '22012' });
    expect((await one.query({ name: 'after', text: 'select 1' })).rowCount).toBe(1);
    expect((await one.query({ name: 'combination_0', text: 'select 0 as n' })).rows).toEqual([{ n: 0 }]);
    await one.close();
  });

  test('metrics count statements by their label, and limit the number of series', async () => {
    const metrics = createMetrics('test');
    const counted = new Database({ url: server.url, schema: 'trial', metrics });
    const series = async () => new Set((await metrics.render()).body.match(/(?<=operation_duration_seconds_count\{.*)db_query_summary="[^"]*"/g));
    for (const statement of endless(20)) await counted.query(statement);
    expect([...(await series())]).toEqual(['db_query_summary="list_things"']);
    for (const { name, text } of endless(600)) await counted.query({ name, text });
    expect((await series()).size).toBe(501);
    await counted.close();
  });
});
