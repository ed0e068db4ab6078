-- Job financials and revenue attributions, and the copies of other services' records that they are reckoned from.

-- Copies, fed by Kafka and rebuilt from it (`truckroll rebuild reporting`).
create table companies (
  company_id uuid primary key,
  time_zone text not null,
  costing_enabled boolean not null,
  verified_only boolean not null,
  copied_at timestamptz not null default now()
);

create table jobs (
  company_id uuid not null,
  id uuid not null,
  document bytea not null,
  digest text not null, -- of all but names, to hold against the owner's
  copied_at timestamptz not null default now(), -- a rebuild removes what it did not find again
  primary key (company_id, id)
);

create table assignments (
  company_id uuid not null,
  id uuid not null,
  job_id uuid not null,
  team_member_id uuid not null,
  team_member_name text not null, -- stands in until the owner's name arrives
  copied_at timestamptz not null default now(),
  primary key (company_id, id)
);
create index assignments_job on assignments (company_id, job_id);

create table invoices (
  company_id uuid not null,
  id uuid not null,
  job_id uuid,
  number text not null,
  status text not null,
  issued_at timestamptz,
  created_at timestamptz not null,
  account_id uuid not null,
  business_unit_id uuid,
  job_type_id uuid,
  job_class text,
  subtotal_cents bigint not null,
  discount_cents bigint not null,
  tax_cents bigint not null,
  copied_at timestamptz not null default now(),
  primary key (company_id, id)
);
create index invoices_job on invoices (company_id, job_id) where job_id is not null;
create index invoices_issued on invoices (company_id, issued_at) where issued_at is not null;

-- Records, derived from the copies above.
create table job_financials (
  company_id uuid not null,
  id uuid not null, -- of the job
  created_at timestamptz not null,
  job_class text,
  business_unit_id uuid,
  job_type_id uuid,
  report_date date not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index job_financials_created on job_financials (company_id, created_at);
create index job_financials_job_class on job_financials (company_id, job_class, id) where job_class is not null;
create index job_financials_business_unit on job_financials (company_id, business_unit_id, id) where business_unit_id is not null;
create index job_financials_job_type on job_financials (company_id, job_type_id, id) where job_type_id is not null;
create index job_financials_report_date on job_financials (company_id, report_date);

create table revenue_attributions (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  team_member_id uuid not null,
  job_id uuid not null,
  invoice_id uuid,
  credit_type text not null,
  attributed_on date not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index revenue_attributions_created on revenue_attributions (company_id, created_at);
create index revenue_attributions_updated on revenue_attributions (company_id, updated_at);
create index revenue_attributions_team_member on revenue_attributions (company_id, team_member_id, id);
create index revenue_attributions_job on revenue_attributions (company_id, job_id, id);
create index revenue_attributions_invoice on revenue_attributions (company_id, invoice_id, id) where invoice_id is not null;
create index revenue_attributions_credit_type on revenue_attributions (company_id, credit_type, id);
create index revenue_attributions_attributed on revenue_attributions (company_id, attributed_on);
