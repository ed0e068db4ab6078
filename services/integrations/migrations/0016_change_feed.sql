-- The company itself is in the change feed (decisions §14), with what /v1/company shows.
create function note_changed_company() returns trigger language plpgsql set search_path from current as $$
begin
  insert into change_positions as p (company_id, kind, id, version, changed_at, deleted)
  values (new.id, 'company', new.id, change_version(), now(), false)
  on conflict (company_id, id, kind) do update set version = excluded.version, changed_at = excluded.changed_at, deleted = false;
  return null;
end $$;
create trigger note_inserted after insert on companies for each row execute function note_changed_company();
create trigger note_updated after update on companies for each row
  when (new.name <> old.name or new.timezone <> old.timezone) execute function note_changed_company();
insert into change_backfills (kind) values ('company');
