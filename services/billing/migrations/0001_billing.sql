-- Invoices, payments, refunds and estimates. A row is a record: `document` holds what was recorded, `derived` what
-- follows from other records, and the columns what filters, order and rules look at (docs/adr/0001).
-- Every index begins with the company and ends in the list's order, so that a filtered page is one short walk.

create table invoices (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  status text not null,
  account_id uuid not null,
  location_id uuid,
  job_id uuid,
  business_unit_id uuid,
  job_type_id uuid,
  job_class text,
  issued_at timestamptz,
  due_at timestamptz,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index invoices_order on invoices (company_id, created_at, id);
create index invoices_updated on invoices (company_id, updated_at);
create index invoices_status on invoices (company_id, status, created_at, id);
create index invoices_account on invoices (company_id, account_id, created_at, id);
create index invoices_location on invoices (company_id, location_id, created_at, id) where location_id is not null;
create index invoices_job on invoices (company_id, job_id, created_at, id) where job_id is not null;
create index invoices_business_unit on invoices (company_id, business_unit_id, created_at, id) where business_unit_id is not null;
create index invoices_job_type on invoices (company_id, job_type_id, created_at, id) where job_type_id is not null;
create index invoices_job_class on invoices (company_id, job_class, created_at, id) where job_class is not null;
create index invoices_issued on invoices (company_id, issued_at) where issued_at is not null;

create table payments (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  status text,
  method text not null,
  account_id uuid not null,
  collected_by_id uuid,
  occurred_at timestamptz not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index payments_order on payments (company_id, created_at, id);
create index payments_updated on payments (company_id, updated_at) where updated_at is not null;
create index payments_status on payments (company_id, status, created_at, id) where status is not null;
create index payments_method on payments (company_id, method, created_at, id);
create index payments_account on payments (company_id, account_id, created_at, id);
create index payments_collected_by on payments (company_id, collected_by_id, created_at, id) where collected_by_id is not null;
create index payments_occurred on payments (company_id, occurred_at);

-- A payment's part in an invoice: the filter payments?invoice_id, and what an invoice's applications are read from.
create table payment_allocations (
  company_id uuid not null,
  value uuid not null, -- the invoice
  created_at timestamptz not null, -- of the payment, with id its place in the list
  id uuid not null, -- the payment
  applied_cents bigint not null,
  primary key (company_id, value, created_at, id)
);
create index payment_allocations_payment on payment_allocations (company_id, id);

create table refunds (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  status text not null,
  payment_id uuid not null,
  account_id uuid not null,
  payment_method text not null,
  occurred_at timestamptz not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index refunds_order on refunds (company_id, created_at, id);
create index refunds_status on refunds (company_id, status, created_at, id);
create index refunds_payment on refunds (company_id, payment_id, created_at, id);
create index refunds_account on refunds (company_id, account_id, created_at, id);
create index refunds_payment_method on refunds (company_id, payment_method, created_at, id);
create index refunds_occurred on refunds (company_id, occurred_at);

create table estimates (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  status text not null,
  account_id uuid not null,
  location_id uuid not null,
  job_id uuid,
  sold_by_id uuid,
  sold_at timestamptz,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index estimates_order on estimates (company_id, created_at, id);
create index estimates_updated on estimates (company_id, updated_at);
create index estimates_status on estimates (company_id, status, created_at, id);
create index estimates_account on estimates (company_id, account_id, created_at, id);
create index estimates_location on estimates (company_id, location_id, created_at, id);
create index estimates_job on estimates (company_id, job_id, created_at, id) where job_id is not null;
create index estimates_sold_by on estimates (company_id, sold_by_id, created_at, id) where sold_by_id is not null;
create index estimates_sold on estimates (company_id, sold_at) where sold_at is not null;
