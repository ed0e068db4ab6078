-- A paused endpoint stays `enabled` in this table, so that releases of before this one go on queueing its events. Its
-- resume_at lies far ahead, which keeps every release from leasing its deliveries.
alter table webhook_endpoints
  add column paused_at timestamptz,
  -- When it was last paused or disabled; null while it is enabled, and if it was disabled before this migration.
  add column stopped_at timestamptz,
  -- Whether nothing is sent yet because skipped deliveries are still being queued again.
  add column resuming boolean not null default false,
  -- Most deliveries a second; null is no limit.
  add column max_per_second integer,
  -- Names of additional headers, and their values as a JSON list, sealed as signing secrets are.
  add column header_names text[] not null default '{}',
  add column header_values bytea;
alter table webhook_endpoints add constraint webhook_endpoints_max_per_second check (max_per_second between 1 and 1000) not valid;

-- Until when an endpoint's rate is used up. Only leasing changes it, under the lock of leases.
create table webhook_rates (
  endpoint_id uuid primary key,
  spent_until timestamptz not null
) with (fillfactor = 50);

-- Queues only what was skipped since this time; null queues everything that was skipped or failed.
alter table webhook_recoveries add column skipped_since timestamptz;

-- A trigger, because releases of before this one clear resume_at and disable endpoints without knowing these columns.
create function hold_webhook_endpoint() returns trigger language plpgsql as $$
begin
  if not new.enabled then
    new.paused_at := null;
    new.resuming := false;
  end if;
  if new.paused_at is not null or new.resuming then
    new.resume_at := '2200-01-01 00:00:00+00';
  elsif new.resume_at = '2200-01-01 00:00:00+00' then
    new.resume_at := null;
  end if;
  if new.enabled and new.paused_at is null then
    new.stopped_at := null;
  else
    new.stopped_at := coalesce(new.stopped_at, now());
  end if;
  return new;
end $$;
create trigger holds_new_endpoint before insert on webhook_endpoints for each row execute function hold_webhook_endpoint();
create trigger holds_endpoint before update on webhook_endpoints for each row
  when (old.enabled <> new.enabled or old.paused_at is distinct from new.paused_at or new.paused_at is not null or old.resuming or new.resuming)
  execute function hold_webhook_endpoint();
