-- The audit trail (decisions §15). Rows are only added, and deleted once they are older than 365 days.
create table audit_events (
  -- The nil UUID for the whole installation.
  company_id uuid not null,
  at timestamptz not null,
  id uuid not null,
  actor_kind text not null check (actor_kind in ('USER', 'OPERATOR', 'KEY')),
  -- Id of a user or a key, or the name in the operator's credential.
  actor_id text not null,
  actor_name text not null,
  action text not null,
  object_kind text not null,
  object_id text not null,
  -- JSON of the answer; text, so that PostgreSQL changes no byte of it.
  before text,
  after text,
  request_id uuid,
  address text,
  primary key (company_id, at, id)
);
create index audit_events_by_actor on audit_events (company_id, actor_id, at, id);
create index audit_events_by_action on audit_events (company_id, action, at, id);
-- For operators, who see all companies, and for the purge.
create index audit_events_in_order on audit_events (at, id);

create function refuse_change_of_audit_events() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.at < now() - interval '365 days' then
    return old;
  end if;
  raise exception 'audit events are never changed, and not deleted before they are 365 days old' using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_events_stay before update or delete on audit_events
  for each row execute function refuse_change_of_audit_events();
create trigger audit_events_stay_together before truncate on audit_events
  for each statement execute function refuse_change_of_audit_events();
