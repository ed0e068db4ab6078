// A copy in one of the client's stores, and what tests see and do behind the store's back.
import { Pool } from 'pg';
import type { SyncStore } from '../../packages/client/src/index.ts';
import { openPostgresStore } from '../../packages/client/src/stores/postgres.ts';
import { openSqliteStore } from '../../packages/client/src/stores/sqlite.ts';

export interface Copy {
  store: SyncStore;
  records(kind: string): Promise<any[]>;
  count(): Promise<number>;
  refuseProgress(refuse: boolean): Promise<void>;
  damage(kind: string, how: 'missing' | 'additional' | 'outdated'): Promise<void>;
  close(): Promise<void>;
}

export function openCopy(store: 'sqlite' | 'postgres', place: string): Promise<Copy> {
  return store === 'sqlite' ? inSqlite(place) : inPostgres(place);
}

const DAMAGE = {
  missing: (table: string, one: string) => `delete from ${table} where ${one}`,
  outdated: (table: string, one: string) => `update ${table} set version = '1' where ${one}`,
  additional: (table: string, one: string) =>
    `insert into ${table} (kind, id, version, changed_at, load, record)
      select kind, '00000000-0000-4000-8000-000000000000', version, changed_at, load, record from ${table} where ${one}`,
};

const oneOf = (table: string, kind: string): string => `kind = '${kind}' and id = (select min(id) from ${table} where kind = '${kind}')`;

async function inSqlite(file: string): Promise<Copy> {
  const store = await openSqliteStore(file);
  const { database } = store;
  return {
    store,
    records: async (kind) =>
      (database.prepare('SELECT record FROM records WHERE kind = ?').all(kind) as { record: string }[]).map(({ record }) => JSON.parse(record)),
    count: async () => (database.prepare('SELECT count(*) AS count FROM records').get() as { count: number }).count,
    refuseProgress: async (refuse) =>
      database.exec(refuse ? `CREATE TRIGGER refusal BEFORE INSERT ON progress BEGIN SELECT RAISE(ABORT, 'refused by the test'); END` : 'DROP TRIGGER refusal'),
    damage: async (kind, how) => database.exec(DAMAGE[how]('records', oneOf('records', kind))),
    close: async () => store.close(),
  };
}

async function inPostgres(url: string): Promise<Copy> {
  const pool = new Pool({ connectionString: url, max: 3 });
  const ended: Promise<unknown>[] = [];
  pool.on('connect', (client) => void ended.push(new Promise((resolve) => client.once('end', () => resolve(undefined)))));
  return {
    store: await openPostgresStore(pool),
    records: async (kind) => (await pool.query('select record from truckroll_records where kind = $1', [kind])).rows.map(({ record }) => record),
    count: async () => Number((await pool.query('select count(*) from truckroll_records')).rows[0].count),
    async refuseProgress(refuse) {
      // When the transaction commits, so that everything else has been done.
      await pool.query(
        refuse
          ? `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused by the test'; end $$;
             create constraint trigger refusal after insert or update on truckroll_progress deferrable initially deferred for each row execute function refuse()`
          : 'drop trigger refusal on truckroll_progress; drop function refuse()',
      );
    },
    damage: async (kind, how) => void (await pool.query(DAMAGE[how]('truckroll_records', oneOf('truckroll_records', kind)))),
    async close() {
      await pool.end();
      // The pool does not wait for its connections, which the server would terminate with the database.
      await Promise.all(ended);
    },
  };
}
