-- in steps
create index concurrently webhook_endpoints_by_expiry on webhook_endpoints (expires_at) where expires_at is not null and deleted_at is null;
