-- Companies, their users and their API keys. Unlike records, these are looked up before the company is known (a key by
-- its hash, a user by the subject of a token), so their own ids identify them; lists are still led by company_id.

create table companies (
  id uuid primary key,
  name text not null,
  timezone text not null,
  costing_enabled boolean not null,
  verified_only boolean not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table users (
  id uuid primary key,
  company_id uuid not null references companies,
  subject text not null constraint users_subject unique,
  email text not null,
  first_name text not null,
  last_name text not null,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index users_of_company on users (company_id, created_at, id);
-- Somebody who left may come back under the same address.
create unique index users_email on users (company_id, lower(email)) where active;

create table api_keys (
  id uuid primary key,
  company_id uuid not null references companies,
  user_id uuid not null references users,
  created_by_kind text not null check (created_by_kind in ('USER', 'OPERATOR')),
  name text not null,
  -- SHA-256 of the value, which is stored nowhere.
  hash bytea not null constraint api_keys_hash unique check (octet_length(hash) = 32),
  key_prefix text not null check (length(key_prefix) = 8),
  key_suffix text not null check (length(key_suffix) = 4),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  reads_per_minute integer check (reads_per_minute > 0),
  reports_per_minute integer check (reports_per_minute > 0),
  writes_per_minute integer check (writes_per_minute > 0)
);
create index api_keys_of_company on api_keys (company_id, created_at, id);
create index api_keys_of_user on api_keys (user_id);

-- What the gateways have to forget, written in the transaction of the change and removed once Redis has been told.
create table pending_invalidations (
  id bigint generated always as identity primary key,
  -- The message to the gateways: key:<hash in hex>, user:<id> or company:<id>.
  subject text not null,
  created_at timestamptz not null default now()
);
