// When an import has the planner's statistics of its tables renewed.
import { setImmediate as turn } from 'node:timers/promises';
import { catchUpMigrations } from '@truckroll/catch-up';
import { outboxTables } from '@truckroll/outbox';
import { resource } from '@truckroll/contract';
import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import type { Database, Statement } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { defineTable, recordStoreMigrations, type Table } from '../src/index.ts';
import { statisticsKeeper } from '../src/statistics.ts';
import { locationTables, search } from './locations.ts';

const { spyOn } = jest;

const table = defineTable<Location>({
  resource: resource('locations'),
  table: 'locations',
  search,
  columns: { address_postal_code: 'address.postal_code' },
  links: { account_id: { table: 'location_accounts', of: () => [] } },
}) as Table<any> as Table;

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  const own = locationTables('create table other (id integer); alter table location_accounts set (autovacuum_enabled = false)');
  ({ database, close } = await openFreshDatabase({ schema: 'shop', migrations: [catchUpMigrations, outboxTables, recordStoreMigrations, own] }));
}, 60_000);
afterAll(() => close());

/** Inserts rows, and waits until PostgreSQL has counted them. */
async function grow(name: string, rows: number): Promise<void> {
  const values = name === 'other' ? 'n' : 'gen_random_uuid(), gen_random_uuid(), now(), gen_random_uuid()';
  await database.query({ text: `insert into ${name} select ${values} from generate_series(1, ${rows}) n` });
  for (let counted = 0; counted < rows; ) {
    const text = 'select n_mod_since_analyze as counted from pg_stat_user_tables where relname = $1';
    counted = (await database.query<{ counted: number }>({ text, values: [name] })).rows[0]!.counted;
  }
}

test('looks every two seconds, one look at a time, and analyzes its own tables that have grown, but no others', async () => {
  await grow('location_accounts', 501);
  await grow('other', 501);
  const now = spyOn(performance, 'now').mockReturnValue(1_000_000);
  try {
    const statements: string[] = [];
    const seen = (statement: Statement) => {
      statements.push(statement.name ?? statement.text);
      return database.query(statement);
    };
    const renew = statisticsKeeper({ query: seen } as unknown as Database, [table]);
    now.mockReturnValue(1_001_999);
    renew();
    expect(statements).toEqual([]);
    now.mockReturnValue(1_002_000);
    renew();
    renew();
    // The next look begins once the first has ended.
    for (let at = 1_004_000; statements.filter((name) => name === 'grown_tables').length < 2; at += 2000) {
      now.mockReturnValue(at);
      renew();
      await turn();
    }
    expect(statements).toEqual(['grown_tables', 'analyze location_accounts', 'grown_tables']);
  } finally {
    now.mockRestore();
  }
});
