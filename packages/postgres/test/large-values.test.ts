import { createHash } from 'node:crypto';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { Database } from '../src/index.ts';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await freshDatabase({});
  database = new Database({ url: server.url, maxConnections: 1 });
});
afterAll(async () => {
  await database.close();
  await server.drop();
});

test('large values arrive unchanged next to nulls, texts, numbers and lists, alone and pipelined', async () => {
  const large = [16_383, 16_384, 3_000_000].map((size) => Buffer.from(Array.from({ length: size }, (_, index) => index % 251)));
  const values = [...large, null, 'é', '', 7, ['a', null], large[1]];
  const types = ['bytea', 'bytea', 'bytea', 'bytea', 'text', 'text', 'int', 'text[]', 'bytea'];
  const text = `select ${types.map((type, index) => `$${index + 1}::${type} as v${index}`).join(', ')}`;
  // Hashes instead of buffers, because Jest compares and prints buffers byte by byte.
  const summaryOf = (given: readonly unknown[]): unknown[] =>
    given.map((value) => (Buffer.isBuffer(value) ? createHash('sha256').update(value).digest('hex') : value));
  const { rows } = await database.query({ text, values });
  expect(summaryOf(Object.values(rows[0]!))).toEqual(summaryOf(values));
  await database.transaction(async (tx) => {
    for (const name of ['large_values', 'large_values', undefined]) {
      const [before, answer, binary, after] = await Promise.all([
        tx.query({ text: 'select 1 as n' }),
        tx.query({ text, values, ...(name !== undefined && { name }) }),
        tx.queryBinary({ text, values }),
        tx.query({ text: 'select 2 as n' }),
      ]);
      expect([before.rows, after.rows]).toEqual([[{ n: 1 }], [{ n: 2 }]]);
      expect(summaryOf(Object.values(answer.rows[0]!))).toEqual(summaryOf(values));
      expect(summaryOf(binary[0]!.slice(0, 4))).toEqual(summaryOf(values.slice(0, 4)));
    }
  });
  const unwritable = {
    toPostgres() {
      throw new Error('it cannot be written down');
    },
  };
  await expect(database.query({ text: 'select $1::bytea, $2::text', values: [large[2], unwritable] })).rejects.toThrow('the database client failed');
  await expect(database.query({ text: 'select 3 as n' })).resolves.toMatchObject({ rows: [{ n: 3 }] });
});
