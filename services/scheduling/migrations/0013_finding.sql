-- What lists find by search, phone and email (docs/adr/0020), and by number.
alter table accounts add column search text;
alter table contacts add column search text;
alter table locations add column search text;
alter table team_members add column search text;
alter table jobs add column search text;
alter table job_leads add column search text;
alter table job_appointments add column search text;
alter table equipment add column search text;
alter table jobs add column number text;
alter table job_leads add column number text;
alter table job_appointments add column number text;
create table account_entries (
  company_id uuid not null,
  value text collate "C" not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create table contact_entries (
  company_id uuid not null,
  value text collate "C" not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create table location_entries (
  company_id uuid not null,
  value text collate "C" not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create table team_member_entries (
  company_id uuid not null,
  value text collate "C" not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create table job_entries (
  company_id uuid not null,
  value text collate "C" not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create table job_lead_entries (
  company_id uuid not null,
  value text collate "C" not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create table job_appointment_entries (
  company_id uuid not null,
  value text collate "C" not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create table equipment_entries (
  company_id uuid not null,
  value text collate "C" not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
