-- Endpoints that are removed by themselves, such as those of `listen`.
alter table webhook_endpoints add column expires_at timestamptz;
