-- What lists find by search, phone and email (docs/adr/0020), and by number.
alter table estimates add column search text;
alter table invoices add column search text;
alter table payments add column search text;
alter table estimates add column number text;
alter table invoices add column number text;
alter table payments add column number text;
create table estimate_entries (
  company_id uuid not null,
  value text collate "C" not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create table invoice_entries (
  company_id uuid not null,
  value text collate "C" not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create table payment_entries (
  company_id uuid not null,
  value text collate "C" not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
