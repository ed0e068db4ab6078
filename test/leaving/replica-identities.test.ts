// Every table can be moved with its company to another database, by a publication that selects the company's rows: PostgreSQL then knows the
// company of each row that is updated or deleted. What stays is listed with the reason.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { formatDate, now } from '@truckroll/contract';
import { Ports, Watchdog, runFolder, silent } from '@truckroll/local-stack';
import { Database, createSession, migrate, type DatabaseSession } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { STAYS } from '../../packages/erasure/src/tables.ts';
import { Partitions } from '../../services/integrations/src/webhooks/log/partitions.ts';
import { startPostgres } from '../../tools/local-stack/src/servers/postgres.ts';
import { SCHEMAS } from '../support/components.ts';

const COMPANY = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const OTHER = '0e37df36-f698-11e6-8dd4-cb9ced3df976';
const DAY = formatDate(Math.floor(now() / 86_400_000_000));

/** SQL of a value of each type. */
const VALUES: Readonly<Record<string, string>> = {
  uuid: 'gen_random_uuid()',
  text: `md5(random()::text)`,
  date: `'${DAY}'`,
  timestamptz: 'now()',
  bool: 'true',
  int2: '1',
  int4: '1',
  int8: '1',
  numeric: '1',
  bytea: `'\\x01'`,
  jsonb: `'{}'`,
  _text: `'{}'`,
  _int4: `'{}'`,
  _uuid: `'{}'`,
};

const folder = runFolder('replica-identity-runs');
const watchdog = new Watchdog();
watchdog.deleteAtEnd(folder);
let url: string;
let db: DatabaseSession;

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  const context = { folder, ports: new Ports(join(folder, 'ports.json')), logs: join(folder, 'logs'), watchdog, say: silent, careless: true };
  ({ url } = await startPostgres({ ...context, address: '127.0.0.1', password: 'of the test', settings: { wal_level: 'logical' } }));
  for (const { schema, migrations } of SCHEMAS) await migrate({ url, schema, sets: migrations });
  const database = new Database({ url, schema: 'integrations', maxConnections: 1 });
  await new Partitions(database, silentLog).ensure([DAY]);
  await database.close();
  db = await createSession({ url, statementTimeoutMs: 0 });
  // Rows need no parents, and no trigger refuses a change or appends to another table.
  await db.query({ text: 'set session_replication_role = replica' });
  // A slot sends what is on the disk.
  await db.query({ text: 'set synchronous_commit = on' });
}, 120_000);

afterAll(async () => {
  await db?.close();
  await watchdog.stopAll();
});

interface Table {
  readonly name: string;
  readonly company: string;
  /** Columns that need a value, with their types. */
  readonly needed: Readonly<Record<string, string>>;
}

async function tablesOf(schema: string): Promise<Table[]> {
  const { rows } = await db.query<{ name: string; needed: Record<string, string> | null }>({
    text: `select c.relname::text as name, json_object_agg(a.attname, t.typname)
          filter (where a.attnotnull and not a.atthasdef and a.attidentity = '' or a.attname = 'company_id') as needed
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped join pg_type t on t.oid = a.atttypid
      where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition group by 1 order by 1`,
    values: [schema],
  });
  return rows.map(({ name, needed }) => ({ name, company: schema === 'integrations' && name === 'companies' ? 'id' : 'company_id', needed: needed ?? {} }));
}

/** Publishes the company's rows of a table, changes one row of each company, and returns why that is impossible. */
async function problemOf(schema: string, { name, company, needed }: Table): Promise<string | undefined> {
  const table = `${schema}.${name}`;
  const { rows: checks } = await db.query<{ name: string }>({
    text: `select conname::text as name from pg_constraint where conrelid = $1::regclass and contype = 'c'`,
    values: [table],
  });
  // Which values a check allows is not of interest here.
  for (const check of checks) await db.query({ text: `alter table ${table} drop constraint "${check.name}"` });
  try {
    await db.query({ text: `alter publication moves add table ${table} where (${company} = '${COMPANY}')` });
    for (const id of [COMPANY, OTHER]) {
      const values = Object.entries({ ...needed, [company]: 'uuid' }).map(([column, type]) => [column, column === company ? `'${id}'` : VALUES[type]]);
      await db.query({ text: `insert into ${table} (${values.map(([column]) => `"${column}"`).join()}) values (${values.map(([, value]) => value).join()})` });
      await db.query({ text: `update ${table} set ${company} = ${company} where ${company} = $1`, values: [id] });
      await db.query({ text: `delete from ${table} where ${company} = $1`, values: [id] });
    }
    return undefined;
  } catch (error) {
    const { message, detail } = (error as Error).cause as Error & { detail?: string };
    return `${table}: ${message}. ${detail ?? ''}`;
  }
}

/** What subscribers are sent, as `insert schema.table`. */
async function sent(): Promise<string[]> {
  const { rows } = await db.query<{ data: Buffer }>({
    text: `select data from pg_logical_slot_get_binary_changes('moves', null, null, 'proto_version', '1', 'publication_names', 'moves')`,
  });
  const names = new Map<number, string>();
  const kinds = new Map([
    ['I', 'insert'],
    ['U', 'update'],
    ['D', 'delete'],
  ]);
  return rows.flatMap(({ data }) => {
    const kind = String.fromCharCode(data[0]!);
    const id = data.readUInt32BE(1);
    if (kind === 'R') names.set(id, data.toString('utf8', 5).split('\0').slice(0, 2).join('.'));
    const change = kinds.get(kind);
    return change === undefined ? [] : [`${change} ${names.get(id)}`];
  });
}

async function publish(work: () => Promise<void>): Promise<void> {
  await db.query({ text: `create publication moves with (publish_via_partition_root = true)` });
  await db.query({ text: `select pg_create_logical_replication_slot('moves', 'pgoutput')` });
  try {
    await work();
  } finally {
    await db.query({ text: `select pg_drop_replication_slot('moves')` });
    await db.query({ text: 'drop publication moves' });
  }
}

test.each(SCHEMAS.map(({ schema }) => schema))('%s publishes the changes of one company from every table, except those that stay', async (schema) => {
  await publish(async () => {
    const tables = (await tablesOf(schema)).filter(({ name }) => !(name in STAYS));
    const problems: string[] = [];
    for (const table of tables) {
      const problem = await problemOf(schema, table);
      if (problem !== undefined) problems.push(problem);
    }
    expect(problems).toEqual([]);
    // Nothing of the other company is sent.
    expect(await sent()).toEqual(tables.flatMap(({ name }) => ['insert', 'update', 'delete'].map((change) => `${change} ${schema}.${name}`)));
  });
});

test.each([
  ['without the company in its key', 'create table billing.lacking (company_id uuid not null, id uuid primary key)', /replica identity/],
  [
    'with an index that identifies no row',
    'create table billing.lacking (company_id uuid not null, id uuid not null, unique (company_id, id))',
    /replica identity/,
  ],
  ['without a company', 'create table billing.lacking (id uuid primary key)', /company_id/],
])('finds a table %s', async (_, create, reason) => {
  await db.query({ text: create });
  try {
    await publish(async () => {
      const table = (await tablesOf('billing')).find(({ name }) => name === 'lacking');
      expect(await problemOf('billing', table!)).toMatch(reason);
    });
  } finally {
    await db.query({ text: 'drop table billing.lacking' });
  }
});

/** Tables with a number of a sequence in a key, and what a move does about it (docs/adr/0025). */
const NUMBERED: Readonly<Record<string, string>> = { webhook_replays: 'the sequence is set above the numbers that were copied' };

test('no key contains a number of a sequence, which a row of another database may have too, except those listed', async () => {
  const { rows } = await db.query<{ table: string }>({
    text: `select distinct c.relname::text as table from pg_index i join pg_class c on c.oid = i.indrelid
      where c.relnamespace = any($1::regnamespace[]) and c.relkind in ('r', 'p') and i.indisunique
        and exists (select from pg_attribute a where a.attrelid = c.oid and a.attnum = any(i.indkey)
          and pg_get_serial_sequence(c.oid::regclass::text, a.attname) is not null)`,
    values: [SCHEMAS.map(({ schema }) => schema)],
  });
  expect(rows.map(({ table }) => table).filter((table) => !(table in STAYS))).toEqual(Object.keys(NUMBERED));
});

test('lists as staying only tables that exist', async () => {
  const all = new Set<string>();
  for (const { schema } of SCHEMAS) for (const { name } of await tablesOf(schema)) all.add(name);
  expect(Object.keys(STAYS).filter((table) => !all.has(table))).toEqual([]);
});
