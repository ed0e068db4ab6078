-- While a person is being erased, entries of the trail lose the person's names, and nothing else (docs/adr/0024).
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
  if tg_op = 'UPDATE'
      and (new.company_id, new.at, new.id, new.actor_kind, new.actor_id, new.action, new.object_kind, new.object_id, new.request_id, new.address)
        is not distinct from
        (old.company_id, old.at, old.id, old.actor_kind, old.actor_id, old.action, old.object_kind, old.object_id, old.request_id, old.address)
      and exists (select from erased_people p left join users u on p.kind = 'users' and u.id = p.id and u.email <> ''
        where p.ended_at is null and (position(p.id::text in concat_ws(' ', old.actor_id, old.before, old.after)) > 0
          -- Endpoints list addresses of users alone.
          or position(u.email in concat_ws(' ', old.before, old.after)) > 0)) then
    return new;
  end if;
  raise exception 'audit events are never changed, and not deleted before they are 365 days old' using errcode = 'insufficient_privilege';
end $$;
