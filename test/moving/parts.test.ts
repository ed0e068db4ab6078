// What a move looks at and in which order it deletes, between two databases without services. The whole of it: move.test.ts.
import { randomUUID } from 'node:crypto';
import { now, owners } from '@truckroll/contract';
import { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import { Database } from '@truckroll/postgres';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { publishErasuresOf } from '../../services/integrations/src/restored.ts';
import { problemsOfVersions } from '../../tools/cli/src/moving/check.ts';
import { asReplica, openCell, type Cell } from '../../tools/cli/src/moving/cells.ts';
import { unequalIn, type Unequal } from '../../tools/cli/src/moving/compare.ts';
import { problemsOfDeadLetters } from '../../tools/cli/src/moving/dead-letters.ts';
import { shiftFeed } from '../../tools/cli/src/moving/feed.ts';
import { inOrderOfRemoval } from '../../tools/cli/src/moving/remove.ts';
import { TRAIL, tablesOf, tablesWith } from '../../tools/cli/src/moving/tables.ts';
import { SERVICES } from '../../tools/cli/src/restored/renew.ts';
import type { Session } from '../../tools/cli/src/session.ts';
import { SCHEMAS } from '../support/components.ts';

const MOVING = randomUUID();
const OTHER = randomUUID();
const MIGRATED = Object.fromEntries(SCHEMAS.map(({ schema, migrations }) => [schema, migrations]));

const databases: TestDatabase[] = [];
let from: Cell;
let to: Cell;

async function open(title: string): Promise<Cell> {
  const fresh = await freshDatabase(MIGRATED);
  databases.push(fresh);
  return await openCell(title, { database: () => ({ url: fresh.url }) } as unknown as Session);
}

beforeAll(async () => {
  from = await open('this cell');
  to = await open('the other cell');
}, 120_000);
afterAll(async () => {
  for (const cell of [from, to]) await cell?.close();
  for (const fresh of databases) await fresh.drop();
});

const sql = async ({ db }: Cell, text: string, ...values: unknown[]) => (await db.query<any>({ text, values })).rows;

let offset = 0;
async function deadLetter(schema: string, companyId: string, headers: object): Promise<void> {
  const text = `insert into ${schema}.parked_event (consumer, topic, partition, log_offset, key, headers, reason) values ($1, 'topic', 0, $2, $3, $4, 'a defect')`;
  await sql(from, text, schema, offset++, `${companyId}/accounts/1`, JSON.stringify(headers));
}

test('names the services with dead letters of the company, which a move would lose', async () => {
  await deadLetter('billing', OTHER, { id: randomUUID(), companyId: OTHER });
  // No event, so nothing of it can be applied.
  await deadLetter('billing', MOVING, { 'header ce_companyid': MOVING });
  expect(await problemsOfDeadLetters(from, MOVING)).toEqual([]);
  for (const schema of ['billing', 'reporting', 'reporting']) await deadLetter(schema, MOVING, { id: randomUUID(), companyId: MOVING });
  expect(await problemsOfDeadLetters(from, MOVING)).toEqual([
    expect.stringContaining('dead letters of the company (billing 1, reporting 2), which would be lost: see `truckroll dead-letters list`'),
  ]);
});

test('cells of different releases are not for a move', async () => {
  const cellOf = (version: string) => ({ session: { client: () => ({ describeCell: async () => ({ version }) }) } }) as unknown as Cell;
  expect(await problemsOfVersions(cellOf('1.4.0'), cellOf('1.5.0'))).toEqual([
    'This cell runs 1.4.0, and the other one 1.5.0: bring both to the same release.',
  ]);
  expect(await problemsOfVersions(cellOf('1.4.0'), cellOf('1.4.0'))).toEqual([]);
});

interface Entry {
  readonly id: string;
  readonly company: string;
  readonly action: string;
  readonly person: string;
  readonly before?: string;
}

async function entry(cell: Cell, { id, company, action, person, before }: Entry): Promise<void> {
  const text = `insert into ${TRAIL} (company_id, at, id, actor_kind, actor_id, actor_name, action, object_kind, object_id, before)
    values ($1, '2026-11-30', $2, 'OPERATOR', 'o', 'o', $3, 'accounts', $4, $5)`;
  await sql(cell, text, company, id, action, person, before);
}

const tables = (unequal: Unequal): string[] => [...unequal.keys()].map(({ name }) => name);
const entriesIn = (unequal: Unequal): string[] => [...unequal].flatMap(([{ name }, entries]) => (name === TRAIL ? [...entries] : []));
/** Nothing of the company was compared before in other tables. */
const unequal = (among?: Unequal): Promise<Unequal> => unequalIn(from, to, MOVING, among);

test('a trail is equal if nothing of it is missing in the other cell', async () => {
  const one = { id: randomUUID(), company: MOVING, action: 'key.created', person: randomUUID() };
  for (const cell of [from, to]) await entry(cell, one);
  await entry(to, { ...one, id: randomUUID(), action: 'cell_admin.switch_company' });
  expect(tables(await unequal())).toEqual([]);
  const changed = { ...one, id: randomUUID() };
  await entry(from, { ...changed, before: 'a' });
  expect(tables(await unequal())).toEqual([TRAIL]);
  await entry(to, { ...changed, before: 'b' });
  const missing = await unequal();
  expect(tables(missing)).toEqual([TRAIL]);
  // It goes on while the company is frozen, and what was added since is on its way.
  const late = { ...one, id: randomUUID() };
  await entry(from, late);
  expect(entriesIn(await unequal(missing))).toHaveLength(1);
  await entry(to, late);
  await asReplica(to, (batch) => batch(async (db) => void (await db.query({ text: `update ${TRAIL} set before = 'a' where id = $1`, values: [changed.id] }))));
  expect([tables(await unequal(missing)), tables(await unequal())]).toEqual([[], []]);
});

test('an entry of the trail that changes after it was found missing is not held against the copy', async () => {
  const one = { id: randomUUID(), company: MOVING, action: 'key.created', person: randomUUID(), before: 'a' };
  await entry(from, one);
  const missing = await unequal();
  expect(tables(missing)).toEqual([TRAIL]);
  const change = `update ${TRAIL} set before = 'b' where id = $1`;
  await asReplica(from, (batch) => batch(async (db) => void (await db.query({ text: change, values: [one.id] }))));
  await entry(to, { ...one, before: 'b' });
  expect(tables(await unequal(missing))).toEqual([]);
});

test('no entry of a trail is left out, however many are missing', async () => {
  const many = `insert into ${TRAIL} (company_id, at, id, actor_kind, actor_id, actor_name, action, object_kind, object_id)
    select $1, '2026-11-01'::timestamptz + n * interval '1 ms', lpad(n::text, 32, '0')::uuid, 'OPERATOR', 'o', 'o', 'x', 'x', 'x' from generate_series($2::int, $3) n`;
  await sql(from, many, MOVING, 1, 25_000);
  const missing = await unequal();
  expect(tables(missing)).toEqual([TRAIL]);
  expect(entriesIn(missing).length).toBeLessThan(20_000);
  await sql(to, many, MOVING, 1, 24_999);
  const last = await unequal(missing);
  expect(entriesIn(last)).toEqual([expect.stringContaining('000000025000')]);
  await sql(to, many, MOVING, 25_000, 25_000);
  expect(tables(await unequal(last))).toEqual([]);
});

test('rows that were found equal once are not compared again, and those that never were are', async () => {
  const [table, same, missing] = ['billing.erased_people', randomUUID(), randomUUID()];
  for (const id of [same, missing]) await sql(from, `insert into ${table} (company_id, kind, id) values ($1, 'accounts', $2)`, MOVING, id);
  const copy = async (id: string): Promise<void> => {
    const [{ row }] = await sql(from, `select e::text as row from ${table} e where id = $1`, id);
    await sql(to, `insert into ${table} select * from unnest($1::${table}[])`, [row]);
  };
  await copy(same);
  const first = await unequal();
  expect(tables(first)).toEqual([table]);
  // Its change is on its way.
  await sql(from, `update ${table} set kind = 'contacts' where id = $1`, same);
  expect(await unequal(first)).toEqual(first);
  // It changes here, and replication finds nothing there that it could change.
  await sql(from, `update ${table} set begun_at = begun_at - interval '1 hour' where id = $1`, missing);
  expect(await unequal(first)).toEqual(first);
  await copy(missing);
  expect(tables(await unequal(first))).toEqual([]);
  expect(tables(await unequal())).toEqual([table]);
});

test('only what the feed says itself is a reason why a company stays', async () => {
  const shift = (): Promise<void> => shiftFeed(from, to, OTHER, new AbortController().signal);
  await expect(shift()).rejects.toThrow('The change feed cannot move, so the company stays: the feed of');
  for (const cell of [from, to]) for (const owner of owners) await sql(cell, `update ${owner}.catch_up set complete = true`);
  const tooHigh = `insert into ${owners[0]}.shifts (company_id, added, lowest, shared_from, epochs) values ($1, 2 ^ 60, 0, 0, 0)`;
  await sql(from, tooHigh, OTHER);
  await expect(shift()).rejects.toThrow(RangeError);
});

test('what a cell has of a company that has left is no obstacle to its return, and any other row is', async () => {
  const id = randomUUID();
  await sql(to, `insert into billing.erased_people (company_id, kind, id) values ($1, 'accounts', $1)`, id);
  await entry(to, { id: randomUUID(), company: id, action: 'company.listed', person: id });
  expect(await tablesWith(to.db, id)).toEqual([]);
  await sql(to, `insert into integrations.company_budgets (company_id, budget, day, used) values ($1, 'audit', now(), 0)`, id);
  expect(await tablesWith(to.db, id)).toEqual(['integrations.company_budgets']);
});

test('publishes the erasures of people of the company, and of no other', async () => {
  const person = randomUUID();
  await entry(to, { id: randomUUID(), company: MOVING, action: 'person.erased', person });
  await entry(to, { id: randomUUID(), company: OTHER, action: 'person.erased', person: randomUUID() });
  const database = new Database({ url: to.url, schema: 'integrations', maxConnections: 1 });
  try {
    await database.transaction((tx) => publishErasuresOf(tx, MOVING));
  } finally {
    await database.close();
  }
  const published = await sql(to, 'select topic, key, company_id, payload from integrations.outbox');
  expect(published).toMatchObject([{ topic: 'truckroll.integrations.erasures', key: `${MOVING}/accounts/${person}`, company_id: MOVING }]);
  const { action, object_id, at } = AuditEntry.decode(published[0].payload);
  expect([action, object_id, at < now()]).toEqual(['person.erased', person, true]);
});

test('what is published as removed finds no row in services that read it', async () => {
  const names = inOrderOfRemoval(await tablesOf(from.db)).map(({ name }) => name);
  expect(names.slice(0, 2).toSorted()).toEqual(['integrations.api_keys', 'integrations.users']);
  const pairs = SERVICES.flatMap(({ schema, states }) =>
    states.flatMap(({ topic, table }) =>
      SERVICES.filter(({ groups }) => groups.some(({ topics }) => topics.some(({ name }) => name === topic.name))).map((reader) => ({
        table: `${schema}.${table}`,
        reader: reader.schema,
      })),
    ),
  );
  // Each service that publishes states has readers.
  expect(new Set(pairs.map(({ table }) => table.split('.')[0]))).toEqual(new Set(owners.filter((owner) => owner !== 'reporting')));
  const late = pairs.filter(({ table, reader }) => names.slice(names.indexOf(table)).some((name) => name.startsWith(`${reader}.`)));
  expect(late).toEqual([]);
});
