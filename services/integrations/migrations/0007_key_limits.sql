-- Limits of a company (decisions §12): live keys at a time, and requests of all its keys and users together in a minute, where
-- null means three times a key's.
alter table companies
  add column key_limit integer not null default 100 check (key_limit > 0),
  add column reads_per_minute integer check (reads_per_minute > 0),
  add column reports_per_minute integer check (reports_per_minute > 0),
  add column writes_per_minute integer check (writes_per_minute > 0);

-- Revoked keys are deleted after 30 days.
create index api_keys_revoked on api_keys (revoked_at) where revoked_at is not null;
