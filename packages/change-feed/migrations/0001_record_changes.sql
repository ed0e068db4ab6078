-- A log of the records that changed (decisions §14), in a separate table, so that updates of records stay HOT. Triggers append to it in the
-- transaction of the change, whatever statement or release made that. The record has the version of its latest change in
-- change_version: an earlier row of the log is superseded, and compaction removes it.
create table record_changes (
  company_id uuid not null,
  id uuid not null, -- of a record whose id is a code: md5 of the code
  version bigint not null,
  changed_at timestamptz not null,
  kind text collate "C" not null -- invoices
);
create index record_changes_order on record_changes (company_id, version, kind, id);

-- What the last compaction of a company left: rows up to `version`, and how many.
create table change_compactions (
  company_id uuid primary key,
  version bigint not null,
  kept bigint not null
);

-- Progress of the backfill: the last record of each kind, stored before the feed, that is in the log. It continues after
-- (company_id, id).
create table change_backfills (
  kind text primary key,
  company_id uuid not null default '00000000-0000-0000-0000-000000000000',
  id uuid not null default '00000000-0000-0000-0000-000000000000',
  done boolean not null default false
);

-- A version is the epoch of the outbox (docs/adr/0007), then the transaction's id in 13 digits. A transaction whose id is below
-- pg_snapshot_xmin has ended, so no lower version can appear later. If a transaction changes a record after one with a higher id,
-- the record keeps the higher version, which no reader can have seen yet. Records stored before the feed have null, read as 0.
create function create_triggers_of_changes() returns void language plpgsql as $create$
declare
  -- With the names of the schema: a search path of their own would take a quarter of the triggers' time.
  version text := format('(coalesce(pg_sequence_last_value(%L::regclass), 0) / 1000000000000 * 10000000000000 + pg_current_xact_id()::text::bigint)',
    format('%I.outbox_id_seq', current_schema));
  log text := format('%I.record_changes (company_id, id, version, changed_at, kind)', current_schema);
  name text;
  id text;
begin
  execute format('create function change_version() returns bigint language sql volatile as $f$ select %s $f$', version);

  execute format($trigger$
    create function note_changed_records() returns trigger language plpgsql as $f$
    begin
      insert into %s select c.company_id, c.id, %s, now(), tg_argv[0] from changed c;
      return null;
    end $f$ $trigger$, log, version);

  -- The second is for records whose id is a code. They are few.
  for name, id in values ('note_changed_record', 'new.id'), ('note_changed_code', 'md5(new.id)::uuid') loop
    execute format($trigger$
      create function %s() returns trigger language plpgsql as $f$
      begin
        new.change_version = greatest(new.change_version, %s);
        insert into %s values (new.company_id, %s, new.change_version, now(), tg_argv[0]);
        return new;
      end $f$ $trigger$, name, version, log, id);
  end loop;
end $create$;
select create_triggers_of_changes();
drop function create_triggers_of_changes();

-- Gives a table a column for the version of each record. Its default is not set for rows so far, which would rewrite the table.
create function keep_versions(relation regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s add column change_version bigint', relation);
  execute format('alter table %s alter column change_version set default change_version()', relation);
end $$;

-- Puts a table of records into the feed as a kind. The service logs its rows so far.
create function keep_changes(relation regclass, kind text) returns void language plpgsql as $$
declare
  codes boolean := (select atttypid = 'text'::regtype from pg_attribute where attrelid = relation and attname = 'id');
  derives boolean := exists (select from pg_attribute where attrelid = relation and attname = 'derived' and not attisdropped);
begin
  insert into change_backfills (kind) values (kind);
  perform keep_versions(relation);
  execute format('create trigger note_updated before update on %s for each row when (%s) execute function %s(%L)', relation,
    'new.document <> old.document' || case when derives then ' or new.derived is distinct from old.derived' else '' end,
    case when codes then 'note_changed_code' else 'note_changed_record' end, kind);
  if codes then
    execute format('create trigger note_inserted after insert on %s for each row execute function note_changed_code(%L)', relation, kind);
    return;
  end if;
  execute format('create trigger note_inserted after insert on %s referencing new table as changed
    for each statement execute function note_changed_records(%L)', relation, kind);
  execute format('create trigger note_deleted after delete on %s referencing old table as changed
    for each statement execute function note_changed_records(%L)', relation, kind);
end $$;
