-- What the usual service has behind the two scheduling writes: a table for each kind of record, names where their owners
-- are, the indexes that the lists of the API need, keys, the answers of idempotency keys and an outbox.
create schema baseline_writes;
set local search_path to baseline_writes;

create table companies (id uuid primary key, time_zone text not null, writes_per_minute integer not null);
create table api_keys (hash bytea primary key, company_id uuid not null references companies, user_id uuid not null, revoked_at timestamptz);

create table accounts (company_id uuid, id uuid, name text not null, primary key (company_id, id));
create table contacts (company_id uuid, id uuid, name text not null, primary key (company_id, id));
create table business_units (company_id uuid, id uuid, name text not null, primary key (company_id, id));
create table job_types (company_id uuid, id uuid, name text not null, primary key (company_id, id));
create table locations (
  company_id uuid, id uuid, name text not null, address text not null, latitude double precision, longitude double precision,
  primary key (company_id, id)
);
create table team_members (company_id uuid, id uuid, name text not null, status text not null, assignable boolean not null, primary key (company_id, id));

create table jobs (
  company_id uuid not null,
  id uuid not null,
  number text not null,
  summary text,
  account_id uuid,
  location_id uuid,
  contact_id uuid,
  business_unit_id uuid,
  job_type_id uuid,
  job_class text,
  created_at timestamptz not null,
  primary key (company_id, id)
);

create table visits (
  company_id uuid not null,
  id uuid not null,
  number text not null,
  job_id uuid not null,
  type text not null,
  description text not null,
  window_start_at timestamptz not null,
  window_end_at timestamptz not null,
  confirmed boolean not null,
  canceled boolean not null,
  cancellation_reason text,
  cancellation_note text,
  created_by_id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  kind text not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  revision text not null,
  dispatch_status text not null,
  -- Sequence of the latest event about the visit.
  event_sequence bigint not null default 0,
  primary key (company_id, id),
  foreign key (company_id, job_id) references jobs
);
create index on visits (company_id, created_at, id);
create index on visits (company_id, updated_at);
create index on visits (company_id, job_id, created_at, id);
create index on visits (company_id, dispatch_status, created_at, id);
create index on visits (company_id, starts_at);

create table assignments (
  company_id uuid not null,
  id uuid not null,
  job_id uuid not null,
  visit_id uuid not null,
  team_member_id uuid not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  status text not null,
  status_updated_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (company_id, id),
  foreign key (company_id, visit_id) references visits,
  foreign key (company_id, team_member_id) references team_members
);
create index on assignments (company_id, created_at, id);
create index on assignments (company_id, updated_at) where updated_at is not null;
create index on assignments (company_id, job_id, created_at, id);
create index on assignments (company_id, visit_id, created_at, id);
create index on assignments (company_id, team_member_id, created_at, id);
create index on assignments (company_id, status, created_at, id);
create index on assignments (company_id, starts_at);

create table idempotency_keys (
  company_id uuid not null,
  user_id uuid not null,
  key text not null,
  fingerprint bytea not null,
  status smallint,
  location text,
  response jsonb,
  created_at timestamptz not null default now(),
  primary key (company_id, user_id, key)
);
create index on idempotency_keys (created_at);

create table outbox (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  topic text not null,
  key text not null,
  type text not null,
  company_id uuid not null,
  sequence bigint,
  payload jsonb not null,
  created_at timestamptz not null default now()
);
