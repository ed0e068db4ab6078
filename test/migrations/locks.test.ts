import type { MigrationSet } from '@truckroll/postgres';
import { loadModule } from 'libpg-query';
import { SCHEMAS } from '../support/components.ts';
import { blockingStatements, lockedTables, nothingKnown } from './locks.ts';

/** The last migration of each set in release 1.0.0. Databases have applied everything up to it, so those migrations never change. */
const BEFORE: Readonly<Record<string, string>> = {
  'catch-up': '0000',
  'change-feed': '0000',
  outbox: '0001_outbox',
  'record-store': '0003_publications',
  billing: '0003_published_movements',
  integrations: '0009_webhook_redeliveries',
  reporting: '0005_combinations_by_each_dimension',
  scheduling: '0009_projections',
};

/** Migrations that are older than the rule. Add none. */
const LOCK_SEVERAL = [
  ...['billing/0005_created_by_and_collected_by', 'billing/0008_finding'],
  ...['integrations/0010_webhook_health', 'integrations/0017_webhook_states', 'integrations/0018_webhook_filters'],
  ...['reporting/0008_room_in_sums', 'reporting/0009_versions_of_sums', 'reporting/0013_sums_of_days'],
  ...['scheduling/0013_finding', 'scheduling/0015_intake_lists'],
];

beforeAll(() => loadModule());

test('no migration locks a table that may be large', () => {
  const sets = new Map<string, MigrationSet>(SCHEMAS.flatMap(({ migrations }) => migrations.map((set) => [set.name, set])));
  // Generated from versions in the code: they only change one row and a function.
  sets.delete('projections');
  expect([...sets.keys()].sort()).toEqual(Object.keys(BEFORE).sort());
  const refused = [...sets.values()].flatMap(({ name: part, migrations }) => {
    const known = nothingKnown();
    return migrations
      .filter(({ name }) => name > BEFORE[part]!)
      .flatMap(({ name, sql }) => blockingStatements(sql, known).map((reason) => `${part}/${name}: ${reason}`));
  });
  expect(refused).toEqual([]);
});

test('a new migration locks one existing table, and none while it waits for another', () => {
  const several = SCHEMAS.flatMap(({ migrations }) => migrations).flatMap(({ name: part, migrations }) =>
    migrations.filter(({ name, sql }) => name > (BEFORE[part] ?? '9') && lockedTables(sql).length > 1).map(({ name }) => `${part}/${name}`),
  );
  expect([...new Set(several)].sort()).toEqual(LOCK_SEVERAL);
});

test.each([
  ['an existing table, and a new one', 'create table n (a int); alter table n add column b int; alter table t add column b int', ['t']],
  ['two tables', 'alter table t add column b int; alter table u replica identity full', ['t', 'u']],
  ['tables of triggers', 'drop trigger g on t; create trigger g after insert on s.u for each row execute function f()', ['t', 'u']],
  ['none in steps', '-- in steps\nalter table t validate constraint c;\nalter table u validate constraint c;', []],
])('finds as locked %s', (_, sql, tables) => {
  expect(lockedTables(sql)).toEqual(tables);
});

test.each([
  ['an index that is not built concurrently', 'create index i on t (a)', 'build an index CONCURRENTLY, in steps'],
  ['a concurrent build in a transaction', 'create index concurrently i on t (a)', 'build an index CONCURRENTLY, in steps'],
  ['another type of a column', 'alter table t alter column a type bigint', /writes all of t anew/],
  ['a default that differs between rows', 'alter table t add column a uuid default gen_random_uuid()', /differs between rows/],
  ['a generated column', 'alter table t add column a int generated always as (b + 1) stored', /CONSTR_GENERATED/],
  ['a column with a check', 'alter table t add column a int check (a > 0)', /CONSTR_CHECK/],
  ['a column that is unique', 'alter table t add column a int unique', /CONSTR_UNIQUE/],
  ['NOT NULL without a check that says so', 'alter table t alter column a set not null', /SET NOT NULL reads all of t/],
  ['a constraint that is validated at once', 'alter table t add constraint c check (a > 0)', /NOT VALID/],
  ['a foreign key that is validated at once', 'alter table t add constraint c foreign key (a) references u', /NOT VALID/],
  ['a key whose index is built at once', 'alter table t add primary key (a)', /USING an INDEX/],
  ['a validation in a transaction', 'alter table t validate constraint c', /AT_ValidateConstraint/],
  ['a change of rows at once', 'update t set a = 1', 'change rows in batches, in steps'],
  ['a deletion at once', 'delete from t where a = 1', 'change rows in batches, in steps'],
  ['a copy of rows at once', 'insert into t select * from u', 'change rows in batches, in steps'],
  ['a change of rows within another statement', 'with x as (update t set a = 1 returning a) select * from x', 'change rows in batches, in steps'],
  ['a block that cannot be checked', 'do $$ begin update t set a = 1; end $$', /DO block/],
  ['an emptied table', 'truncate t', /TRUNCATE/],
  ['in steps, a plain index', '-- in steps\ncreate index i on t (a);', 'build an index CONCURRENTLY, in steps'],
  ['in steps, an index without a name', '-- in steps\ncreate index concurrently on t (a);', /give an index a name/],
  ['in steps, a change of all rows', '-- in steps\nupdate t set a = 1;', /needs a LIMIT/],
  ['in steps, another statement', '-- in steps\nalter table t add column a int;', /another migration/],
])('refuses %s', (_, sql, reason) => {
  const [first] = blockingStatements(sql);
  expect(first).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason));
});

test.each([
  [
    'a new table with its indexes and rows',
    'create table t (a int primary key, b int unique); create index i on t (b); insert into t select 1; update t set b = 2',
  ],
  ['a column with a constant default', `alter table t add column a int not null default 0, add column b timestamptz not null default now()`],
  ['a constraint that is validated later', 'alter table t add constraint c check (a > 0) not valid'],
  ['a key by an index that is there', 'alter table t add constraint k unique using index i'],
  ['a few rows by their values', 'insert into t values (1), (2)'],
  ['columns, constraints and triggers that go', 'alter table t drop column a, drop constraint c, alter column b drop not null; drop trigger g on t'],
  [
    'in steps, what is done a part at a time',
    '-- in steps\ncreate unique index concurrently i on t (a);\ndrop index concurrently if exists j;\nalter table t validate constraint c;\nupdate t set a = 1 where id in (select id from t where a is null limit 1000);',
  ],
])('allows %s', (_, sql) => {
  expect(blockingStatements(sql)).toEqual([]);
});

test('allows NOT NULL after a matching check constraint was validated', () => {
  const known = nothingKnown();
  const set = 'alter table t alter column a set not null';
  expect(blockingStatements('alter table t add constraint c check (a is not null) not valid', known)).toEqual([]);
  expect(blockingStatements(set, known)).toHaveLength(1);
  expect(blockingStatements('-- in steps\nalter table t validate constraint c;', known)).toEqual([]);
  expect(blockingStatements(set, known)).toEqual([]);
});
