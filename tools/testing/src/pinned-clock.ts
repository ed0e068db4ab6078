// A connection to a service's database on which now() and statement_timestamp() return a time set by the test.
import { Database, createSession } from '@truckroll/postgres';

export interface PinnedClock {
  readonly database: Database;
  /** Microseconds since 1970. */
  set(at: number): Promise<void>;
  close(): Promise<void>;
}

const SCHEMA = `create schema clock;
  create table clock.pinned (at timestamptz not null);
  insert into clock.pinned values ('epoch');
  create function clock.now() returns timestamptz language sql stable as 'select at from clock.pinned';
  create function clock.statement_timestamp() returns timestamptz language sql stable as 'select at from clock.pinned'`;

export async function pinClock(url: string, schema: string): Promise<PinnedClock> {
  const session = await createSession({ url });
  for (const text of SCHEMA.split(';')) await session.query({ text });
  // PostgreSQL searches pg_catalog first unless the path names it.
  const settings = { search_path: `${schema}, clock, pg_catalog`, enable_seqscan: 'off', enable_bitmapscan: 'off' };
  const database = new Database({ url, schema, maxConnections: 2, settings });
  return {
    database,
    set: async (at) => void (await session.query({ text: `update clock.pinned set at = to_timestamp(0) + $1 * interval '1 microsecond'`, values: [at] })),
    async close() {
      await database.close();
      await session.close();
    },
  };
}
