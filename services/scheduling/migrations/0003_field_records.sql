-- What is installed, captured and worked at customers' places.

create table equipment (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  location_id uuid not null,
  account_id uuid,
  status text not null,
  manufacturer text,
  serial_number text,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index equipment_created on equipment (company_id, created_at);
create index equipment_updated on equipment (company_id, updated_at);
create index equipment_location on equipment (company_id, location_id, id);
create index equipment_account on equipment (company_id, account_id, id) where account_id is not null;
create index equipment_status on equipment (company_id, status, id);
create index equipment_manufacturer on equipment (company_id, manufacturer, id) where manufacturer is not null;
create index equipment_serial_number on equipment (company_id, serial_number, id) where serial_number is not null;

-- equipment?warranty_ends_from and warranty_ends_before: the days on which its warranties end
create table equipment_warranties (
  company_id uuid not null,
  value date not null,
  id uuid not null,
  primary key (company_id, value, id)
);
create index equipment_warranties_record on equipment_warranties (company_id, id);

create table form_responses (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  job_id uuid not null,
  job_class text,
  appointment_id uuid not null,
  form_id uuid not null,
  completed boolean,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index form_responses_created on form_responses (company_id, created_at);
create index form_responses_updated on form_responses (company_id, updated_at);
create index form_responses_job on form_responses (company_id, job_id, id);
create index form_responses_job_class on form_responses (company_id, job_class, id) where job_class is not null;
create index form_responses_appointment on form_responses (company_id, appointment_id, id);
create index form_responses_form on form_responses (company_id, form_id, id);
create index form_responses_completed on form_responses (company_id, completed, id) where completed is not null;

create table time_entries (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  team_member_id uuid not null,
  timesheet_id uuid,
  job_id uuid,
  appointment_id uuid,
  activity text not null,
  starts_at timestamptz not null,
  duration_minutes integer,
  paid boolean not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index time_entries_order on time_entries (company_id, created_at, id, updated_at, starts_at);
create index time_entries_updated on time_entries (company_id, updated_at);
create index time_entries_team_member on time_entries (company_id, team_member_id, created_at, id);
create index time_entries_timesheet on time_entries (company_id, timesheet_id, created_at, id) where timesheet_id is not null;
create index time_entries_job on time_entries (company_id, job_id, created_at, id) where job_id is not null;
create index time_entries_appointment on time_entries (company_id, appointment_id, created_at, id) where appointment_id is not null;
create index time_entries_activity on time_entries (company_id, activity, created_at, id);
create index time_entries_starts on time_entries (company_id, starts_at);

create table timesheets (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  team_member_id uuid not null,
  status text not null,
  period_start date not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
) with (fillfactor = 90);
create index timesheets_order on timesheets (company_id, created_at, id, updated_at, period_start);
create index timesheets_updated on timesheets (company_id, updated_at);
create index timesheets_team_member on timesheets (company_id, team_member_id, created_at, id);
create index timesheets_status on timesheets (company_id, status, created_at, id);
create index timesheets_period on timesheets (company_id, period_start);

-- Documents are never compared: their statistics would only make ANALYZE slower and the catalogue larger.
do $$
declare
  name text;
begin
  for name in select table_name from information_schema.columns where table_schema = current_schema() and column_name = 'document' loop
    execute format('alter table %I alter document set statistics 0, alter derived set statistics 0', name);
  end loop;
end $$;
