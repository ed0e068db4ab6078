-- What the two scheduling writes need beside the records.

-- Events of a visit so far: the sequence of the latest.
alter table job_appointments add column event_sequence bigint not null default 0;

-- Writes that were committed, by who sent them, with what they were answered. A row without a response is the claim of
-- a transaction that is still going on: nobody else ever sees it.
create table idempotency_keys (
  company_id uuid not null,
  user_id uuid not null,
  key text not null,
  -- SHA-256 of the operation and what it was asked.
  fingerprint bytea not null,
  created_at timestamptz not null default now(),
  status smallint,
  location text,
  response bytea,
  primary key (company_id, user_id, key)
  -- A claim grows into its answer, on the same page while that has room.
) with (fillfactor = 70);
-- For the purge, which goes through all companies alike.
create index idempotency_keys_created on idempotency_keys using brin (created_at);
