-- The tables of the usual service: a table for each kind of child, names where their owners are, and the indexes that
-- the same filters need. Only what invoices are read from is here.
create schema baseline;
set local search_path to baseline;

create table companies (id uuid primary key, time_zone text not null);

create table accounts (company_id uuid, id uuid, name text not null, primary key (company_id, id));
create table business_units (company_id uuid, id uuid, name text not null, primary key (company_id, id));
create table job_types (company_id uuid, id uuid, name text not null, primary key (company_id, id));
create table team_members (company_id uuid, id uuid, name text not null, primary key (company_id, id));

create table invoices (
  company_id uuid not null,
  id uuid not null,
  number text not null,
  status text not null,
  account_id uuid not null,
  job_id uuid,
  location_id uuid,
  maintenance_plan_id uuid,
  business_unit_id uuid,
  job_type_id uuid,
  created_by_id uuid,
  job_class text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  issued_at timestamptz,
  due_at timestamptz,
  currency text not null,
  pricing_multiplier double precision not null,
  tax_name text not null,
  tax_rate double precision not null,
  tax_rounding text not null,
  subtotal_cents bigint not null,
  discount_cents bigint not null,
  tax_cents bigint not null,
  primary key (company_id, id)
);
create index on invoices (company_id, created_at, id);
create index on invoices (company_id, updated_at);
create index on invoices (company_id, status, created_at, id);
create index on invoices (company_id, account_id, created_at, id);
create index on invoices (company_id, location_id, created_at, id) where location_id is not null;
create index on invoices (company_id, job_id, created_at, id) where job_id is not null;
create index on invoices (company_id, business_unit_id, created_at, id) where business_unit_id is not null;
create index on invoices (company_id, job_type_id, created_at, id) where job_type_id is not null;
create index on invoices (company_id, job_class, created_at, id) where job_class is not null;
create index on invoices (company_id, issued_at) where issued_at is not null;

create table line_items (
  company_id uuid not null,
  invoice_id uuid not null,
  position integer not null,
  id uuid not null,
  name text not null,
  description text not null,
  quantity double precision not null,
  unit_price_cents bigint not null,
  subtotal_cents bigint not null,
  taxable boolean not null,
  discountable boolean not null,
  primary key (company_id, invoice_id, position, id)
);

create table discounts (
  company_id uuid not null,
  invoice_id uuid not null,
  position integer not null,
  id uuid not null,
  name text not null,
  type text not null,
  amount_cents bigint,
  rate double precision,
  primary key (company_id, invoice_id, position, id)
);

create table payments (
  company_id uuid not null,
  id uuid not null,
  number text,
  account_id uuid not null,
  status text,
  method text not null,
  amount_cents bigint not null,
  currency text not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  collected_by_id uuid,
  primary key (company_id, id)
);
create index on payments (company_id, created_at, id);
create index on payments (company_id, updated_at) where updated_at is not null;
create index on payments (company_id, status, created_at, id) where status is not null;
create index on payments (company_id, method, created_at, id);
create index on payments (company_id, account_id, created_at, id);
create index on payments (company_id, collected_by_id, created_at, id) where collected_by_id is not null;
create index on payments (company_id, occurred_at);

create table payment_applications (
  company_id uuid not null,
  invoice_id uuid not null,
  payment_id uuid not null,
  applied_cents bigint not null,
  primary key (company_id, invoice_id, payment_id)
);
create index on payment_applications (company_id, payment_id);
