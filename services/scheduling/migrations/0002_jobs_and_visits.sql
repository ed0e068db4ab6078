-- What jobs are made of, jobs and leads, and the visits and assignments that get them done.

create table job_types (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  archived boolean not null,
  job_class text not null,
  lifecycle_id uuid not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index job_types_order on job_types (company_id, created_at, id, updated_at);
create index job_types_updated on job_types (company_id, updated_at);
create index job_types_archived on job_types (company_id, archived, created_at, id);
create index job_types_job_class on job_types (company_id, job_class, created_at, id);
create index job_types_lifecycle on job_types (company_id, lifecycle_id, created_at, id);

-- The same for every company, so they stand under none; ordered by the code's characters, whatever the database's language.
create table job_classes (
  company_id uuid not null,
  id text collate "C" not null,
  "group" text not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index job_classes_group on job_classes (company_id, "group", id);

create table job_lifecycles (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  type text not null,
  archived boolean not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index job_lifecycles_order on job_lifecycles (company_id, created_at, id, updated_at);
create index job_lifecycles_updated on job_lifecycles (company_id, updated_at);
create index job_lifecycles_type on job_lifecycles (company_id, type, created_at, id);
create index job_lifecycles_archived on job_lifecycles (company_id, archived, created_at, id);

create table jobs (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  account_id uuid not null,
  location_id uuid not null,
  business_unit_id uuid,
  job_type_id uuid,
  job_class text,
  lifecycle_id uuid not null,
  status_id uuid not null,
  status_stage text not null,
  first_starts_at timestamptz,
  completed_at timestamptz,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
) with (fillfactor = 90);
create index jobs_order on jobs (company_id, created_at, id, updated_at, first_starts_at, completed_at);
create index jobs_updated on jobs (company_id, updated_at);
create index jobs_account on jobs (company_id, account_id, created_at, id);
create index jobs_location on jobs (company_id, location_id, created_at, id);
create index jobs_business_unit on jobs (company_id, business_unit_id, created_at, id) where business_unit_id is not null;
create index jobs_job_type on jobs (company_id, job_type_id, created_at, id) where job_type_id is not null;
create index jobs_job_class on jobs (company_id, job_class, created_at, id) where job_class is not null;
create index jobs_lifecycle on jobs (company_id, lifecycle_id, created_at, id);
create index jobs_status on jobs (company_id, status_id, created_at, id);
create index jobs_stage on jobs (company_id, status_stage, created_at, id);
create index jobs_first_starts on jobs (company_id, first_starts_at) where first_starts_at is not null;
create index jobs_completed on jobs (company_id, completed_at) where completed_at is not null;

-- jobs?tag_id
create table job_tags (
  company_id uuid not null,
  value uuid not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create index job_tags_record on job_tags (company_id, id);

-- jobs?team_member_id: from the assignments of the job's visits
create table job_team_members (
  company_id uuid not null,
  value uuid not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create index job_team_members_record on job_team_members (company_id, id);

-- Visits. A row is rewritten when its job, its location or an assignment changes: often without touching an indexed
-- column, and then on the same page while that has room.
create table job_appointments (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  job_id uuid not null,
  job_account_id uuid,
  job_location_id uuid,
  job_business_unit_id uuid,
  job_job_type_id uuid,
  dispatch_status text not null,
  confirmed boolean not null,
  canceled boolean not null,
  starts_at timestamptz not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
) with (fillfactor = 80);
create index job_appointments_order on job_appointments (company_id, created_at, id, updated_at, starts_at);
create index job_appointments_updated on job_appointments (company_id, updated_at);
create index job_appointments_job on job_appointments (company_id, job_id, created_at, id);
create index job_appointments_account on job_appointments (company_id, job_account_id, created_at, id) where job_account_id is not null;
create index job_appointments_location on job_appointments (company_id, job_location_id, created_at, id) where job_location_id is not null;
create index job_appointments_business_unit on job_appointments (company_id, job_business_unit_id, created_at, id) where job_business_unit_id is not null;
create index job_appointments_job_type on job_appointments (company_id, job_job_type_id, created_at, id) where job_job_type_id is not null;
create index job_appointments_dispatch_status on job_appointments (company_id, dispatch_status, created_at, id);
create index job_appointments_confirmed on job_appointments (company_id, confirmed, created_at, id);
create index job_appointments_canceled on job_appointments (company_id, canceled, created_at, id);
create index job_appointments_starts on job_appointments (company_id, starts_at);

-- job-appointments?team_member_id: from the visit's assignments
create table job_appointment_team_members (
  company_id uuid not null,
  value uuid not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create index job_appointment_team_members_record on job_appointment_team_members (company_id, id);

create table job_assignments (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  job_id uuid not null,
  appointment_id uuid not null,
  team_member_id uuid not null,
  status text not null,
  starts_at timestamptz not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index job_assignments_order on job_assignments (company_id, created_at, id, updated_at, starts_at);
create index job_assignments_updated on job_assignments (company_id, updated_at) where updated_at is not null;
create index job_assignments_job on job_assignments (company_id, job_id, created_at, id);
create index job_assignments_appointment on job_assignments (company_id, appointment_id, created_at, id);
create index job_assignments_team_member on job_assignments (company_id, team_member_id, created_at, id);
create index job_assignments_status on job_assignments (company_id, status, created_at, id);
create index job_assignments_starts on job_assignments (company_id, starts_at);

create table job_leads (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  outcome text not null,
  status_id uuid not null,
  account_id uuid,
  location_id uuid,
  lead_source_id uuid,
  assigned_to_id uuid,
  follow_up_on date,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index job_leads_order on job_leads (company_id, created_at, id, updated_at, follow_up_on);
create index job_leads_updated on job_leads (company_id, updated_at);
create index job_leads_outcome on job_leads (company_id, outcome, created_at, id);
create index job_leads_status on job_leads (company_id, status_id, created_at, id);
create index job_leads_account on job_leads (company_id, account_id, created_at, id) where account_id is not null;
create index job_leads_location on job_leads (company_id, location_id, created_at, id) where location_id is not null;
create index job_leads_lead_source on job_leads (company_id, lead_source_id, created_at, id) where lead_source_id is not null;
create index job_leads_assigned_to on job_leads (company_id, assigned_to_id, created_at, id) where assigned_to_id is not null;
create index job_leads_follow_up on job_leads (company_id, follow_up_on) where follow_up_on is not null;
