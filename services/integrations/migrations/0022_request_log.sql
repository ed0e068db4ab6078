-- What API keys asked and how it was answered (decisions §19). A row has the requests that one gateway answered for one key
-- within seconds, which costs a busy key one row a second in place of hundreds. Rows are never changed, only deleted.
create table request_log (
  company_id uuid not null,
  key_id uuid not null,
  -- The earliest and the latest time of the row's requests.
  first_at timestamptz not null,
  last_at timestamptz not null,
  id uuid not null default gen_random_uuid(),
  -- Whether all of its requests failed. Otherwise all succeeded.
  failed boolean not null,
  count int not null,
  -- An encoded truckroll.integrations.v1.LoggedRequests.
  requests bytea not null,
  primary key (company_id, key_id, last_at, id)
);
create index request_log_in_order on request_log (company_id, last_at, id);
-- Failures are few, and looked for most.
create index request_log_failures on request_log (company_id, last_at, id) where failed;
