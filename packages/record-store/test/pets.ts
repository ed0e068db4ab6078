// A service with three kinds of records in the change feed: cats, dogs, and breeds, whose ids are codes.
import { createHash } from 'node:crypto';
import { CatchUp, catchUpMigrations } from '@truckroll/catch-up';
import { changeFeed, changeMigrations, documentKind, type OwnedKind } from '@truckroll/change-feed';
import type {
  ChangePosition,
  DigestRecordsRequest,
  DigestRecordsResponse,
  FindChangedRequest,
  FindChangedResponse,
  ReadChangesRequest,
  ReadChangesResponse,
} from '@truckroll/contract/gen/records/v1/changes';
import { outboxTables } from '@truckroll/outbox';
import { Database, migrate, type Queryable } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { freshDatabase } from '@truckroll/testing';

export const table = (name: string): string => `create table ${name} (company_id uuid not null, id uuid not null, document bytea not null, derived bytea,
  primary key (company_id, id));`;
export const codes = `create table breeds (company_id uuid not null, id text not null, document bytea not null, primary key (company_id, id));`;
export const keep = (...names: string[]): string => names.map((name) => `select keep_changes('${name}', '${name}');`).join(' ');

/** `sql` creates the tables of records. */
export async function openPets(sql = `${table('cats')} ${table('dogs')} ${codes} ${keep('cats', 'dogs', 'breeds')}`) {
  const fresh = await freshDatabase({});
  await migrate({
    url: fresh.url,
    schema: 'pets',
    sets: [catchUpMigrations, outboxTables, changeMigrations, { name: 'own', migrations: [{ name: '0001_own', sql }] }],
  });
  const database = new Database({ url: fresh.url, schema: 'pets', maxConnections: 6 });
  return {
    database,
    async close(): Promise<void> {
      await database.close();
      await fresh.drop();
    },
  };
}

function kindsOf(database: Database, ...names: string[]): OwnedKind[] {
  return names.map((name) => (name === 'breeds' ? breeds(database) : documentKind(database, name, name)));
}

/** The company under which breeds are stored: they are the same in every company. */
export const EVERYWHERE = '00000000-0000-4000-8000-000000000000';

function breeds(database: Database): OwnedKind {
  return {
    kind: 'breeds',
    table: 'breeds',
    codes: true,
    storedUnder: EVERYWHERE,
    async read(_, ids) {
      const { rows } = await database.query<{ place: string; id: string; record: Buffer }>({
        text: 'select md5(id)::uuid as place, id, document as record from breeds where company_id = $1 and md5(id)::uuid = any($2::uuid[])',
        values: [EVERYWHERE, ids],
      });
      return ids.map((id) => rows.find(({ place }) => place === id));
    },
  };
}

export function feedOf(database: Database, ...names: string[]) {
  const options = { database, log: silentLog, metrics: createMetrics('test') };
  const catchUp = new CatchUp(options);
  const { parts, handlers } = changeFeed({ ...options, kinds: kindsOf(database, ...names), catchUp });
  const handler = <Q, A>(handle: unknown) => handle as (request: Q) => Promise<A>;
  return {
    parts: [...parts, catchUp],
    read: handler<ReadChangesRequest, ReadChangesResponse>(handlers.readChanges),
    digest: handler<DigestRecordsRequest, DigestRecordsResponse>(handlers.digestRecords),
    find: handler<FindChangedRequest, FindChangedResponse>(handlers.findChanged),
  };
}

/** A database of pets, and the feed of these kinds with its background work. */
export async function openFeed(...names: string[]) {
  const { database, close } = await openPets();
  const feed = feedOf(database, ...names);
  for (const part of feed.parts) await part.start();
  return {
    database,
    feed,
    async close(): Promise<void> {
      for (const part of feed.parts) await part.stop();
      await close();
    },
  };
}

export async function put(db: Queryable, company: string, kind: string, id: string, document = 'one'): Promise<void> {
  await db.query({
    text: `insert into ${kind} (company_id, id, document) values ($1, $2, $3) on conflict (company_id, id) do update set document = excluded.document`,
    values: [company, id, Buffer.from(document)],
  });
}

/** What a record adds to the digest of its bucket. */
export const sumOf = ({ id, version }: { id: string; version: number }): number =>
  Number(`0x${createHash('sha256').update(`${id}:${version}`).digest('hex').slice(0, 13)}`);

export const beginning = (kind: string): ChangePosition => ({ kind, version: 0, after_kind: '', after_id: '', began_at: 0 });

/** Waits for every transaction so far. Tests in other databases of the cluster hold the feed back too, because they share transaction ids. */
export async function transactionsEnded(database: Queryable): Promise<void> {
  const { rows } = await database.query<{ next: string }>({ text: 'select pg_snapshot_xmax(pg_current_snapshot())::text as next' });
  for (let ended = false; !ended; ) {
    const found = await database.query<{ ended: boolean }>({
      text: 'select pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8 as ended',
      values: [rows[0]?.next],
    });
    ended = found.rows[0]?.ended === true;
  }
}
