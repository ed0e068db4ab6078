import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { Database } from '../src/index.ts';

let server: TestDatabase;
let relay: Server;
let database: Database;
let ready = 0;

beforeAll(async () => {
  const sql = 'create table thing (id int primary key, doc bytea)';
  server = await freshDatabase({ trial: [{ name: 'trial', migrations: [{ name: '0001_thing', sql }] }] });
  const { hostname, port } = new URL(server.url);
  relay = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    client.on('error', () => upstream.destroy()).pipe(upstream);
    upstream.on('error', () => client.destroy()).pipe(client);
    let rest = Buffer.alloc(0);
    upstream.on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      for (; rest.length >= 5 && rest.length > rest.readUInt32BE(1); rest = rest.subarray(1 + rest.readUInt32BE(1))) if (rest[0] === 0x5a) ready += 1;
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const url = new URL(server.url);
  url.hostname = '127.0.0.1';
  url.port = String((relay.address() as AddressInfo).port);
  database = new Database({ url: url.href, schema: 'trial', maxConnections: 1 });
});
afterAll(async () => {
  await database.close();
  relay.close();
  await server.drop();
});
beforeEach(() => database.query({ text: 'truncate thing' }));

const insert = (id: number) => ({ name: 'insert', text: 'insert into thing (id) values ($1)', values: [id] });
const ids = async () => (await database.query<{ id: number }>({ text: 'select id from thing order by id' })).rows.map(({ id }) => id);

test('pipelined statements of a transaction share one Sync, and finish shares it with COMMIT', async () => {
  ready = 0;
  await database.transaction(async (tx) => {
    await Promise.all([tx.query(insert(1)), tx.query(insert(2)), tx.query(insert(3))]);
    expect(ready).toBe(1);
    await tx.query(insert(4));
    expect(ready).toBe(2);
    await tx.finish([insert(5), insert(6)]);
  });
  expect(ready).toBe(3);
  expect(await ids()).toEqual([1, 2, 3, 4, 5, 6]);
});

test('every statement gets its own rows, in every combination and when repeated', async () => {
  for (let round = 0; round < 3; round += 1) {
    const answers = await database.transaction((tx) =>
      Promise.all([
        tx.query({ name: 'two', text: 'select 1 as a union all select 2' }),
        tx.queryBinary({ name: 'bytes', text: `select '\\x0102'::bytea, null::int` }),
        tx.query({ text: `set local lock_timeout = '1s'` }),
        tx.query({ name: 'none', text: 'select 1 as a where false' }),
        tx.query({ text: 'select $1::int as a', values: [round] }),
        tx.queryBinary({ text: 'select 7' }),
        tx.query({ ...insert(round) }),
      ]),
    );
    expect(answers).toEqual([
      { rows: [{ a: 1 }, { a: 2 }], rowCount: 2, command: 'SELECT' },
      [[Buffer.from([1, 2]), null]],
      { rows: [], rowCount: 0, command: 'SET' },
      { rows: [], rowCount: 0, command: 'SELECT' },
      { rows: [{ a: round }], rowCount: 1, command: 'SELECT' },
      [[Buffer.from([0, 0, 0, 7])]],
      { rows: [], rowCount: 1, command: 'INSERT' },
    ]);
  }
  expect(await ids()).toEqual([0, 1, 2]);
});

test('statements pipelined after one that fails do not run, fail with its error, and can be sent again', async () => {
  const wrong = { name: 'wrong', text: 'select 1 / $1::int as a', values: [0] };
  for (let round = 0; round < 2; round += 1) {
    let outcomes: unknown[] = [];
    const run = database.transaction(async (tx) => {
      const sent = [
        tx.query(insert(1)),
        tx.query(wrong),
        tx.queryBinary({ name: 'behind', text: 'select 3' }),
        tx.query({ name: 'behind_too', text: 'select 4 as a' }),
        tx.finish([insert(2)]),
      ];
      outcomes = (await Promise.allSettled<unknown>(sent)).map((one) => (one.status === 'fulfilled' ? 'done' : (one.reason as { sqlState: string }).sqlState));
    });
    await expect(run).rejects.toMatchObject({ sqlState: '22012' });
    expect(outcomes).toEqual(['done', '22012', '22012', '22012', '22012']);
    expect(await ids()).toEqual([]);
  }
  const again = await database.transaction((tx) => Promise.all([tx.query({ ...wrong, values: [1] }), tx.query({ name: 'behind_too', text: 'select 4 as a' })]));
  expect(again.map(({ rows }) => rows)).toEqual([[{ a: 1 }], [{ a: 4 }]]);
});

test('a transaction that rejects before its statements are sent leaves nothing open', async () => {
  const run = database.transaction(async (tx) => {
    tx.query(insert(1)).catch(() => undefined);
    throw new Error('changed my mind');
  });
  await expect(run).rejects.toThrow('changed my mind');
  expect(await ids()).toEqual([]);
  const { rows } = await database.query({ text: 'select now() = statement_timestamp() as alone' });
  expect(rows).toEqual([{ alone: true }]);
});

test('a statement that cannot be sent also stops those after it, including COMMIT', async () => {
  await database.query({ name: 'taken', text: 'select 1' });
  const circular: { self?: object } = {};
  circular.self = circular;
  for (const unsendable of [
    { name: 'taken', text: 'select 2' },
    { text: 'select $1::jsonb', values: [circular] },
  ]) {
    await expect(database.transaction((tx) => tx.finish([insert(1), unsendable, insert(2)]))).rejects.toThrow();
    expect(await ids()).toEqual([]);
  }
});
