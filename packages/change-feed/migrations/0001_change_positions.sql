-- The position of every record's latest change in the change feed (decisions §14). A separate table, so that updates of
-- records stay HOT. Triggers write it in the transaction of the change, whatever statement or release made that.
create table change_positions (
  company_id uuid not null,
  kind text collate "C" not null, -- invoices
  id uuid not null, -- of a record whose id is a code: md5 of the code
  version bigint not null, -- see change_version
  changed_at timestamptz not null,
  deleted boolean not null,
  primary key (company_id, id, kind)
);
create index change_positions_order on change_positions (company_id, version, kind, id);

-- Progress of the backfill: the last record of each kind, stored before the feed, that has a position. It continues after
-- (company_id, id).
create table change_backfills (
  kind text primary key,
  company_id uuid not null default '00000000-0000-0000-0000-000000000000',
  id uuid not null default '00000000-0000-0000-0000-000000000000',
  done boolean not null default false
);

-- Version of what the current transaction changes: the epoch of the outbox (docs/adr/0007), then the transaction's id in
-- 13 digits. A transaction whose id is below pg_snapshot_xmin has ended, so no lower version can appear later.
create function change_version() returns bigint language sql volatile as $$
  select last_value / 1000000000000 * 10000000000000 + pg_current_xact_id()::text::bigint from outbox_id_seq
$$;

-- Imports insert thousands of records by one statement: one trigger for all of them takes half as long as one for each.
create function note_inserted_records() returns trigger language plpgsql set search_path from current as $$
begin
  insert into change_positions as p (company_id, kind, id, version, changed_at, deleted)
  select f.company_id, tg_argv[0], f.id, (select change_version()), now(), false from fresh f
  on conflict (company_id, id, kind) do update set version = excluded.version, changed_at = excluded.changed_at, deleted = false;
  return null;
end $$;

-- Most updates are of one record: a trigger for the row takes a third of the time of one for the statement. The version is that of
-- change_version, whose call would take a third of the rest.
create function note_updated_record() returns trigger language plpgsql set search_path from current as $$
begin
  insert into change_positions as p (company_id, kind, id, version, changed_at, deleted)
  values (new.company_id, tg_argv[0], new.id,
    (select last_value from outbox_id_seq) / 1000000000000 * 10000000000000 + pg_current_xact_id()::text::bigint, now(), false)
  on conflict (company_id, id, kind) do update set version = excluded.version, changed_at = excluded.changed_at, deleted = false;
  return null;
end $$;

create function note_deleted_record() returns trigger language plpgsql set search_path from current as $$
begin
  insert into change_positions as p (company_id, kind, id, version, changed_at, deleted)
  values (old.company_id, tg_argv[0], old.id, change_version(), now(), true)
  on conflict (company_id, id, kind) do update set version = excluded.version, changed_at = excluded.changed_at, deleted = true;
  return null;
end $$;

-- For records whose id is a code. They are few.
create function note_changed_code() returns trigger language plpgsql set search_path from current as $$
begin
  insert into change_positions as p (company_id, kind, id, version, changed_at, deleted)
  values (new.company_id, tg_argv[0], md5(new.id)::uuid, change_version(), now(), false)
  on conflict (company_id, id, kind) do update set version = excluded.version, changed_at = excluded.changed_at, deleted = false;
  return null;
end $$;

-- Puts a table of records into the feed as a kind. Its rows so far get their positions from the service.
create function keep_changes(relation regclass, kind text) returns void language plpgsql as $$
declare
  codes boolean := (select atttypid = 'text'::regtype from pg_attribute where attrelid = relation and attname = 'id');
  derives boolean := exists (select from pg_attribute where attrelid = relation and attname = 'derived' and not attisdropped);
begin
  insert into change_backfills (kind) values (kind);
  execute format('create trigger note_updated after update on %s for each row when (%s) execute function %s(%L)', relation,
    'new.document <> old.document' || case when derives then ' or new.derived is distinct from old.derived' else '' end,
    case when codes then 'note_changed_code' else 'note_updated_record' end, kind);
  if codes then
    execute format('create trigger note_inserted after insert on %s for each row execute function note_changed_code(%L)', relation, kind);
    return;
  end if;
  execute format('create trigger note_inserted after insert on %s referencing new table as fresh
    for each statement execute function note_inserted_records(%L)', relation, kind);
  execute format('create trigger note_deleted after delete on %s for each row execute function note_deleted_record(%L)', relation, kind);
end $$;
