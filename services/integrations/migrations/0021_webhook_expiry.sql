-- in steps
-- Endpoints that are removed by themselves, such as those of `listen`.
alter table webhook_endpoints add column expires_at timestamptz;
create index concurrently webhook_endpoints_by_expiry on webhook_endpoints (expires_at) where expires_at is not null and deleted_at is null;
