import { randomUUID } from 'node:crypto';
import { catchUpMigrations } from '@truckroll/catch-up';
import { resource } from '@truckroll/contract';
import type { ImportResponse } from '@truckroll/contract/gen/records/v1/records';
import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import { outboxTables } from '@truckroll/outbox';
import { Database } from '@truckroll/postgres';
import { createLog } from '@truckroll/telemetry';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { defineTable, importBatch, recordStoreMigrations, type Table } from '../src/index.ts';
import { FAIL, locationTables, search } from './locations.ts';

const own = locationTables(`create function refuse() returns void language plpgsql as $$ begin raise exception 'not this one'; end $$; ${FAIL}`);

const table = defineTable<Location>({
  resource: resource('locations'),
  table: 'locations',
  search,
  columns: { address_postal_code: 'address.postal_code' },
  links: { account_id: { table: 'location_accounts', of: () => [] } },
  check: ({ name }) => (name === 'check' ? fail() : []),
  async afterChange(tx, _companyId, changed) {
    const { rows } = await tx.query<{ name: string }>({
      text: `select name from pg_prepared_statements where name in ('upsert_locations', 'unlink_location_accounts')
        and generic_plans > 0 and custom_plans = 0 order by name`,
    });
    plannedForAny.push(rows.map(({ name }) => name));
    for (const {
      record: { name },
    } of changed) {
      if (name === 'rule') fail();
      if (name === 'raise') await tx.query({ text: 'select refuse()' });
      if (name === 'outage') await tx.query({ text: 'select pg_terminate_backend(pg_backend_pid())' });
      if (name === 'range') throw new RangeError('a sum');
      if (name.startsWith('state ')) await tx.query({ text: 'select fail($1)', values: [name.slice(6)] });
      if (name === 'unknown') await tx.query({ text: 'select 1 from nowhere' });
    }
  },
}) as Table<any> as Table;

function fail(): never {
  throw new TypeError('a defect');
}

/** For each batch, the names of its statements that only ever had generic plans. */
const plannedForAny: string[][] = [];

let fresh: TestDatabase;
let database: Database;
let company: string;
const logged: string[] = [];
const defectLog = { log: createLog('test', 'info', { write: (line) => void logged.push(line) }), requestId: 'r-1' };

beforeAll(async () => {
  fresh = await freshDatabase({ shop: [catchUpMigrations, outboxTables, recordStoreMigrations, own] });
  database = new Database({ url: fresh.url, schema: 'shop', maxConnections: 4 });
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});
beforeEach(() => {
  company = randomUUID();
  logged.length = 0;
});

function lineOf(name: string, more: object = {}): Buffer {
  const at = '2026-03-01T15:00:00Z';
  const address = { id: randomUUID(), formatted: '', line_1: '', line_2: null, city: '', state: '', postal_code: '' };
  const rest = {
    property_type: 'House',
    municipality: 'Austin',
    estimated_square_footage: 1,
    created_by: { id: randomUUID(), name: 'Ana' },
    accounts: [],
    created_at: at,
    updated_at: at,
  };
  return Buffer.from(JSON.stringify({ id: randomUUID(), name, address, ...rest, ...more }));
}

const importLines = (lines: Buffer[], path = 'locations'): Promise<ImportResponse> =>
  importBatch(database, [table], { company_id: company, path, lines, first_line: 1 }, defectLog);

const importNames = (...names: string[]): Promise<ImportResponse> => importLines(names.map((name) => lineOf(name)));

const count = async (): Promise<unknown> =>
  (await database.query<{ count: number }>({ text: 'select count(*) from locations where company_id = $1', values: [company] })).rows[0]?.count;

const good = (n: number): string[] => Array.from({ length: n }, () => 'good');

test('names the request id for a line on which a rule fails, logs the cause, and stores all other lines', async () => {
  const answer = await importNames(...good(5), 'rule', ...good(3), 'check', 'good', 'raise');
  expect(answer).toMatchObject({ lines: 12, created: 9, problems: [{ line: 6 }, { line: 10 }, { line: 12 }] });
  for (const problem of answer.problems) {
    expect(problem).toMatchObject({
      field: '(line)',
      code: 'INTERNAL_ERROR',
      message: expect.stringMatching(/^It could not be stored because .*request id r-1/),
    });
    expect(problem.message).not.toContain('defect');
  }
  const lines = logged.map((line) => JSON.parse(line) as { line: number; error: { message: string; cause?: { message: string } } });
  expect(lines.map(({ line, error }) => [line, error.cause?.message ?? error.message]).sort()).toEqual([
    [10, 'a defect'],
    [12, 'not this one'],
    [6, 'a defect'],
  ]);
  expect(await count()).toBe(9);
});

test('never reports an outage as a line’s error: the batch may be sent again', async () => {
  await expect(importNames('good', 'outage', 'rule')).rejects.toMatchObject({ status: 503 });
  await expect(importNames('outage')).rejects.toMatchObject({ status: 503 });
  expect(await count()).toBe(0);
});

test('ends the import when the database does not know a statement, or a rule fails on every line', async () => {
  await expect(importNames('good', 'unknown')).rejects.toMatchObject({ name: 'StatementError', sqlState: '42P01' });
  await expect(importNames(...Array.from({ length: 50 }, () => 'rule'))).rejects.toMatchObject({ message: 'a defect' });
  await expect(importNames(...Array.from({ length: 50 }, () => 'check'))).rejects.toMatchObject({ message: 'a defect' });
  expect(logged.length).toBe(40);
  expect(await count()).toBe(0);
});

test('plans statements of an import for any company, not by estimates for a company that PostgreSQL has not seen', async () => {
  plannedForAny.length = 0;
  expect((await importNames('first')).problems).toEqual([]);
  expect((await importNames('second')).problems).toEqual([]);
  const planned = ['unlink_location_accounts', 'upsert_locations'];
  expect(plannedForAny).toEqual([planned, planned]);
});

test('reports every line on which a rule fails once another line has passed, however many fail', async () => {
  for (const failing of ['rule', 'check']) {
    const { created, problems } = await importNames('good', ...Array.from({ length: 30 }, () => failing));
    expect([failing, created, problems.length]).toEqual([failing, 1, 30]);
  }
});

test.each([
  ['22001', 'The database cannot hold one of its values: shorten the longest texts.'],
  ['23514', 'The database cannot hold one of its values: shorten the longest texts.'],
  ['54000', 'The database cannot hold one of its values: shorten the longest texts.'],
])('names the line whose values PostgreSQL refuses with %s, and stores the others', async (state, message) => {
  expect(await importNames('good', `state ${state}`, 'good')).toMatchObject({
    created: 2,
    problems: [{ line: 2, field: '(line)', code: 'TOO_LARGE', message }],
  });
  expect(logged).toEqual([]);
});

test('names the line with which a sum exceeds its range', async () => {
  const message = 'One of its values, or a sum of several, is beyond ±9007199254740991.';
  expect(await importNames('good', 'range')).toMatchObject({ created: 1, problems: [{ line: 2, field: '(line)', code: 'TOO_LARGE', message }] });
});

test('asks to send the batch again after contention, and blames no line', async () => {
  for (const state of ['40001', '40P01']) await expect(importNames('good', `state ${state}`)).rejects.toMatchObject({ status: 503, retryAfterSeconds: 1 });
  expect([await count(), logged]).toEqual([0, []]);
});

test('skips empty lines without changing the numbers of the others', async () => {
  const { lines, created, problems } = await importLines([lineOf('good'), Buffer.alloc(0), lineOf('rule')]);
  expect({ lines, created, problems: problems.map(({ line }) => line) }).toEqual({ lines: 3, created: 1, problems: [3] });
});

test('refuses a line that is not UTF-8', async () => {
  const line = lineOf('Café');
  line[line.indexOf(0xc3)] = 0xff;
  expect((await importLines([line])).problems).toEqual([
    { line: 1, field: '(line)', code: 'INVALID_FORMAT', message: 'Give one JSON object in UTF-8 on a line.' },
  ]);
});

test('applies the rules between fields only to lines whose fields are right', async () => {
  const { problems } = await importLines([lineOf('check', { created_at: 'yesterday' })]);
  expect(problems.map(({ field, code }) => `${field} ${code}`)).toEqual(['created_at INVALID_FORMAT']);
});

test('refuses records of a path that the service does not own, and names those that it owns', async () => {
  await expect(importLines([lineOf('good')], 'jobs')).rejects.toMatchObject({
    status: 400,
    details: [{ location: 'body', field: 'path', code: 'INVALID_ENUM_VALUE', message: 'This service imports locations.' }],
  });
});

test('stores the rows of both halves of a batch that it splits, and counts what each changed', async () => {
  const [first, second, third] = [lineOf('good'), lineOf('good'), lineOf('good')] as const;
  await importLines([first, second]);
  const renamed = Buffer.from(first.toString().replace('"good"', '"better"'));
  expect(await importLines([renamed, lineOf('rule'), second, third])).toMatchObject({
    created: 1,
    changed: 1,
    unchanged: 1,
    problems: [{ line: 2 }],
  });
});
