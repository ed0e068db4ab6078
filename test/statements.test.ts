// PostgreSQL accepts every read statement on the migrated schema, and every filter has its index.
import { randomUUID } from 'node:crypto';
import { recordOwners, type Parameter, type RecordOwner } from '@truckroll/contract';
import type { Table } from '../packages/record-store/src/index.ts';
import { lastWalked, listStatement } from '../packages/record-store/src/list-query.ts';
import type { ListRequest } from '../packages/record-store/src/list-request.ts';
import { columnFor, isSearched, linkFor, referenceColumn } from '../packages/record-store/src/table.ts';
import { termsOf } from '../packages/record-store/src/terms.ts';
import { startOwners, tablesOf, type Owners } from './support/owners.ts';

let owners: Owners;
const indexes = new Map<string, string[][]>();

beforeAll(async () => {
  owners = await startOwners();
  for (const owner of recordOwners) {
    // A partial index counts for a filter only if it leaves out nothing but rows that no filter selects.
    const { rows } = await owners.databases[owner].query<{ name: string; columns: string[] }>({
      text: `select c.relname as name, array_agg(a.attname::text order by k.n) as columns
        from pg_index i join pg_class c on c.oid = i.indrelid and c.relnamespace = current_schema()::regnamespace
        cross join unnest(i.indkey::int2[]) with ordinality k(att, n) join pg_attribute a on a.attrelid = c.oid and a.attnum = k.att
        where i.indpred is null or pg_get_expr(i.indpred, i.indrelid) ~ '^\\(\\w+ IS NOT NULL\\)$'
        group by c.relname, i.indexrelid`,
    });
    for (const { name, columns } of rows) indexes.set(`${owner}.${name}`, [...(indexes.get(`${owner}.${name}`) ?? []), columns]);
  }
});
afterAll(() => owners.stop());

/** Values by kind of field; a second value where a filter accepts several. */
const VALUES: Record<string, [unknown, unknown?]> = {
  uuid: [randomUUID(), randomUUID()],
  string: ['x', 'y'],
  boolean: [true, false],
  date: ['2026-03-01'],
  local_date: ['2026-03-01'],
  timestamp: [1_772_377_200_000_000],
  integer: [1, 2],
  number: [1, 2],
  cents: [1, 2],
};

function requestOf(parameters: readonly Parameter[], most: 1 | 2): ListRequest {
  const collection: Record<string, unknown> = { company_id: randomUUID(), time_zone: 'America/Chicago', limit: 100, after: new Uint8Array() };
  const request: Record<string, unknown> = { collection };
  for (const { name, field, filter, within } of parameters) {
    const values = field.enum === undefined ? VALUES[field.kind] : [...field.enum.spellings.keys()];
    if (values === undefined) throw new Error(`the test has no value of the kind ${field.kind}`);
    (within === 'collection' ? collection : request)[name] = filter?.comparison === 'missing' || field.repeated ? values.slice(0, most) : values[0];
  }
  return request as unknown as ListRequest;
}

/** Views that answer a filter: the index of their table that gives their rows in the order of the list. */
const VIEWS: Record<string, { table: string; columns: string[] }> = {
  job_financial_members: { table: 'reporting.assignments', columns: ['company_id', 'team_member_id', 'job_id'] },
};

test.each(Object.entries(VIEWS))('has an index for the view %s', (_, { table, columns }) => {
  expect(indexes.get(table)).toContainEqual(columns);
});

const filtersOf = (table: Table): Parameter[] => table.resource.list.parameters.filter(({ filter }) => filter !== undefined);
const tables = recordOwners.flatMap((owner) => tablesOf[owner].map((table) => [table.path, owner, table] as const));

const missing = tables.flatMap(([path, owner, table]) =>
  filtersOf(table).flatMap(({ name, field, filter }) =>
    filter!.comparison === 'missing' ? [...field.enum!.spellings.values()].map((value) => [`${path}?${name}=${value}`, owner, table, value] as const) : [],
  ),
);
test.each(missing)('has an index for %s', async (_, owner, table, value) => {
  const { rows } = await owners.databases[owner].query<{ indexed: string }>({
    text: `select pg_get_indexdef(indexrelid) as indexed from pg_index where indrelid = $1::regclass`,
    values: [table.table],
  });
  const wanted = `(company_id, ${table.order.join(', ')}) WHERE (${referenceColumn(table, value)!.name} IS NULL)`;
  expect(rows.map(({ indexed }) => indexed)).toContainEqual(expect.stringContaining(wanted));
});

describe.each(tables)('%s', (_, owner: RecordOwner, table) => {
  test('has lists that PostgreSQL accepts: with each filter, with one value and several, and with all filters', async () => {
    const filters = filtersOf(table);
    const database = owners.databases[owner];
    const requests = [[], ...filters.map((filter) => [filter]), filters].flatMap((some) => [requestOf(some, 1), requestOf(some, 2)]);
    for (const request of requests) {
      const terms = termsOf(table, request);
      const unions = terms.map((term) => term.flat());
      const searched =
        terms.length === 0 ? [] : [listStatement(table, request, { unions }), listStatement(table, request, { walked: 5 }), lastWalked(table, request, 5)];
      for (const { text, values = [] } of [listStatement(table, request), ...searched]) {
        await expect(database.query({ text: `explain ${text}`, values })).resolves.toMatchObject({ command: 'EXPLAIN' });
      }
    }
  });

  const compared = filtersOf(table).filter(({ filter }) => filter!.comparison !== 'missing');
  test.each(compared.map((parameter) => [parameter.name, parameter] as const))('has an index for its filter %s', (name, { filter }) => {
    const link = isSearched(filter) ? { table: table.search!.table } : linkFor(table, name);
    if (link !== undefined && 'view' in link) return expect(VIEWS[link.table]).toBeDefined();
    // A bound that only some records can meet is a walk of those.
    const [restricted] = Object.keys(table.bounded?.[name]?.only ?? {});
    const column = restricted ?? (link === undefined ? columnFor(table, name, filter!.field)?.name : 'value');
    // Entries are read by ranges, which are not in the order of the list.
    const order = (filter!.comparison !== 'any' && restricted === undefined) || column === 'id' ? [] : table.order;
    const wanted = ['company_id', column, ...order];
    const there = indexes.get(`${owner}.${link?.table ?? table.table}`) ?? [];
    expect(there.map((columns) => columns.slice(0, wanted.length))).toContainEqual(wanted);
  });

  test('records the version that projected each row, and marks rows written by older releases', async () => {
    const { rows } = await owners.databases[owner].query<{ guarded: boolean }>({
      text: `select exists (select from pg_trigger where tgrelid = $1::regclass and tgname = 'guard_projection') as guarded`,
      values: [table.table],
    });
    expect(rows).toEqual([{ guarded: true }]);
    expect(indexes.get(`${owner}.${table.table}`)).toContainEqual(['company_id', 'projection']);
  });
});
