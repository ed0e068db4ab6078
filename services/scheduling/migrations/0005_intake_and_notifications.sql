-- What customers ask for, how the company talks with them, and what it tells them about visits (decisions §5 and §6).

-- The latest number given to a service request of a company.
create table service_request_numbers (
  company_id uuid primary key,
  latest bigint not null
) with (fillfactor = 50);

create table service_requests (
  company_id uuid not null,
  id uuid not null,
  -- Of the visit that it was booked for: what the two scheduling writes look for.
  appointment_id uuid,
  -- Events of this service request so far: the sequence of the latest.
  event_sequence bigint not null,
  document bytea not null,
  -- SHA-256 of the recording that made it, and what that was answered.
  fingerprint bytea not null,
  recorded bytea not null,
  primary key (company_id, id)
) with (fillfactor = 70);
create index service_requests_appointment on service_requests (company_id, appointment_id) where appointment_id is not null;

create table interactions (
  company_id uuid not null,
  id uuid not null,
  event_sequence bigint not null,
  document bytea not null,
  -- As above; null for those that scheduling records itself, of notifications.
  fingerprint bytea,
  recorded bytea,
  primary key (company_id, id)
) with (fillfactor = 70);

-- Customer notifications that a write has asked for, and what became of them. Those that were suppressed at acceptance
-- are in the write's answer alone.
create table notifications (
  company_id uuid not null,
  -- Also the id of the interaction that it becomes, of its Message-ID, and the provider's idempotency key.
  id uuid not null,
  appointment_id uuid not null,
  job_id uuid not null,
  account_id uuid not null,
  contact_id uuid not null,
  -- Of the visit, after the write. With another revision it is not sent.
  revision text not null,
  channel text not null check (channel in ('EMAIL', 'SMS')),
  address text not null,
  subject text not null,
  message text not null,
  -- QUEUED → ATTEMPTING → SENT, FAILED or UNKNOWN; QUEUED → SUPPRESSED; ATTEMPTING → QUEUED only where the provider is
  -- known to have taken nothing.
  status text not null default 'QUEUED' check (status in ('QUEUED', 'ATTEMPTING', 'SENT', 'FAILED', 'UNKNOWN', 'SUPPRESSED')),
  attempts smallint not null default 0,
  created_at timestamptz not null default now(),
  -- When it may be tried.
  due_at timestamptz not null default now(),
  attempted_at timestamptz,
  -- An attempt that has not told its end by then never will: it is UNKNOWN.
  attempt_ends_at timestamptz,
  finished_at timestamptz,
  -- What the provider said, or why it was not asked.
  detail text,
  primary key (company_id, id)
) with (fillfactor = 70);
-- The sender serves all companies alike.
create index notifications_due on notifications (due_at) where status = 'QUEUED';
create index notifications_attempting on notifications (attempt_ends_at) where status = 'ATTEMPTING';
create index notifications_visit on notifications (company_id, appointment_id);
