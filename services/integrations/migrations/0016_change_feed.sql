-- The company itself is in the change feed (decisions §14), with what /v1/company shows.
create function note_changed_company() returns trigger language plpgsql set search_path from current as $$
begin
  new.change_version = change_version();
  insert into record_changes (company_id, kind, id, version, changed_at) values (new.id, 'company', new.id, new.change_version, now());
  return new;
end $$;
select keep_versions('companies');
create trigger note_inserted after insert on companies for each row execute function note_changed_company();
create trigger note_updated before update on companies for each row
  when (new.name <> old.name or new.timezone <> old.timezone) execute function note_changed_company();
insert into change_backfills (kind) values ('company');
