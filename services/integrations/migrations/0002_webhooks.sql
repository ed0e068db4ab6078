-- Webhook endpoints, what is to be sent to them, and the log of what was sent (decisions §7).

create table webhook_endpoints (
  id uuid primary key,
  company_id uuid not null references companies,
  created_by uuid not null references users,
  name text not null,
  url text not null,
  event_types text[] not null,
  enabled boolean not null,
  -- GONE or FAILING where it was disabled without being asked.
  disabled_reason text check (disabled_reason in ('GONE', 'FAILING')),
  -- Sealed by AES-256-GCM under a key of WEBHOOK_SECRET_KEYS.
  secret bytea not null,
  -- The one before, which is signed with too until then.
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- Since when there was nothing but failure; null after a success.
  failing_since timestamptz,
  -- How often in a row it asked to be slowed down, and when the next delivery may go out.
  slowdowns integer not null default 0,
  resume_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Its deliveries stay until their days are dropped, but nobody sees them any more.
  deleted_at timestamptz
);
create index webhook_endpoints_of_company on webhook_endpoints (company_id, created_at, id) where deleted_at is null;

-- The log, a partition for each day on which events happened (UTC). A delivery's id begins with that time, so it tells
-- its partition. Partitions are made as they are needed and dropped after 30 days.
create table webhook_events (
  day date not null,
  id uuid not null,
  company_id uuid not null,
  type text not null,
  -- The exact JSON that is sent.
  body bytea not null,
  primary key (day, id)
) partition by range (day);

create table webhook_deliveries (
  day date not null,
  id uuid not null,
  company_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  subject text not null,
  sequence bigint not null,
  occurred_at timestamptz not null,
  state text not null check (state in ('PENDING', 'SUCCEEDED', 'FAILED', 'SKIPPED')),
  attempts integer not null default 0,
  changed_at timestamptz not null default now(),
  primary key (day, id)
) partition by range (day);
create index webhook_deliveries_of_endpoint on webhook_deliveries (company_id, endpoint_id, day, id);

create table webhook_attempts (
  day date not null,
  delivery_id uuid not null,
  -- One lease is one attempt: a report that comes twice is one row.
  lease_token uuid not null,
  number integer not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  succeeded boolean not null,
  status integer,
  error text,
  error_message text,
  address text,
  request_headers jsonb not null,
  response_headers jsonb not null,
  response_body bytea not null,
  response_truncated boolean not null,
  primary key (day, delivery_id, lease_token)
) partition by range (day);

-- What is still to be sent: a row lives from the fan-out to the last attempt. Small, so that leasing stays quick
-- however long the log is. Led by the endpoint: leasing goes round all of them.
create table webhook_queue (
  delivery_id uuid primary key,
  day date not null,
  endpoint_id uuid not null,
  subject text not null,
  sequence bigint not null,
  due_at timestamptz not null,
  -- Failures since it was queued, which place it in the schedule.
  failures integer not null default 0,
  -- Whether its first attempt is over: until then, later events of its subject wait.
  tried boolean not null default false,
  -- Asked for by a user: sent also while the endpoint is disabled.
  forced boolean not null default false,
  lease_token uuid,
  leased_until timestamptz,
  worker text
);
create index webhook_queue_due on webhook_queue (endpoint_id, due_at);
create index webhook_queue_untried on webhook_queue (endpoint_id, subject, sequence) where not tried;
create index webhook_queue_leased on webhook_queue (endpoint_id, leased_until) where leased_until is not null;
create index webhook_queue_next on webhook_queue (due_at);
-- Rows change twice and go: vacuum by count.
alter table webhook_queue set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, fillfactor = 70);

-- E-mail to users, written in the transaction of what it tells of. Whatever sends it sets sent_at.
create table pending_mails (
  id bigint generated always as identity primary key,
  company_id uuid not null references companies,
  user_id uuid not null references users,
  subject text not null,
  body text not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz
);
create index pending_mails_unsent on pending_mails (id) where sent_at is null;
