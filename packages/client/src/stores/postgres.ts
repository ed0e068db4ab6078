// A copy in PostgreSQL, by a client that the caller gives.
import { CopyMovedError, type StoredVersion, type SyncPage, type SyncProgress, type SyncStore } from '../sync.ts';

/** What the store uses of `Pool` or `Client` of pg. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

const BATCH = 10_000;

/**
 * A copy in the tables `truckroll_records` (kind, id, version, changed_at, load, record as jsonb) and `truckroll_progress`, which it creates in
 * the client's search_path if they are missing.
 */
export async function openPostgresStore(client: PostgresClient): Promise<SyncStore> {
  await client.query(`create table if not exists truckroll_records (
    kind text collate "C", id text collate "C", version text not null, changed_at timestamptz not null, load bigint not null, record jsonb not null,
    primary key (kind, id))`);
  await client.query(
    'create table if not exists truckroll_progress (one boolean primary key check (one), cursor text not null, load bigint not null, loaded boolean not null)',
  );
  return {
    async progress(): Promise<SyncProgress | undefined> {
      const { rows } = await client.query('select cursor, load::float8 as load, loaded from truckroll_progress');
      return rows[0] as SyncProgress | undefined;
    },
    async apply({ changes, before, after: { cursor, load, loaded }, endsLoad }: SyncPage): Promise<void> {
      const { rows } = await client.query(APPLY, [JSON.stringify(changes), before?.cursor ?? null, cursor, load, loaded, endsLoad]);
      if (rows.length === 0) throw new CopyMovedError();
    },
    async *versions() {
      let last: Pick<StoredVersion, 'kind' | 'id'> | undefined = { kind: '', id: '' };
      while (last !== undefined) {
        const text = `select kind, id, version from truckroll_records where (kind, id) > ($1, $2) order by kind, id limit ${BATCH}`;
        const rows = (await client.query(text, [last.kind, last.id])).rows as StoredVersion[];
        yield rows;
        last = rows.length < BATCH ? undefined : rows.at(-1);
      }
    },
  };
}

// One statement is one transaction, also through a pool. Nothing is stored unless the progress could be.
const APPLY = `with
  moved as (
    insert into truckroll_progress as p (one, cursor, load, loaded)
      select true, $3, $4::bigint, $5::boolean where $2::text is null or exists (select from truckroll_progress)
      on conflict (one) do update set cursor = excluded.cursor, load = excluded.load, loaded = excluded.loaded where p.cursor = $2
      returning 1),
  page as (
    select * from json_to_recordset($1::json) as c(kind text, id text, change text, version text, "changedAt" timestamptz, record jsonb)
      where exists (select from moved)),
  stored as (
    insert into truckroll_records as r (kind, id, version, changed_at, load, record)
      select kind, id, version, "changedAt", $4, record from page where change <> 'DELETED'
      on conflict (kind, id) do update
        set version = excluded.version, changed_at = excluded.changed_at, load = excluded.load, record = excluded.record),
  deleted as (
    delete from truckroll_records r using page where page.change = 'DELETED' and (r.kind, r.id) = (page.kind, page.id)),
  gone as (
    delete from truckroll_records r where $6::boolean and r.load <> $4 and exists (select from moved)
      and not exists (select from page where (page.kind, page.id) = (r.kind, r.id)))
  select from moved`;
