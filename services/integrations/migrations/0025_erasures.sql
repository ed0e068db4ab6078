-- The trail of a company that is being deleted goes with it, except for the entry that says so (docs/adr/0024).
create or replace function refuse_change_of_audit_events() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.at < now() - interval '365 days' then
    return old;
  end if;
  if tg_op = 'DELETE' and old.action <> 'company.deleted' and exists (
      select from erased_companies e where e.id = old.company_id
        or old.company_id = '00000000-0000-0000-0000-000000000000' and position(e.id::text in concat_ws(' ', old.object_id, old.before, old.after)) > 0) then
    return old;
  end if;
  raise exception 'audit events are never changed, and not deleted before they are 365 days old' using errcode = 'insufficient_privilege';
end $$;
